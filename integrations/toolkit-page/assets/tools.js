// The tools: a list with search, and one tool with its documentation, its form, and what each API gets.

import { announce, append, block, debounced, duration, el, facts, fill } from "./dom.js";
import { get, post, session } from "./server.js";
import { argumentForm, written } from "./form.js";

/** Images that are shown: kinds without scripts. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** How many tools are listed at once. */
const STEP = 200;

export function showTools(view, detail) {
  let tools = [];
  let selected = detail;
  let limit = STEP;
  const search = el("input", { type: "search", id: "tool-search", autocomplete: "off", spellcheck: "false",
    oninput: debounced(() => { limit = STEP; draw(); }) });
  const count = el("p", { class: "quiet summary", role: "status" });
  const list = el("div", { class: "tools" });
  const more = el("button", { type: "button", hidden: true, onclick: () => { limit += STEP; draw(); } });
  const side = el("section", { class: "tool", "aria-label": "Tool" });
  fill(view, el("div", { class: "split tools-view" },
    el("section", { class: "list", "aria-labelledby": "tools-title" },
      el("div", { class: "head" }, el("h2", { id: "tools-title" }, "Tools"), count),
      el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
        el("label", { for: "tool-search" }, "Search", search)),
      list, more),
    side));

  async function load() {
    try {
      ({ tools } = await get("/tools"));
      draw();
    } catch (error) {
      fill(list, el("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  function draw() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = tools.filter((tool) => words.every((word) => `${tool.name} ${tool.summary}`.toLowerCase().includes(word)));
    const groups = new Map();
    for (const tool of found.slice(0, limit)) {
      const group = tool.namespace || "";
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(tool);
    }
    fill(list, [...groups].map(([group, members]) => [
      el("h3", {}, group ? el("bdi", {}, group) : "Without a namespace"),
      el("ul", {}, members.map(entry)),
    ]));
    const tokens = found.reduce((sum, tool) => sum + tool.tokens, 0);
    fill(count, `${found.length.toLocaleString("en")} tools, about ${tokens.toLocaleString("en")} tokens`);
    more.hidden = found.length <= limit;
    fill(more, `Show more (${(found.length - limit).toLocaleString("en")})`);
  }

  function entry(tool) {
    return el("li", {},
      el("a", { href: `#/tools/${encodeURIComponent(tool.name)}`, "aria-current": tool.name === selected ? "true" : null },
        el("bdi", { class: "name" }, tool.name), tool.disabled !== null ? el("span", { class: "badge" }, "disabled") : null),
      el("p", { class: "quiet" }, tool.summary));
  }

  async function select(name) {
    selected = name;
    for (const link of list.querySelectorAll("a")) {
      if (link.hash === `#/tools/${encodeURIComponent(name)}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    view.firstChild.classList.toggle("with-side", Boolean(name));
    if (!name) {
      fill(side, el("p", { class: "quiet empty" }, "Choose a tool to read what models get of it, and to try it."));
      return;
    }
    try {
      const tool = await get(`/tools/${encodeURIComponent(name)}`);
      if (selected !== name) return;
      fill(side, ...parts(tool, () => { load(); select(name); }));
      side.querySelector("h2").focus();
    } catch (error) {
      fill(side, el("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  load();
  select(detail);
  const leave = () => {};
  leave.select = select;
  return leave;
}

function parts(tool, changed) {
  const title = el("h2", { tabindex: "-1" }, el("bdi", {}, tool.name));
  const back = el("a", { class: "back", href: "#/tools" }, "All tools");
  return [
    el("div", { class: "head" }, title, back),
    tool.disabled !== null ? el("p", { class: "note" }, "Disabled: ", el("bdi", {}, tool.disabled || "without a reason")) : null,
    el("p", { class: "description" }, tool.description),
    tryForm(tool),
    el("h3", {}, "What APIs get"),
    apis(tool),
    el("h3", {}, "Settings"),
    facts([["Source", tool.source], ["From", tool.source_details], ["Read-only", words(tool.read_only)],
      ...Object.entries(tool.facts).map(([term, value]) => [term[0].toUpperCase() + term.slice(1), typeof value === "boolean" ? words(value) : value || null])]),
    state(tool, changed),
    el("details", {}, el("summary", {}, "Schema of the parameters"), block(tool.parameters, "Schema of the parameters")),
  ];
}

function words(flag) {
  if (flag === null || flag === undefined) return null;
  return flag ? "yes" : "no";
}

/** A table of the APIs, and the JSON of the one that is chosen. */
function apis(tool) {
  const shown = el("div", { class: "api" });
  function choose(at) {
    const api = tool.apis[at];
    fill(shown,
      api.losses.length || api.limits.length || api.not_strict.length
        ? el("ul", { class: "losses" },
          api.limits.map((text) => el("li", {}, "Limit: ", text)),
          api.losses.map((loss) => el("li", {}, el("code", {}, loss.path), " ", el("code", {}, loss.keyword), ": ", loss.reason)),
          api.not_strict.map((text) => el("li", {}, "Not strict: ", text)))
        : el("p", { class: "quiet" }, "Nothing is lost."),
      block(api.json, `JSON of ${api.name}`));
  }
  const select = el("select", { id: "api", onchange: () => choose(Number(select.value)) },
    tool.apis.map((api, at) => el("option", { value: String(at) },
      `${api.name}: ${api.tokens} tokens, ${count(api.losses.length + api.limits.length, "loss", "losses")}`)));
  if (tool.apis.length) choose(0);
  return el("div", {}, el("label", { for: "api", class: "field" }, "API", select), shown);
}

function count(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

function state(tool, changed) {
  if (!session.may_decide || !session.is_live) return null;
  const message = el("p", { class: "fault", role: "alert", hidden: true });
  const reason = el("input", { type: "text", id: "reason", autocomplete: "off" });
  const isDisabled = tool.disabled !== null;
  return el("form", { class: "state-form", onsubmit: async (event) => {
    event.preventDefault();
    try {
      await post(`/tools/${encodeURIComponent(tool.name)}/state`, { enabled: isDisabled, reason: reason.value });
      announce(isDisabled ? "Enabled" : "Disabled");
      changed();
    } catch (error) {
      message.hidden = false;
      message.textContent = error.message;
    }
  } },
  isDisabled ? null : el("label", { for: "reason", class: "field" }, "Reason, which the model reads", reason),
  el("button", { type: "submit" }, isDisabled ? "Enable this tool" : "Disable this tool"), message);
}

/** The form to try a tool: fields or JSON, check, run and stop. */
function tryForm(tool) {
  if (!session.may_call) return el("p", { class: "quiet" }, "You may read, and not call tools.");
  if (tool.disabled !== null) return null;
  const form = argumentForm(tool.parameters, "argument");
  const editor = el("textarea", { id: "arguments-json", rows: "8", class: "code", spellcheck: "false" });
  const json = el("div", { class: "field", hidden: true }, el("label", { for: "arguments-json" }, "Arguments as JSON"), editor);
  const answer = el("div", { class: "answer", role: "status" });
  const faults = el("div", { role: "alert" });
  let controller = null;
  const asText = () => (json.hidden ? written(form.read()) : editor.value);
  const toggle = el("button", { type: "button", class: "plain", "aria-pressed": "false", onclick: () => {
    const toJson = json.hidden;
    if (toJson) editor.value = pretty(written(form.read()));
    json.hidden = !toJson;
    form.element.hidden = toJson;
    toggle.setAttribute("aria-pressed", String(toJson));
    if (toJson) editor.focus();
  } }, "Edit as JSON");
  const run = el("button", { type: "submit", class: "main-action" }, "Run");
  const stop = el("button", { type: "button", hidden: true, onclick: () => controller?.abort() }, "Stop");

  function refused(error) {
    const { rest, first } = form.mark(json.hidden ? error.violations : []);
    const others = json.hidden ? rest : error.violations.map(({ path, message }) => (path ? `${path}: ${message}` : message));
    fill(faults, el("details", { open: true }, el("summary", {}, "What a model would read"), block(error.message, "Message for the model")),
      others.length ? el("ul", { class: "fault" }, others.map((text) => el("li", {}, text))) : null);
    if (first) first();
  }

  async function send(event) {
    event.preventDefault();
    const id = `page-${crypto.randomUUID().slice(0, 8)}`;
    const body = { id, arguments: asText() };
    const path = `/tools/${encodeURIComponent(tool.name)}`;
    form.mark([]);
    fill(faults);
    controller = new AbortController();
    stop.hidden = false;
    run.disabled = true;
    fill(answer, el("p", { class: "quiet" }, "Running …"));
    try {
      const checked = await post(`${path}/check`, body, controller.signal);
      if (!checked.valid) {
        fill(answer);
        refused(checked.error);
        return;
      }
      const result = await post(`${path}/call`, body, controller.signal);
      fill(answer, ...results(result, id));
      announce(result.error ? "The call failed" : "The call succeeded");
    } catch (error) {
      fill(answer, el("p", { class: "fault" }, error.name === "AbortError" ? "Stopped." : error.message));
    } finally {
      controller = null;
      stop.hidden = true;
      run.disabled = false;
    }
  }

  return el("form", { class: "try", "aria-labelledby": "try-title", onsubmit: send, novalidate: true },
    el("div", { class: "head" }, el("h3", { id: "try-title" }, "Try it"), toggle),
    form.element, json, faults,
    el("div", { class: "buttons" }, run, stop), answer);
}

function pretty(text) {
  try {
    const value = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

function results(result, id) {
  const ran = el("p", { class: "quiet" }, `Ran ${duration(result.ran_ms)} as call `, el("bdi", { class: "id" }, id), ". ",
    el("a", { href: "#/live" }, "See it in Live"));
  if (result.error) return [ran, el("p", { class: "fault" }, result.error.kind), block(result.error.message, "Error, as the model reads it")];
  const parts = (result.output?.content || []).map(content).filter(Boolean);
  return [ran, parts.length ? parts : block(result.text, "Result")];
}

/** One piece of a result. Pictures are shown if their kind has no scripts; anything else is text. */
function content(piece) {
  if (piece.type === "text") return block(piece.text, "Result");
  if (piece.type === "json") return block(piece.json, "Result");
  if (piece.type === "image" && PICTURES.includes(piece.media_type) && piece.base64) {
    return el("img", { src: `data:${piece.media_type};base64,${piece.base64}`, alt: piece.name || "Image of the result" });
  }
  if (piece.type === "audio" && piece.base64 && /^audio\/[a-z0-9.+-]+$/.test(piece.media_type)) {
    return el("audio", { controls: true, src: `data:${piece.media_type};base64,${piece.base64}` });
  }
  const about = [piece.media_type, piece.name, piece.url || piece.uri].filter(Boolean).join(" · ");
  return append(el("p", { class: "quiet" }), [`${piece.type}: ${about}`, piece.base64 ? `, ${piece.base64.length} characters of Base64` : ""]);
}
