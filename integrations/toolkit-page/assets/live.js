// The calls as bars in time, and one call in full.

import { announce, clock, debounced, duration, el, fill } from "./dom.js";
import { follow, get } from "./server.js";
import { WORDS, bar, callPanel, lasted, legend } from "./call.js";

const STATES = [
  ["", "All calls"], ["open", "Not ended"], ["waiting", "Waiting"], ["approval", "Awaiting approval"],
  ["running", "Running"], ["failed", "Failed"], ["result", "Succeeded"],
];
const ORDERS = [["", "Latest first"], ["waited", "Longest wait first"], ["ran", "Longest run first"]];
const STEP = 100;

export function showLive(view, detail, connected) {
  const query = { tool: "", state: "", order: "", limit: STEP };
  let rows = new Map();
  let selected = detail;
  let stop = null;
  let isLoading = false;
  let hasLeft = false;
  let questions = 0;
  let panel = null;
  let total = { kept: 0, dropped: 0, running: 0 };
  let matching = 0;

  const search = el("input", { type: "search", id: "tool-filter", autocomplete: "off", spellcheck: "false",
    oninput: debounced(() => { query.tool = search.value.trim(); query.limit = STEP; load(); }) });
  const pick = (id, options, key) => el("select", { id, onchange: (event) => {
    query[key] = event.target.value;
    query.limit = STEP;
    load();
  } }, options.map(([value, text]) => el("option", { value }, text)));
  const summary = el("p", { class: "quiet summary" });
  const body = el("tbody");
  const more = el("button", { type: "button", hidden: true, onclick: () => { query.limit = Math.min(query.limit + STEP, 500); load(); } });
  const empty = el("p", { class: "quiet empty", hidden: true });
  const side = el("aside", { class: "side", "aria-label": "Call", hidden: true });
  const table = el("table", { class: "calls" },
    el("caption", { class: "visually-hidden" }, "Calls of the dispatcher"),
    el("thead", {}, el("tr", {},
      el("th", { scope: "col" }, "Call"), el("th", { scope: "col" }, "State"), el("th", { scope: "col", class: "number" }, "Started"),
      el("th", { scope: "col", class: "number" }, "Waited"), el("th", { scope: "col", class: "number" }, "Ran"),
      el("th", { scope: "col", class: "lane" }, "Time"))),
    body);
  fill(view,
    el("div", { class: "split" },
      el("section", { class: "main", "aria-labelledby": "live-title" },
        el("div", { class: "head" }, el("h2", { id: "live-title" }, "Live"), summary),
        el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
          el("label", { for: "tool-filter" }, "Tool", search),
          el("label", { for: "state-filter" }, "State", pick("state-filter", STATES, "state")),
          el("label", { for: "order" }, "Order", pick("order", ORDERS, "order"))),
        legend(), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of calls" }, table), empty, more),
      side));

  async function load() {
    questions += 1;
    const question = questions;
    try {
      const answer = await get(`/calls?${new URLSearchParams(query)}`);
      // The answer to an earlier question may come later.
      if (hasLeft || question !== questions) return;
      rows = new Map(answer.rows.map((row) => [row.number, row]));
      ({ totals: total, matching } = answer);
      draw();
      stop = stop || follow(answer.change, changed, connected);
    } catch (error) {
      fill(body);
      empty.hidden = false;
      fill(empty, error.message);
    }
  }

  /** Loads again soon, and once for many changes. */
  function reload() {
    if (isLoading) return;
    isLoading = true;
    setTimeout(() => load().finally(() => { isLoading = false; }), 500);
  }

  /** Takes the rows that changed. In another order than the latest, the server sorts again. */
  function changed({ rows: news, totals }) {
    total = totals;
    if (panel && news.some((row) => String(row.number) === selected)) panel.refresh();
    if (query.order || query.state || query.tool) {
      reload();
      return;
    }
    for (const row of news) {
      if (!rows.has(row.number)) matching += 1;
      rows.set(row.number, row);
    }
    const kept = [...rows.keys()].sort((a, b) => b - a).slice(0, query.limit);
    rows = new Map(kept.map((number) => [number, rows.get(number)]));
    draw();
  }

  function draw() {
    const shown = [...rows.values()];
    const from = Math.min(...shown.map((row) => row.started_ms));
    const now = Math.max(...shown.map((row) => row.started_ms + lasted(row)));
    const focused = document.activeElement?.dataset?.call;
    const known = new Map([...body.children].map((line) => [line.dataset.row, line]));
    const lines = shown.map((row) => {
      const state = JSON.stringify([row, from, now, String(row.number) === selected]);
      const line = known.get(String(row.number));
      if (line?.dataset.drawn === state) return line;
      return drawRow(row, from, Math.max(now - from, 1), state);
    });
    body.replaceChildren(...lines);
    if (focused) body.querySelector(`[data-call="${focused}"]`)?.focus();
    const ended = total.dropped ? `, ${total.dropped.toLocaleString("en")} older ones dropped` : "";
    fill(summary, `${total.running.toLocaleString("en")} running, ${total.kept.toLocaleString("en")} kept${ended}`);
    empty.hidden = shown.length > 0;
    const isFiltered = query.tool || query.state;
    fill(empty, isFiltered ? "No call matches." : "No call yet. Calls of the dispatcher appear here as they are made.");
    table.hidden = shown.length === 0;
    const rest = (isFiltered ? matching : total.kept) - shown.length;
    more.hidden = rest <= 0 || query.limit >= 500;
    fill(more, `Show more (${rest.toLocaleString("en")})`);
  }

  function drawRow(row, from, width, drawn) {
    const isSelected = String(row.number) === selected;
    const state = WORDS[row.state] || row.state;
    const wait = row.state === "waiting" ? ` for ${row.waits_for}` : "";
    const line = el("tr", { "data-row": String(row.number), class: isSelected ? "selected" : null },
      el("th", { scope: "row" }, el("a", { href: `#/live/${row.number}`, "data-call": String(row.number),
        "aria-current": isSelected ? "true" : null }, el("bdi", { class: "name" }, row.tool)), " ", el("bdi", { class: "quiet id" }, row.call_id)),
      el("td", {}, el("span", { class: "state", "data-state": row.state }, state), wait && el("span", { class: "quiet" }, wait),
        row.error && row.state === "error" ? el("span", { class: "quiet" }, ` ${row.error}`) : null),
      el("td", { class: "number" }, clock(row.started_ms)),
      el("td", { class: "number" }, duration(row.waited_ms)),
      el("td", { class: "number" }, duration(row.ran_ms)),
      el("td", { class: "lane" }, bar(row, from, width)));
    line.dataset.drawn = drawn;
    return line;
  }

  function select(number) {
    selected = number;
    side.hidden = !number;
    view.firstChild.classList.toggle("with-side", Boolean(number));
    panel = null;
    if (number) {
      panel = callPanel(side, number, () => { location.hash = "#/live"; });
      announce(`Call ${number}`);
    } else {
      fill(side);
    }
    draw();
  }

  function close(event) {
    if (event.key !== "Escape" || !selected) return;
    const number = selected;
    location.hash = "#/live";
    setTimeout(() => body.querySelector(`[data-call="${number}"]`)?.focus(), 0);
  }

  addEventListener("keydown", close);
  load().then(() => { if (detail) select(detail); });
  const leave = () => { hasLeft = true; stop?.(); connected(null); removeEventListener("keydown", close); };
  leave.select = select;
  return leave;
}
