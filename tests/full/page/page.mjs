// What a person does on the page, without the mouse: each task of `page.sh` in a browser, in both themes.
//
//     node page.mjs EXAMPLE AXE [--planted] [--pictures FOLDER]
//     node page.mjs EXAMPLE AXE --sizes    # 1,000 tools, 100,000 calls, 1,000 at once: how long views and tasks of the page take

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { open, pause } from "./browser.mjs";

const [example, axePath, ...options] = process.argv.slice(2);
const axe = readFileSync(axePath, "utf8");
const isPlanted = options.includes("--planted");
const pictures = options.includes("--pictures") ? options[options.indexOf("--pictures") + 1] : null;
const driverPath = process.env.CHROMEDRIVER || "chromedriver";
const begun = Date.now();

function fail(text) {
  throw new Error(text);
}

/** Starts the example, and returns its one-time address. */
async function serve(form = "--fixed") {
  const server = spawn(example, [form], { stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  server.stdout.on("data", (data) => { printed += data; });
  for (let at = 0; !printed.includes("ready"); at += 1) {
    if (at > 2400) fail("the example does not start");
    await pause(50);
  }
  return { address: printed.split("\n")[0], burst: () => server.stdin.write("\n"), stop: () => server.kill() };
}

/** Fails if the rules of accessibility name a serious fault of what is shown. */
async function accessible(browser, name) {
  const found = await browser.run(`${axe}
    return window.axe.run(document, { resultTypes: ["violations"] }).then((results) => results.violations
      .filter((one) => ["serious", "critical"].includes(one.impact))
      .map((one) => one.id + ": " + one.nodes.map((node) => node.target.join(" ") + " " + (node.any[0]?.message || "")).slice(0, 3).join("; ")));`);
  if (found.length) fail(`${name}: axe finds ${found.join(" | ")}`);
}

const tasks = {
  async "find why call_3 waited"(browser) {
    await toSearch(browser);
    await browser.type("write");
    await browser.until("the filtered table", async () => (await browser.run("return document.querySelectorAll('.calls tbody tr').length")) === 2);
    await browser.tabTo("files-write");
    await browser.press("Enter");
    await browser.shows("Waited for another call in its lane `path` = `notes.txt`");
    await browser.shows(/Admitted after \d+ ms/);
    await accessible(browser, "a call");
    await clearFilter(browser, "write");
  },

  async "find the call that ran longest"(browser) {
    await toSearch(browser);
    await browser.tabTo("Order");
    await browser.press("Down", "Down");
    await browser.until("the longest first", async () => (await browser.run("return document.querySelector('.calls tbody a')?.innerText")) === "project-build");
    await browser.tabTo("project-build");
    await browser.press("Enter");
    await browser.shows("Progress 75 %");
    await browser.press("Escape");
  },

  async "find which rule denied call_4, and what the normal form of call_1 is"(browser) {
    await browser.run("location.hash = '#/live'");
    await toSearch(browser);
    await browser.type("delete");
    await browser.until("one row", async () => (await browser.run("return document.querySelectorAll('.calls tbody tr').length")) === 1);
    await browser.tabTo("files-delete");
    await browser.press("Enter");
    await browser.shows("Denied by rule 1: rule `deny` for the tool `files-delete` · nothing is deleted here");
    await clearFilter(browser, "delete");
    await browser.type("forecast");
    await browser.until("one row", async () => (await browser.run("return document.querySelector('.calls tbody a')?.innerText")) === "weather-forecast");
    await browser.tabTo("weather-forecast");
    await browser.press("Enter");
    await browser.shows("Arguments in normal form");
    const texts = await browser.run("return [...document.querySelectorAll('.side pre')].map((pre) => pre.innerText.replace(/\\s+/g, ''))");
    if (texts[0] !== '{"city":"Oslo","days":"5"}' || texts[1] !== '{"city":"Oslo","days":5}') fail(`the arguments are ${texts}`);
    await clearFilter(browser, "forecast");
  },

  async "try a tool with a nested argument, and mend a mistake"(browser) {
    await toTool(browser, "order", "shop-order");
    await browser.tabTo("product");
    await browser.type("7");
    await browser.tabTo("street");
    await browser.type("Long Road 1");
    await browser.tabTo("postcode");
    await browser.type("123");
    await browser.tabTo("Add an entry");
    await browser.press("Enter");
    await browser.type("Happy birthday");
    await browser.tabTo("Run");
    await browser.press("Enter");
    await browser.shows("What a model would read");
    if (!(await browser.focused()).startsWith("postcode")) fail(`the focus is at ${await browser.focused()}, not at the mistake`);
    await accessible(browser, "a mistake");
    await browser.type("45");
    await browser.tabTo("Run");
    await browser.press("Enter");
    await browser.shows("1 of 7 to Long Road 1 12345 by normal post, 1 cards");
  },

  async "stop a call that runs, and see what became of it"(browser) {
    await toTool(browser, "build", "project-build");
    await browser.tabTo("Run");
    await browser.press("Enter");
    await browser.shows("Running …");
    await browser.tabTo("Stop", 3);
    await browser.press("Enter");
    await browser.shows("Stopped.");
    await browser.run("location.hash = '#/live'");
    await browser.shows("cancelled");
  },

  async "text that looks like markup stays text"(browser) {
    await toTool(browser, "write", "files-write");
    await browser.tabTo("Edit as JSON");
    await browser.press("Enter");
    await browser.run(`const editor = document.getElementById("arguments-json");
      editor.value = JSON.stringify({ path: "<img src=x onerror='window.broken = 1'><svg onload='window.broken = 1'>", lines: [] });`);
    await browser.tabTo("Run");
    await browser.press("Enter");
    await browser.shows("0 lines in <img src=x");
    if (await browser.run("return window.broken || document.querySelectorAll('main img, main svg').length")) fail("a result became markup");
    const blocked = await browser.run("try { document.body.innerHTML = '<b>x</b>'; return false; } catch { return true; }");
    if (!blocked) fail("the policy does not forbid markup from text");
  },

  async "see the picture that a tool returns"(browser) {
    await toTool(browser, "dot", "drawing-dot");
    await browser.tabTo("Run");
    await browser.press("Enter");
    await browser.until("the picture", () => browser.run("const image = document.querySelector('.answer img'); return image && image.naturalWidth === 1"));
  },

  async "disable a tool with a reason, and enable it"(browser) {
    await toTool(browser, "dot", "drawing-dot");
    await browser.tabTo("Reason");
    await browser.type("out of ink");
    await browser.press("Enter");
    await browser.shows("Disabled: out of ink");
    await browser.tabTo("Enable this tool");
    await browser.press("Enter");
    await browser.shows("Disable this tool");
  },

  async "approve with other arguments, and deny with a reason"(browser) {
    await browser.run("document.getElementById('skip').focus()");
    await browser.tabTo("Approvals");
    await browser.press("Enter");
    await browser.shows("2 calls wait");
    await accessible(browser, "approvals");
    await browser.tabTo("Arguments, which you may change");
    await browser.run("document.activeElement.setSelectionRange(0, 0)");
    await browser.type("x");
    await browser.tabTo("Approve");
    await browser.press("Enter");
    await browser.shows("The arguments are no JSON");
    await browser.run("const editor = document.activeElement; editor.value = editor.value.replace('x', '').replace('3', '2');");
    await browser.tabTo("Approve");
    await browser.press("Enter");
    await browser.shows("1 call waits");
    await browser.tabTo("Deny");
    await browser.press("Enter");
    await browser.shows("Say why: the model reads the reason.");
    await browser.type("too many orders");
    await browser.press("Tab", "Enter");
    await browser.shows("No call waits for a decision.");
    await browser.run("location.hash = '#/live'");
    await browser.until("the approved call", async () => (await browser.run("return document.querySelector('.calls tbody a')?.innerText")) === "shop-order");
    await browser.tabTo("shop-order");
    await browser.press("Enter");
    await browser.shows('"pieces": 2');
    await browser.press("Escape");
  },

  async "read what an API gets of a tool"(browser) {
    await toTool(browser, "order", "shop-order");
    await browser.tabTo("API");
    await browser.press("Down", "Down");
    await browser.shows('"input_schema"');
  },
};

/** Goes to a tool by the keyboard: to the view, to its search, to its link. */
async function toTool(browser, words, name) {
  await browser.run("location.hash = '#/live'");
  await pause(100);
  await browser.run("document.getElementById('skip').focus()");
  await browser.tabTo("Tools");
  await browser.press("Enter");
  await browser.shows("about");
  await toSearch(browser);
  await browser.type(words);
  await pause(250);
  await browser.tabTo(name);
  await browser.press("Enter");
  await browser.until("the focus on the title", async () => (await browser.focused()) === name);
}

/** Puts the focus into the search, with its key. */
async function toSearch(browser) {
  if (!(await browser.run("return document.activeElement.type === 'search'"))) await browser.press("/");
}

/** Closes the call, and takes what was typed out of the filter. */
async function clearFilter(browser, typed) {
  await browser.press("Escape");
  await browser.until("the focus on a row", () => browser.run("return Boolean(document.activeElement.dataset.call)"));
  await toSearch(browser);
  await browser.press(...Array(typed.length).fill("Backspace"));
  await browser.shows("call_9");
}

async function round(dark) {
  const theme = dark ? "dark" : "light";
  const { address, stop } = await serve();
  const browser = await open(driverPath, process.env.CHROMIUM, { dark });
  try {
    await browser.goto(address);
    await browser.shows("call_9");
    if ((await browser.run("return location.search")) !== "") fail("the token stays in the address");
    if (isPlanted) await browser.run("document.querySelector('label[for=tool-filter]').replaceWith(document.getElementById('tool-filter'))");
    await accessible(browser, `live, ${theme}`);
    if (pictures) await shoot(browser, address, theme);
    for (const [name, task] of Object.entries(tasks)) {
      const at = Date.now();
      await browser.run("location.hash = '#/live'");
      await browser.shows("call_9");
      await task(browser).catch((error) => fail(`${name}: ${error.message}`));
      const seconds = (Date.now() - at) / 1000;
      if (seconds > 60) fail(`${name}: took ${seconds} s`);
      console.log(`${theme}: ${name}: ${seconds.toFixed(1)} s`);
    }
    await browser.run("location.hash = '#/tools/shop-order'");
    await browser.shows("Try it");
    await accessible(browser, `a tool, ${theme}`);
    await narrow(browser, theme);
    const errors = await browser.errors();
    // The policy was tried above, and said so.
    const unexpected = errors.filter((text) => !text.includes("TrustedHTML"));
    if (unexpected.length) fail(`the console has ${unexpected.join("\n")}`);
    const again = await fetch(address);
    if (again.status !== 401) fail(`a used address answers ${again.status}`);
  } finally {
    await browser.close();
    stop();
  }
}

/** Nothing is wider than a small window. */
async function narrow(browser, theme) {
  await browser.cdp("Emulation.setDeviceMetricsOverride", { width: 360, height: 720, deviceScaleFactor: 1, mobile: false });
  for (const hash of ["#/live", "#/live/2", "#/approvals", "#/tools", "#/tools/shop-order"]) {
    await browser.run("location.hash = arguments[0]", hash);
    await pause(300);
    const wide = await browser.run("return document.documentElement.scrollWidth");
    if (wide > 360) fail(`${hash} is ${wide} pixels wide in a window of 360`);
    await accessible(browser, `${hash} narrow, ${theme}`);
  }
}

async function shoot(browser, address, theme) {
  const base = address.split("/?")[0];
  for (const [name, hash, text] of [["live", "#/live/2", "What happened"], ["approvals", "#/approvals", "2 calls wait"], ["tools", "#/tools/shop-order", "Try it"]]) {
    await browser.run("location.hash = arguments[0]", hash);
    await browser.shows(text);
    await browser.run("document.activeElement.blur()");
    await pause(300);
    writeFileSync(`${pictures}/${name}-${theme}.png`, await browser.screenshot());
  }
  await browser.run("location.hash = '#/live'");
  await browser.shows("call_9");
  return base;
}

/** Each view is there within 300 ms, and no task of the page takes more than 200 ms while 1,000 calls arrive. */
async function sizes() {
  const { address, burst, stop } = await serve("--many");
  const browser = await open(driverPath, process.env.CHROMIUM);
  try {
    await browser.goto(address);
    await browser.shows("100,000 kept");
    await browser.run(`window.longest = 0;
      new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration); }).observe({ type: "longtask" });`);
    for (const [name, hash, selector] of [["tools", "#/tools", ".tools li"], ["one tool", "#/tools/tool_7", ".tool form"], ["live", "#/live", ".calls tbody tr"]]) {
      const ms = await browser.run(`const [hash, selector] = arguments;
        const begun = performance.now();
        location.hash = hash;
        return new Promise((done) => {
          const look = () => (document.querySelector(selector) ? requestAnimationFrame(() => done(performance.now() - begun)) : requestAnimationFrame(look));
          requestAnimationFrame(look);
        });`, hash, selector);
      console.log(`${name}: ${Math.round(ms)} ms`);
      if (ms > 300) fail(`${name} takes ${Math.round(ms)} ms`);
    }
    burst();
    await browser.until("the burst", () => browser.run("return document.querySelector('.summary').innerText.includes('1,000 older ones dropped')"), 60000);
    await pause(500);
    const longest = await browser.run("return window.longest");
    console.log(`longest task: ${Math.round(longest)} ms`);
    if (longest > 200) fail(`a task of the page takes ${Math.round(longest)} ms`);
  } finally {
    await browser.close();
    stop();
  }
}

try {
  if (options.includes("--sizes")) {
    await sizes();
    process.exit(0);
  }
  for (const dark of isPlanted ? [false] : [false, true]) await round(dark);
  console.log(`all tasks done in ${((Date.now() - begun) / 1000).toFixed(0)} s`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
