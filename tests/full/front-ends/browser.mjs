// The pages of the example in a browser. At the end of each run, the text of the page is that of the log.
//
//     node browser.mjs PROGRAM RUNS [doubled]     with `doubled`, a piece of text is shown twice: the planted fault
//
// Of each scene, every run is reloaded at a later event: 20 places in a scene, where a reload at each event of each run would
// take hours. Some servers are killed. Needs `chromedriver` and Chromium.

import assert from "node:assert";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [program, count, planted] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "browser-"));
const children = new Set();
const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** Begins a program, and waits for a line that matches. */
async function begin(command, parameters, pattern) {
    const child = spawn(command, parameters, { stdio: ["ignore", "pipe", "ignore"] });
    children.add(child);
    const lines = createInterface(child.stdout);
    const found = await new Promise((resolve, reject) => {
        child.once("error", reject);
        lines.on("line", line => {
            const match = pattern.exec(line);
            if (match) resolve(match[1]);
        });
    });
    return { found, kill: () => new Promise(resolve => child.once("exit", resolve).kill("SIGKILL")) };
}

const serve = () => begin(program, ["--serve", folder], /^(http:.*)/);

class Browser {
    static async open() {
        const { found: port } = await begin("chromedriver", ["--port=0"], /started successfully on port (\d+)/);
        const browser = new Browser();
        browser.base = `http://127.0.0.1:${port}/session`;
        const args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
        const alwaysMatch = { browserName: "chrome", "goog:chromeOptions": { args } };
        const { sessionId } = await browser.post("", { capabilities: { alwaysMatch } });
        browser.base += `/${sessionId}`;
        return browser;
    }

    async post(path, body) {
        const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
        const { value } = await (await fetch(this.base + path, request)).json();
        assert(!value?.error, `${value?.error}: ${value?.message}`);
        return value;
    }

    go = url => this.post("/url", { url });
    run = (script, ...args) => this.post("/execute/sync", { script, args });

    async type(text) {
        const input = await this.post("/element", { using: "css selector", value: "input" });
        await this.post(`/element/${Object.values(input)[0]}/value`, { text: `${text}\n` });
    }

    /** Clicks all buttons with this text. */
    click = text => this.run("document.querySelectorAll('main button').forEach(it => it.textContent === arguments[0] && it.click())", text);

    /** Returns the text of each message, without the tables of calls. */
    texts = () =>
        this.run(`return [...document.querySelectorAll("main > div")].map(message =>
            [...message.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join(""))`);

    async until(what, is) {
        const end = Date.now() + 15_000;
        for (;;) {
            const found = await is().catch(() => undefined);
            if (found) return found;
            assert(Date.now() < end, `${what} has not come in time`);
            await pause(20);
        }
    }
}

/** Returns the texts of the messages in the log, and the status of the conversation. */
async function log(address, id) {
    const messages = await (await fetch(`${address}/chat/${id}/messages`)).json();
    const list = await (await fetch(`${address}/chat`)).json();
    const text = message => message.parts.map(part => (part.type === "text" ? part.text : "")).join("");
    return { texts: messages.map(text), status: list.find(chat => chat.id === id)?.status };
}

/** Compares the page with the log, once the run has ended. */
async function check(browser, address, id, name) {
    let shown, saved;
    const clean = texts => texts.map(text => text.replace(/ \(stopped\)$/, "")).filter(text => text !== "");
    await browser
        .until("the text of the log", async () => {
            const now = await log(address, id);
            [shown, saved] = [clean(await browser.texts()), clean(now.texts)];
            return now.status === "ready" && JSON.stringify(shown) === JSON.stringify(saved);
        })
        .catch(() => assert.deepStrictEqual(shown, saved, name));
}

/** Reloads the page at its event with this number, counted from 1. */
const reloadAt = (browser, number) =>
    browser.run(
        `const original = apply; let seen = 0;
         window.apply = (...all) => { original(...all); if (++seen === arguments[0]) location.reload(); };`,
        number,
    );

const scenes = ["slow", "weather", "retry", "twice", "block", "experts", "hello", "fail", "clerk", "both"];

/** Answers what waits. */
async function decide(browser, address, id) {
    const end = Date.now() + 15_000;
    while (Date.now() < end && (await log(address, id)).status !== "ready") {
        await browser.click("Rome");
        await browser.click("Approve");
        await pause(100);
    }
}

const settle = async (address, id) => {
    while ((await log(address, id)).status === "working") await pause(20);
};

let server = await serve();
const browser = await Browser.open();
try {
    let breaks = 0;
    for (let index = 0; index < Number(count); index++) {
        const id = crypto.randomUUID();
        const scene = scenes[index % scenes.length];
        await browser.go("about:blank");
        await browser.go(`${server.found}/#${id}`);
        await browser.until("the page", () => browser.run("return document.readyState === 'complete' && typeof load === 'function'"));
        if (planted) {
            await browser.run(`const original = apply;
                window.apply = (message, chunk) => { original(message, chunk); if (chunk.type === "text-delta" && !window.twice) { window.twice = true; original(message, chunk); } };`);
        } else {
            await reloadAt(browser, 1 + Math.floor(index / scenes.length) * 2);
        }
        await browser.type(scene);
        if (["retry", "block"].includes(scene)) breaks++;
        if (!planted && index % 20 === 5) {
            // The server dies in the middle of the called agents, and the page is loaded from another one.
            await pause(150 + index);
            await server.kill();
            server = await serve();
            await browser.go(`${server.found}/#${id}`);
            breaks++;
        } else if (!planted && index % 20 === 10) {
            await browser.until("a text", async () => (await browser.texts()).some(text => text.includes("two")));
            await browser.run("document.querySelector('#stop').click()");
            breaks++;
        }
        await browser.until("the conversation", async () => (await log(server.found, id)).status);
        await settle(server.found, id);
        if (!planted && index % 20 === 3) {
            // Somebody else decides, and the page is told when it decides.
            const messages = await (await fetch(`${server.found}/chat/${id}/messages`)).json();
            for (const part of messages.at(-1).parts) if (part.approval) Object.assign(part, { state: "approval-responded", approval: { ...part.approval, approved: false } });
            await (await fetch(`${server.found}/chat/${id}`, { method: "POST", body: JSON.stringify({ messages }) })).text();
            await settle(server.found, id);
            await browser.click("Approve");
            await pause(300);
            await browser.run("location.reload()");
        }
        await decide(browser, server.found, id);
        await check(browser, server.found, id, scene);
    }
    console.log(`ok: ${count} runs in the browser, ${breaks} of which broke`);
    if (!planted) {
        const id = crypto.randomUUID();
        await browser.go(`${server.found}/ag-ui#${id}`);
        await browser.type("pay");
        const approve = "[...document.querySelectorAll('pre button')].find(it => it.textContent === 'Approve')";
        await browser.until("the approval", () => browser.run(`return Boolean(${approve})`));
        await browser.run(`${approve}.click()`);
        const shown = () => browser.run("return document.querySelector('pre').innerText");
        const before = await browser.until("the answer", async () => {
            const isEnded = (await log(server.found, id)).status === "ready";
            const text = await shown();
            return isEnded && text.includes("That is what I know now: Invoice 7 is paid.") && text;
        });
        await browser.run("location.reload()");
        await browser.until("the same after a reload", async () => (await shown()) === before);
        console.log("ok: the page of AG-UI");
    }
} finally {
    // Ends the browser, too.
    await fetch(browser.base, { method: "DELETE" });
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
}
process.exit();
