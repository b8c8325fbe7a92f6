// Pages with the real clients, while the server is killed and another one goes on. After each scene, what a page shows is what the
// log has.
//
//     node restarts.mjs PROGRAM

import assert from "node:assert";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { HttpAgent } from "@ag-ui/client";
import { AbstractChat, DefaultChatTransport } from "ai";

const [program] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "chats-"));
const servers = new Set();

/** Begins a server over the folder. Only the first one takes over what works. */
async function serve(...more) {
    const child = spawn(program, ["--serve", folder, ...more], { stdio: ["ignore", "pipe", "inherit"] });
    const [address] = await new Promise(resolve => createInterface(child.stdout).once("line", (...lines) => resolve(lines)));
    const server = { address, kill: () => new Promise(resolve => child.once("exit", resolve).kill("SIGKILL")) };
    servers.add(server);
    return server;
}

class State {
    status = "ready";
    error = undefined;
    constructor(messages) {
        this.messages = messages;
    }
    pushMessage = message => (this.messages = this.messages.concat(message));
    popMessage = () => (this.messages = this.messages.slice(0, -1));
    replaceMessage = (index, message) => (this.messages = this.messages.with(index, structuredClone(message)));
    snapshot = value => structuredClone(value);
}

class Chat extends AbstractChat {
    constructor(server, id, messages = []) {
        super({ id, transport: new DefaultChatTransport({ api: `${server.address}/chat` }), state: new State(messages), onError: () => {} });
    }
    last = () => this.messages.at(-1);
    calls = () => this.last().parts.filter(part => part.toolCallId !== undefined);
}

class Attached extends HttpAgent {
    requestInit() {
        return { method: "GET", headers: this.headers, signal: this.abortController.signal };
    }
}

const saved = async (server, id) => (await fetch(`${server.address}/chat/${id}/messages`)).json();
const plain = value => JSON.parse(JSON.stringify(value));

/** Loads a page again, and waits until nothing is written any more. */
async function loaded(server, id) {
    const messages = await saved(server, id);
    const page = new Chat(server, id, messages);
    await page.resumeStream();
    assert.deepStrictEqual(plain(page.messages), await saved(server, id));
    const agent = new Attached({ url: `${server.address}/agent/${id}`, threadId: id });
    await agent.runAgent();
    const text = page.messages.at(-1).parts.map(part => part.text ?? "").join("");
    assert(text.endsWith(agent.messages.at(-1).content ?? ""), `${text} and ${agent.messages.at(-1).content}`);
    return page;
}

const streaming = async page => {
    while (page.status !== "streaming") await new Promise(resolve => setTimeout(resolve, 5));
};

const scenes = {
    async "decided by another process after a restart"(id) {
        const first = await serve();
        const page = new Chat(first, id);
        await page.sendMessage({ text: "pay" });
        await first.kill();
        const second = await serve();
        const other = await loaded(second, id);
        await other.addToolApprovalResponse({ id: other.calls()[0].approval.id, approved: false, reason: "no" });
        await other.sendMessage();
        assert.strictEqual(other.calls()[0].state, "output-denied");
        // The first page decides too late.
        const late = new Chat(second, id, plain(page.messages));
        await late.addToolApprovalResponse({ id: late.calls()[0].approval.id, approved: true });
        await late.sendMessage();
        assert.deepStrictEqual(plain(late.messages), await saved(second, id));
        await second.kill();
    },

    async "killed in mid-text"(id) {
        const first = await serve();
        const page = new Chat(first, id);
        const answer = page.sendMessage({ text: "slow" });
        await streaming(page);
        await first.kill();
        await answer;
        const second = await serve();
        const again = await loaded(second, id);
        assert.strictEqual(again.last().parts.map(part => part.text ?? "").join(""), "one two three four ".repeat(10));
        await second.kill();
    },

    async "killed after a call"(id) {
        const first = await serve();
        const page = new Chat(first, id);
        const answer = page.sendMessage({ text: "experts" });
        while (!page.last()?.parts.some(part => part.state === "input-available")) await new Promise(resolve => setTimeout(resolve, 5));
        await first.kill();
        await answer;
        const second = await serve();
        const again = await loaded(second, id);
        assert.match(again.last().parts.at(-1).text, /^That is what I know now/);
        await second.kill();
    },

    async "two processes over one folder"(id) {
        const [first, second] = [await serve(), await serve("beside")];
        const page = new Chat(first, id);
        await page.sendMessage({ text: "pay" });
        const other = await loaded(second, id);
        await other.addToolApprovalResponse({ id: other.calls()[0].approval.id, approved: true });
        await other.sendMessage();
        assert.strictEqual(other.calls()[0].output, "Invoice 7 is paid.");
        await loaded(first, id);
        await first.kill();
        await second.kill();
    },
};

try {
    for (const [name, play] of Object.entries(scenes)) {
        await play(crypto.randomUUID());
        console.log(`ok: ${name}`);
    }
} finally {
    for (const server of servers) server.kill();
    rmSync(folder, { recursive: true });
}
