// The calls of agents that wait for a decision.

import { announce, block, el, fill } from "./dom.js";
import { get, post, session } from "./server.js";

/** How often the inbox is read, in milliseconds: other processes write it, too. */
const PERIOD = 2000;

export function showApprovals(view) {
  const count = el("p", { class: "quiet summary", role: "status" });
  const list = el("ul", { class: "inbox" });
  const empty = el("p", { class: "quiet empty", hidden: true }, "No call waits for a decision.");
  const fault = el("p", { class: "fault", role: "alert", hidden: true });
  const cards = new Map();
  let timer = 0;
  let hasLeft = false;
  fill(view, el("div", { class: "split" }, el("section", { class: "main", "aria-labelledby": "approvals-title" },
    el("div", { class: "head" }, el("h2", { id: "approvals-title", tabindex: "-1" }, "Approvals"), count), fault, list, empty)));

  async function refresh() {
    clearTimeout(timer);
    try {
      const { calls } = await get("/approvals");
      if (hasLeft) return;
      fault.hidden = true;
      draw(calls);
    } catch (error) {
      fault.hidden = false;
      fault.textContent = error.message;
    }
    if (!hasLeft) timer = setTimeout(refresh, PERIOD);
  }

  /** Adds and removes cards. What is typed into the others stays. */
  function draw(calls) {
    const keys = new Set(calls.map(keyOf));
    for (const [key, shown] of cards) {
      if (keys.has(key)) continue;
      const hadFocus = shown.contains(document.activeElement);
      shown.remove();
      cards.delete(key);
      if (hadFocus) (list.querySelector("h3") || view.querySelector("h2")).focus();
    }
    for (const call of calls) {
      const key = keyOf(call);
      if (cards.has(key)) continue;
      const shown = card(call, refresh);
      cards.set(key, shown);
      list.append(shown);
    }
    empty.hidden = calls.length > 0;
    const text = calls.length === 1 ? "1 call waits" : `${calls.length} calls wait`;
    if (count.textContent !== text) count.textContent = text;
  }

  refresh();
  return () => {
    hasLeft = true;
    clearTimeout(timer);
  };
}

function keyOf(call) {
  return JSON.stringify([call.user, call.conversation, call.call, call.since]);
}

let cardsMade = 0;

function card(call, decided) {
  cardsMade += 1;
  const id = `approval-${cardsMade}`;
  const why = { approval: call.reason.reason, question: call.reason.question }[call.reason.type];
  const about = el("p", { class: "quiet" }, "Agent ", el("bdi", {}, call.agent), " for ", el("bdi", {}, call.user), ", conversation ",
    el("bdi", {}, call.title || call.conversation), `, since ${new Date(call.since * 1000).toLocaleTimeString("en-GB")}`);
  const item = el("li", { "aria-labelledby": id },
    el("h3", { id, tabindex: "-1" }, el("bdi", {}, call.tool)), about,
    why ? el("p", { class: "note" }, el("bdi", {}, why)) : null);
  if (!session.may_decide) {
    item.append(call.arguments === null ? el("p", { class: "quiet" }, "You may not decide calls.") : block(call.arguments, "Arguments"));
    return item;
  }
  const message = el("p", { class: "fault", role: "alert", id: `${id}-fault`, hidden: true });
  const buttons = [];
  const send = async (decision, words) => {
    for (const button of buttons) button.disabled = true;
    message.hidden = true;
    try {
      await post("/approvals/decide", { user: call.user, conversation: call.conversation, call: call.call, decision });
      announce(`${call.tool}: ${words}`);
      await decided();
    } catch (error) {
      complain(error.message);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  };
  const complain = (text) => {
    message.hidden = false;
    message.textContent = text;
  };
  const make = (label, action, kind) => {
    const button = el("button", { type: "button", class: kind, onclick: action, "aria-describedby": id }, label);
    buttons.push(button);
    return button;
  };
  item.append(...(call.reason.type === "approval" ? toApprove(call, id, send, complain, make) : toAnswer(call, id, send, complain, make)), message);
  return item;
}

function toApprove(call, id, send, complain, make) {
  const original = pretty(call.arguments);
  const editor = el("textarea", { id: `${id}-arguments`, class: "code", rows: String(Math.min(original.split("\n").length + 1, 12)), spellcheck: "false", "aria-describedby": `${id}-fault` });
  editor.value = original;
  const reason = el("input", { type: "text", id: `${id}-reason`, autocomplete: "off" });
  const approve = () => {
    if (editor.value === original) {
      send("approve", "approved");
      return;
    }
    try {
      send({ change: JSON.parse(editor.value) }, "approved with other arguments");
    } catch (error) {
      complain(`The arguments are no JSON: ${error.message}`);
      editor.focus();
    }
  };
  const deny = () => {
    if (reason.value.trim()) {
      send({ deny: reason.value.trim() }, "denied");
      return;
    }
    complain("Say why: the model reads the reason.");
    reason.focus();
  };
  return [
    el("label", { for: editor.id, class: "field" }, "Arguments, which you may change", editor),
    el("div", { class: "buttons" }, make("Approve", approve, "main-action"),
      make("Approve for the conversation", () => send("approve_for_session", "approved for the conversation"))),
    el("div", { class: "deny" }, el("label", { for: reason.id, class: "field" }, "Reason to deny, which the model reads", reason), make("Deny", deny)),
  ];
}

/** A question of a tool, or work elsewhere: its answer is the result. */
function toAnswer(call, id, send, complain, make) {
  const answer = el("textarea", { id: `${id}-answer`, rows: "3" });
  const given = (action) => () => {
    if (answer.value.trim()) {
      action(answer.value.trim());
      return;
    }
    complain("Write the answer, or why it failed.");
    answer.focus();
  };
  return [
    block(call.arguments, "Arguments"),
    el("label", { for: answer.id, class: "field" }, "Result of the call", answer),
    el("div", { class: "buttons" }, make("Answer", given((text) => send({ answer: text }, "answered")), "main-action"),
      make("It has failed", given((text) => send({ fail: text }, "failed")))),
  ];
}

function pretty(text) {
  try {
    const value = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
