// A form for the arguments of a tool, from its schema: scalars, choices, dates, lists and nested objects.
// Whatever else a schema says is written as JSON.

import { append, el } from "./dom.js";

/** How deep objects and lists become fields. */
const DEEPEST = 5;

/** Makes the fields of a schema. Returns the element, `read()` and `mark(violations)`. */
export function argumentForm(schema, prefix) {
  const fields = new Map();
  const context = { root: schema, fields, prefix, count: 0 };
  const whole = objectField(context, schema, "", 0);
  return {
    element: whole.element,
    read: whole.read,
    /** Shows each violation at its field. Returns those without a field, and the first field. */
    mark(violations) {
      for (const field of fields.values()) field.mark("");
      const rest = [];
      let first = null;
      for (const { path, message } of violations) {
        const field = nearest(fields, path);
        if (!field) {
          rest.push(path ? `${path}: ${message}` : message);
          continue;
        }
        field.mark(message);
        first = first || field.focus;
      }
      return { rest, first };
    },
  };
}

/** The field of a path, or of the object around it. */
function nearest(fields, path) {
  for (let at = path; at; at = at.replace(/(\.[^.[]*|\[\d+\]|^[^.[]*)$/, "")) {
    const field = fields.get(at);
    if (field) return field;
  }
  return null;
}

function resolved(context, schema) {
  let current = schema;
  for (let hops = 0; current && current.$ref && hops < 8; hops += 1) {
    const parts = current.$ref.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const target = parts.reduce((value, part) => value?.[part], context.root);
    if (!target) return current;
    current = { ...target, ...Object.fromEntries(Object.entries(current).filter(([key]) => key !== "$ref")) };
  }
  const options = current.anyOf || current.oneOf;
  if (options && options.length === 2 && options.some((option) => option.type === "null")) {
    const { anyOf, oneOf, ...rest } = current;
    return { ...resolved(context, options.find((option) => option.type !== "null")), ...rest };
  }
  return current;
}

function typeOf(schema) {
  const types = [schema.type].flat().filter((type) => type && type !== "null");
  return types.length === 1 ? types[0] : null;
}

function field(context, schema, path, depth) {
  const known = resolved(context, schema ?? {});
  if (known.const !== undefined) return choiceField(context, { ...known, enum: [known.const] }, path);
  if (Array.isArray(known.enum)) return choiceField(context, known, path);
  const type = typeOf(known);
  if (depth < DEEPEST && type === "object" && known.properties && !known.anyOf && !known.oneOf) return objectField(context, known, path, depth);
  if (depth < DEEPEST && type === "array" && known.items && !Array.isArray(known.items)) return listField(context, known, path, depth);
  if (["string", "integer", "number"].includes(type)) return textField(context, known, path, type);
  if (type === "boolean") return choiceField(context, { ...known, enum: [true, false] }, path);
  return jsonField(context, known, path);
}

function objectField(context, schema, path, depth) {
  const required = schema.required || [];
  const parts = Object.entries(schema.properties || {}).map(([name, inner]) => {
    const at = path ? `${path}.${name}` : name;
    return [name, required.includes(name), labelled(context, name, required.includes(name), inner, at, depth)];
  });
  const element = el("div", { class: "fields" }, parts.map(([, , made]) => made.element));
  if (!parts.length) append(element, [el("p", { class: "quiet" }, "No arguments.")]);
  return {
    element,
    isGroup: true,
    focus: () => element.querySelector("input, select, textarea")?.focus(),
    read() {
      const value = {};
      for (const [name, isRequired, made] of parts) {
        const inner = made.read();
        if (inner === undefined) continue;
        // An optional object without values was not meant.
        if (!isRequired && made.isGroup && Object.keys(inner).length === 0) continue;
        value[name] = inner;
      }
      return value;
    },
  };
}

/** A field with its name, its description and the place of a message. */
function labelled(context, name, isRequired, schema, path, depth) {
  context.count += 1;
  const id = `${context.prefix}-${context.count}`;
  const made = field({ ...context, id }, schema, path, depth + 1);
  const known = resolved(context, schema ?? {});
  const message = el("p", { class: "fault", id: `${id}-fault`, hidden: true });
  const hint = known.description ? el("p", { class: "quiet hint", id: `${id}-hint` }, known.description) : null;
  const marks = el("span", { class: "quiet" }, isRequired ? " required" : "");
  const input = made.input;
  if (input) {
    input.id = id;
    input.setAttribute("aria-describedby", `${hint ? `${id}-hint ` : ""}${id}-fault`);
    if (isRequired) input.setAttribute("aria-required", "true");
  }
  const title = el("bdi", { class: "name" }, name);
  const element = input
    ? el("div", { class: "field" }, el("label", { for: id }, title, marks), hint, input, message)
    : el("fieldset", { class: "field" }, el("legend", {}, title, marks), hint, made.element, message);
  const marked = {
    focus: made.focus,
    mark(text) {
      message.hidden = !text;
      message.textContent = text;
      if (input) {
        if (text) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
    },
  };
  context.fields.set(path, marked);
  return { ...made, element };
}

function leaf(input, read) {
  return { element: input, input, focus: () => input.focus(), read };
}

function textField(context, schema, path, type) {
  const placeholder = schema.default === undefined ? null : `default: ${typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default)}`;
  if (type === "string") {
    const kinds = { date: "date", time: "time" };
    const kind = kinds[schema.format] || "text";
    const isLong = kind === "text" && ((schema.maxLength ?? 0) > 200 || schema.contentMediaType);
    const input = isLong ? el("textarea", { rows: "4", placeholder }) : el("input", { type: kind, placeholder, autocomplete: "off", spellcheck: "false" });
    return leaf(input, () => (input.value === "" ? undefined : input.value));
  }
  const input = el("input", { type: "text", inputmode: type === "integer" ? "numeric" : "decimal", placeholder, autocomplete: "off" });
  return leaf(input, () => {
    const text = input.value.trim();
    if (text === "") return undefined;
    // A number is written as it was typed: its digits are not rounded. Other text goes as it is, and the tool says what is wrong.
    return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? new Digits(text) : text;
  });
}

function choiceField(context, schema, path) {
  const values = schema.enum;
  const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const unset = schema.default === undefined ? "–" : `– (default: ${words(schema.default)})`;
  const input = el("select", {}, el("option", { value: "" }, unset), values.map((value, at) => el("option", { value: String(at) }, words(value))));
  return leaf(input, () => (input.value === "" ? undefined : values[Number(input.value)]));
}

function jsonField(context, schema, path) {
  const input = el("textarea", { rows: "3", class: "code", placeholder: "JSON", spellcheck: "false" });
  return leaf(input, () => {
    const text = input.value.trim();
    if (text === "") return undefined;
    try {
      JSON.parse(text);
      return new Digits(text);
    } catch {
      return text;
    }
  });
}

function listField(context, schema, path, depth) {
  const items = [];
  const list = el("ol", { class: "items" });
  const add = el("button", { type: "button", onclick: () => { const made = push(); made.focus(); } }, "Add an entry");
  function push() {
    const at = `${path}[${items.length}]`;
    const made = labelled(context, `Entry ${items.length + 1}`, false, schema.items, at, depth);
    const line = el("li", {}, made.element);
    items.push({ made, line });
    list.append(line);
    remove.hidden = false;
    return made;
  }
  const remove = el("button", { type: "button", hidden: true, onclick: () => {
    const last = items.pop();
    last?.line.remove();
    context.fields.delete(`${path}[${items.length}]`);
    remove.hidden = items.length === 0;
    add.focus();
  } }, "Remove the last");
  const element = el("div", {}, list, el("div", { class: "buttons" }, add, remove));
  return {
    element,
    focus: () => add.focus(),
    read: () => (items.length === 0 ? undefined : items.map(({ made }) => made.read() ?? null)),
  };
}

/** JSON text that is written as it is. */
class Digits {
  constructor(text) {
    this.text = text;
  }
}

/** Writes arguments as JSON, with every digit that was typed. */
export function written(value) {
  if (value instanceof Digits) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (value && typeof value === "object") {
    return `{${Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${written(inner)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}
