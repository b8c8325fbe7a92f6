// What the page asks its server.

const root = `${document.documentElement.dataset.path}/api`;

export let session = {};

/** Reads the rights of the reader. */
export async function enter() {
  session = await get("/session");
  return session;
}

export async function get(path) {
  return answer(await fetch(root + path));
}

export async function post(path, body, signal) {
  const headers = { "content-type": "application/json", "x-toolkit-csrf": session.csrf };
  return answer(await fetch(root + path, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

async function answer(response) {
  const text = await response.text();
  let value = {};
  try {
    value = JSON.parse(text);
  } catch {
    value = { error: text };
  }
  if (!response.ok) throw new Error(value.error || `the server answered ${response.status}`);
  return value;
}

/** Follows the calls that change after `change`. Returns a function that stops. */
export function follow(change, changed, connected) {
  const source = new EventSource(`${root}/changes?after=${change}`);
  source.onopen = () => connected(true);
  source.onerror = () => connected(false);
  source.onmessage = (event) => changed(JSON.parse(event.data));
  return () => source.close();
}
