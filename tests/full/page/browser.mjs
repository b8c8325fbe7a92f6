// A browser, by the W3C WebDriver protocol: the keyboard, the page's text, its console, screenshots.

import { spawn } from "node:child_process";

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
const KEYS = { Tab: "\uE004", Enter: "\uE007", Escape: "\uE00C", Down: "\uE015", Up: "\uE013", Home: "\uE011", Space: " ", Shift: "\uE008", Backspace: "\uE003", Control: "\uE009" };

export async function open(driverPath, browserPath, { dark = false, width = 1280, height = 800 } = {}) {
  const port = 9300 + Math.floor(Math.random() * 600);
  const driver = spawn(driverPath, [`--port=${port}`, "--silent"], { stdio: "ignore" });
  const base = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    try {
      const status = await fetch(`${base}/status`);
      if ((await status.json()).value.ready) break;
    } catch {
      if (tries > 100) throw new Error("the driver does not start");
    }
    await pause(100);
  }
  const args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1", "--lang=en",
    "--disable-dev-shm-usage", "--font-render-hinting=none", `--window-size=${width},${height}`];
  if (dark) args.push("--force-dark-mode");
  const capabilities = { alwaysMatch: { browserName: "chrome", "goog:loggingPrefs": { browser: "ALL" },
    "goog:chromeOptions": { args, ...(browserPath ? { binary: browserPath } : {}) } } };
  const send = async (method, path, body) => {
    const response = await fetch(base + path, { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
    const { value } = await response.json();
    if (value && value.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  const { sessionId } = await send("POST", "/session", { capabilities });
  const session = `/session/${sessionId}`;
  const run = (script, ...args) => send("POST", `${session}/execute/sync`, { script, args });
  const cdp = (cmd, params) => send("POST", `${session}/goog/cdp/execute`, { cmd, params });
  await cdp("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: "reduce" }] });
  await cdp("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  const press = async (...keys) => {
    const actions = [];
    for (const key of keys) {
      const value = KEYS[key] ?? key;
      actions.push({ type: "keyDown", value }, { type: "keyUp", value });
    }
    await send("POST", `${session}/actions`, { actions: [{ type: "key", id: "keys", actions }] });
  };
  const browser = {
    cdp,
    run,
    press,
    goto: (url) => send("POST", `${session}/url`, { url }),
    type: (text) => press(...text),
    async backTab() {
      const actions = [{ type: "keyDown", value: KEYS.Shift }, { type: "keyDown", value: KEYS.Tab }, { type: "keyUp", value: KEYS.Tab }, { type: "keyUp", value: KEYS.Shift }];
      await send("POST", `${session}/actions`, { actions: [{ type: "key", id: "keys", actions }] });
    },
    text: () => run("return document.body.innerText"),
    /** The name of the focused element, as a reader of the screen hears it. */
    focused: () => run(`const e = document.activeElement; const l = e.labels && e.labels[0];
      return (e.getAttribute("aria-label") || (l ? l.innerText : "") || e.innerText || e.value || "").trim();`),
    /** Tabs until the focused element has a name. */
    async tabTo(name, most = 80) {
      for (let at = 0; at < most; at += 1) {
        await press("Tab");
        const focused = await browser.focused();
        if (name instanceof RegExp ? name.test(focused) : focused.startsWith(name)) return at + 1;
      }
      throw new Error(`nothing named ${name} is reached with the key Tab`);
    },
    async until(what, condition, ms = 8000) {
      const end = Date.now() + ms;
      for (;;) {
        const value = await condition();
        if (value) return value;
        if (Date.now() > end) throw new Error(`${what} does not come; the page shows:\n${(await browser.text()).slice(0, 3000)}`);
        await pause(50);
      }
    },
    shows: (text, ms) => browser.until(JSON.stringify(String(text)), async () => {
      const shown = await browser.text();
      return text instanceof RegExp ? text.test(shown) : shown.includes(text);
    }, ms),
    /** Errors in the console since the last question. */
    async errors() {
      const entries = await send("POST", `${session}/se/log`, { type: "browser" });
      return entries.filter(({ level }) => level === "SEVERE").map(({ message }) => message);
    },
    screenshot: async () => Buffer.from(await send("GET", `${session}/screenshot`), "base64"),
    async close() {
      await send("DELETE", session).catch(() => {});
      driver.kill();
    },
  };
  return browser;
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));
