// Elements of the page. Text goes into text nodes only: nothing that a tool says becomes markup.

/**
 * Makes an element. `options` are properties, listeners (`onclick`), attributes (`aria-label`, `data-x`)
 * and `class`; children are elements or text, and `null` is left out.
 */
export function el(name, options = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key === "text") element.textContent = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

/** Appends children, lists of children, and text. */
export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** Tells readers of the screen what happened. */
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

/** A duration in milliseconds, in three digits. */
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 0.005) return "0 ms";
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(2)} s`;
  return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}

/** A size in bytes. */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1048576) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1048576).toFixed(1)} MiB`;
}

/** The time of day, with milliseconds. */
export function clock(ms) {
  const time = new Date(ms);
  const two = (number) => String(number).padStart(2, "0");
  const millis = String(time.getMilliseconds()).padStart(3, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${millis}`;
}

/** The longest text that is shown at once, in characters. */
const SHOWN = 20000;

/** A block of text or JSON. A long one shows its beginning, and the rest on request. */
export function block(text, label) {
  let pretty = text;
  if (typeof text !== "string") pretty = JSON.stringify(text, null, 2);
  else {
    try {
      const value = JSON.parse(text);
      // Written again only if no digit is lost.
      if (typeof value === "object" && value !== null && JSON.stringify(value) === text) pretty = JSON.stringify(value, null, 2);
    } catch {
      // It is text.
    }
  }
  const pre = el("pre", { tabindex: "0", role: "region", "aria-label": label }, pretty.slice(0, SHOWN));
  if (pretty.length <= SHOWN) return pre;
  const more = el("button", { type: "button", onclick: () => { pre.textContent = pretty; more.remove(); pre.focus(); } },
    `Show all ${pretty.length.toLocaleString("en")} characters`);
  return el("div", {}, pre, more);
}

/** A list of terms with values; empty values are left out. */
export function facts(entries) {
  const list = el("dl", { class: "facts" });
  for (const [term, value] of entries) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    append(list, [el("dt", {}, term), el("dd", {}, value === true ? "yes" : value)]);
  }
  return list;
}

/** Waits until nothing was typed for a moment. */
export function debounced(action, ms = 120) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...args), ms);
  };
}
