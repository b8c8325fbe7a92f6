// One call in full: why it waited, what a rule saw, its arguments, its attempts.

import { block, clock, duration, el, facts, fill, size } from "./dom.js";
import { get, session } from "./server.js";

export const WORDS = {
  queued: "queued", waiting: "waiting", approval: "awaiting approval", running: "running", pausing: "pause before retry",
  result: "succeeded", error: "failed", denied: "denied", timeout: "timed out", cancelled: "cancelled", pending: "pending",
};

/** Shows a call in `side`, and again when it changes. */
export function callPanel(side, number, close) {
  async function refresh() {
    let call;
    try {
      call = await get(`/calls/${number}`);
    } catch (error) {
      fill(side, el("p", { class: "fault", role: "alert" }, error.message));
      return;
    }
    const opened = [...side.querySelectorAll("details[open]")].map((part) => part.dataset.part);
    const hasFocus = side.contains(document.activeElement);
    fill(side, ...parts(call, close));
    for (const part of side.querySelectorAll("details")) if (opened.includes(part.dataset.part)) part.open = true;
    if (hasFocus) side.querySelector("h2").focus();
  }
  refresh().then(() => side.querySelector("h2")?.focus());
  return { refresh };
}

function parts(call, close) {
  const waits = story(call.events);
  const last = call.events[call.events.length - 1] || {};
  return [
    el("div", { class: "head" },
      el("h2", { tabindex: "-1" }, el("bdi", {}, call.tool)),
      el("button", { type: "button", class: "plain", onclick: close, "aria-label": "Close this call" }, "Close")),
    facts([
      ["State", el("span", { class: "state", "data-state": call.state }, WORDS[call.state] || call.state)],
      ["Call", el("bdi", { class: "id" }, call.call_id)],
      ["Agent", call.agent && el("bdi", {}, call.agent)],
      ["Batch", `${call.batch}, position ${call.position}`],
      ["Run", call.invocation_id && el("bdi", { class: "id" }, call.invocation_id)],
      ["Started", clock(call.started_ms)],
      ["Waited", duration(call.waited_ms)],
      ["Ran", call.attempts > 1 ? `${duration(call.ran_ms)} in ${call.attempts} attempts` : duration(call.ran_ms)],
      ["Whole time", call.total_ms === undefined ? null : duration(call.total_ms)],
      ["Arguments", size(call.arguments_bytes)],
      ["Result", call.output_bytes === undefined ? null : size(call.output_bytes)],
      ["Reason of the model", call.call_reason && el("bdi", {}, call.call_reason)],
    ]),
    bar(call, call.started_ms, Math.max(lasted(call), 0.001)),
    legend(),
    el("h3", {}, "What happened"),
    el("ol", { class: "story" }, waits.map(([at, text, note]) => el("li", {},
      el("span", { class: "quiet number" }, `+${duration(Math.max(at - call.started_ms, 0))}`), el("span", {}, text, note && el("span", { class: "quiet" }, note))))),
    call.omitted ? el("p", { class: "quiet" }, `${call.omitted} more events were not kept.`) : null,
    contents(call, last),
  ];
}

/** The events of a call in words: the time, what happened, and a note. */
function story(events) {
  const lines = [];
  for (const event of events) {
    const text = told(event);
    if (text) lines.push([event.timestamp_ms, ...text]);
  }
  return lines;
}

function told(event) {
  switch (event.type) {
    case "tool.call": return ["Queued"];
    case "tool.waiting": return [`Waited for ${resource(event)}`];
    case "tool.admitted": return [`Admitted after ${duration(event.waited_ms)}`, ` · ${resource(event)}`];
    case "tool.rule": return [ruled(event), event.reason && ` · ${event.reason}`];
    case "tool.approval_requested": return ["Asked for approval", event.reason && ` · ${event.reason}`];
    case "tool.approval_decided": return [`${event.approved ? "Approved" : "Refused"} after ${duration(event.waited_ms)}`];
    case "tool.start": return [`Attempt ${event.attempt} started`];
    case "tool.progress": return [`Progress ${Math.round(event.fraction * 100)} %`, event.message && ` · ${event.message}`];
    case "tool.retry": return [`Attempt ${event.attempt} failed`, ` · ${event.message || event.error}; the next follows in ${duration(event.pause_ms)}`];
    default: return [`Ended: ${WORDS[event.type.replace("tool.", "")] || event.type}`, event.error && ` · ${event.error}`];
  }
}

export function resource(event) {
  switch (event.resource) {
    case "lane": return event.value === undefined ? `another call in its lane \`${event.parameter}\`` : `another call in its lane \`${event.parameter}\` = \`${event.value}\``;
    case "exclusive": return "another call of the tool, which runs alone";
    case "tool": return `a permit of the tool, which runs ${event.limit} calls at once`;
    case "dispatcher": return `a permit of the dispatcher, which runs ${event.limit} calls at once`;
    default: return "a resource";
  }
}

function ruled(event) {
  const effect = { allow: "Allowed", deny: "Denied", ask: "Asked" }[event.effect] || event.effect;
  return event.rule === undefined ? `${effect}: ${event.description}` : `${effect} by rule ${event.rule + 1}: ${event.description}`;
}

function contents(call, last) {
  if (!session.contents) {
    return el("p", { class: "quiet" }, "Arguments and results are hidden. The program shows them with ", el("code", {}, "with_contents(true)"), ".");
  }
  const sent = call.events.find((event) => event.arguments !== undefined)?.arguments;
  const normal = call.events.filter((event) => event.normal_arguments !== undefined).pop()?.normal_arguments;
  const rule = call.events.find((event) => event.type === "tool.rule" && event.normal_arguments !== undefined)?.normal_arguments;
  return el("div", {},
    part("Arguments as sent", sent, true),
    normal === undefined || normal === sent ? el("p", { class: "quiet" }, "The normal form is the same.") : part("Arguments in normal form", normal, true),
    rule !== undefined && rule !== normal ? part("Arguments that the first rule saw", rule, true) : null,
    part("Result", last.output, true),
    last.error ? part("Error, as the model reads it", last.message || last.error, true) : null);
}

function part(title, text, isOpen) {
  if (text === undefined || text === null) return null;
  return el("details", { open: isOpen, "data-part": title }, el("summary", {}, title), block(text, title));
}

export function lasted(row) {
  return row.total_ms ?? Math.max(row.waited_ms + row.ran_ms, ...row.spans.map(([, from, to]) => to ?? from));
}

/** The time of a call as a bar of spans. Its words are in the cells before it. */
export function bar(row, from, width) {
  const lane = el("div", { class: "track", "aria-hidden": "true" });
  const offset = row.started_ms - from;
  const end = lasted(row);
  const whole = el("span", { class: "whole" });
  place(whole, offset, end, width);
  lane.append(whole);
  for (const [kind, start, to] of row.spans) {
    const span = el("span", { class: "span", "data-kind": kind });
    place(span, offset + start, Math.max((to ?? end) - start, 0), width);
    lane.append(span);
  }
  return lane;
}

function place(span, offset, length, width) {
  span.style.left = `${((offset / width) * 100).toFixed(3)}%`;
  span.style.width = `${((length / width) * 100).toFixed(3)}%`;
}

export function legend() {
  const entries = [["waiting", "waits for other calls"], ["approval", "awaits approval"], ["running", "runs"], ["pausing", "pause before a retry"]];
  return el("ul", { class: "legend", "aria-label": "Colours of the bars" },
    entries.map(([kind, text]) => el("li", {}, el("span", { class: "key", "data-kind": kind, "aria-hidden": "true" }), text)));
}
