// A page with the real client of AG-UI, scene by scene. After each, its messages are those of the log.
//
//     node ag-ui.mjs ADDRESS [doubled]     with `doubled`, a piece of text arrives twice: the planted fault

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { HttpAgent } from "@ag-ui/client";
import { EventType } from "@ag-ui/core";
import { EventSchemas } from "@ag-ui/core/schemas";

const [address, planted] = process.argv.slice(2);

/** Checks each event with the schemas of the package, and doubles the first piece of text if that is planted. */
async function checked(...request) {
    const response = await fetch(...request);
    if (!response.ok) return response;
    let text = await response.text();
    for (const line of text.split("\n").filter(line => line.startsWith("data: "))) EventSchemas.parse(JSON.parse(line.slice(6)));
    if (planted) text = text.replace(/data: \{"type":"TEXT_MESSAGE_CONTENT".*\n\n/, "$&$&");
    return new Response(text, { status: response.status, headers: response.headers });
}

/** Reads a conversation, and what is being written. */
class AttachedAgent extends HttpAgent {
    requestInit() {
        return { method: "GET", headers: this.headers, signal: this.abortController.signal };
    }
}

const attached = threadId => new AttachedAgent({ url: `${address}/${threadId}`, threadId });

class Page extends HttpAgent {
    constructor(threadId, settings = {}) {
        super({ url: address, threadId, fetch: checked, ...settings });
        this.heard = [];
    }

    async ask(content, parameters = {}) {
        if (content) this.addMessage({ id: crypto.randomUUID(), role: "user", content });
        await this.runAgent(parameters, { onEvent: ({ event }) => void this.heard.push(event) });
    }

    text = () => this.messages.at(-1).content;
    results = () => this.messages.filter(message => message.role === "tool").map(message => message.content);

    /** Compares the messages with the log. Those of several agents at once may have another order. */
    async check(order = messages => messages) {
        const other = attached(this.threadId);
        await other.runAgent();
        assert.deepStrictEqual(order(plain(this.messages)), order(plain(other.messages)));
        assert.deepStrictEqual(plain(this.pendingInterrupts), plain(other.pendingInterrupts));
    }
}

const plain = value => JSON.parse(JSON.stringify(value));
const byId = messages => messages.toSorted((one, other) => (one.id < other.id ? -1 : 1));

const scenes = {
    async text(id) {
        const page = new Page(id);
        await page.ask("hello");
        assert.match(page.text(), /^Hello\. Send me/);
        await page.check();
        await page.ask("hello again");
        await page.check();
        assert.strictEqual(page.messages.length, 4);
    },

    async "parallel tools, with progress"(id) {
        const page = new Page(id);
        await page.ask("weather");
        assert.deepStrictEqual(page.results().sort(), ["Oslo: clear", "Rome: clear"]);
        const progress = page.heard.filter(event => event.type === "CUSTOM" && event.name === "progress");
        assert.deepStrictEqual(progress.map(event => event.value.fraction), [0.5, 0.5]);
        await page.check();
    },

    async "a typed answer, which was invalid at first"(id) {
        const page = new Page(id);
        await page.ask("census");
        assert.deepStrictEqual(JSON.parse(page.results()[0]), { name: "Rome", population: 2748109 });
        await page.check();
    },

    async "a failing tool"(id) {
        const page = new Page(id);
        await page.ask("fail");
        assert.match(page.results()[0], /no station in Atlantis/);
        await page.check();
    },

    async "approvals allowed and denied"(id) {
        const page = new Page(id);
        await page.ask("twice");
        await page.check();
        const [first, second] = page.pendingInterrupts;
        await page.ask("", {
            resume: [
                { interruptId: first.id, status: "resolved", payload: { approved: true } },
                { interruptId: second.id, status: "resolved", payload: { approved: false, reason: "too expensive" } },
            ],
        });
        // They come as they are ready.
        const [denied, paid] = page.results().sort((one, other) => other.includes("denied") - one.includes("denied"));
        assert.strictEqual(paid, "Invoice 7 is paid.");
        assert.match(denied, /too expensive/);
        assert.deepStrictEqual(page.pendingInterrupts, []);
        await page.check();
    },

    async "an approval that another page has decided"(id) {
        const page = new Page(id);
        await page.ask("pay");
        const other = new Page(id);
        await other.ask("", { resume: [{ interruptId: page.pendingInterrupts[0].id, status: "cancelled" }] });
        const resume = [{ interruptId: page.pendingInterrupts[0].id, status: "resolved", payload: { approved: true } }];
        await page.ask("", { resume });
        assert.match(page.results()[0], /cancelled/);
        await page.check();
    },

    async "a question to the user"(id) {
        const page = new Page(id);
        await page.ask("where");
        assert.strictEqual(page.pendingInterrupts[0].reason, "input_required");
        const interruptId = page.pendingInterrupts[0].id;
        await page.ask("", { resume: [{ interruptId, status: "resolved", payload: "Rome" }] });
        assert.match(page.text(), /know now: Rome$/);
        await page.check();
    },

    async "a stop"(id) {
        const page = new Page(id, { fetch: undefined });
        const answer = page.ask("slow");
        while (!page.heard.some(event => event.type === "TEXT_MESSAGE_CONTENT")) await new Promise(resolve => setTimeout(resolve, 5));
        assert.strictEqual((await fetch(`${address}/${id}/stop`, { method: "POST" })).status, 204);
        await answer;
        assert.deepStrictEqual(page.heard.at(-1).outcome, { type: "cancelled" });
        await page.ask("hello");
        assert.match(page.text(), /^Hello\./);
    },

    async "a retry in mid-text"(id) {
        const page = new Page(id);
        await page.ask("retry");
        assert.match(page.text(), /^Hello\./);
        assert.strictEqual(page.messages.length, 2);
        await page.check();
    },

    async "a tool of the page, also with an approval at once"(id) {
        const page = new Page(id);
        const place = { name: "place", description: "Where the user is.", parameters: { type: "object" } };
        await page.ask("page", { tools: [place] });
        const [call] = page.heard.at(-1).outcome.pendingToolCallIds;
        page.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: call, content: "Rome" });
        await page.ask("", { tools: [place] });
        assert.match(page.text(), /know now: Rome$/);
        // The client keeps the id of its own message.
        const withoutIds = messages => messages.map(({ id: _, ...message }) => message);
        await page.check(withoutIds);
        await page.ask("both");
        const resume = page.pendingInterrupts.map(({ id: interruptId, reason }) => ({
            interruptId,
            status: "resolved",
            payload: reason === "input_required" ? "Oslo" : { approved: true },
        }));
        assert.strictEqual(resume.length, 2);
        await page.ask("", { resume });
        assert.match(page.text(), /know now: Oslo Invoice 7 is paid\.$/);
        await page.check(withoutIds);
    },

    async "agents inside calls, word by word, and one that takes over"(id) {
        const page = new Page(id);
        await page.ask("experts");
        const pieces = page.heard.filter(event => event.type === "TEXT_MESSAGE_CONTENT" && event.subagentRunId);
        assert(pieces.length > 40, `${pieces.length} pieces`);
        assert.strictEqual(page.heard.filter(event => event.type === "SUBAGENT_STARTED").length, 2);
        assert.strictEqual(page.heard.filter(event => event.type === "SUBAGENT_FINISHED").length, 2);
        await page.check(byId);
        await page.ask("clerk");
        assert(page.heard.some(event => event.type === "CUSTOM" && event.name === "transferred"));
        await page.check(byId);
    },

    async "an answer that a guardrail has blocked"(id) {
        const page = new Page(id);
        await page.ask("block");
        assert.strictEqual(page.text(), "I do not say that.");
        await page.check();
    },

    async "a history that leaves the log"(id) {
        const page = new Page(id);
        await page.ask("hello");
        const other = new Page(id, { initialMessages: page.messages });
        await other.ask("weather");
        await page.ask("fail");
        assert.deepStrictEqual([page.heard.at(-1).type, page.heard.at(-1).code], ["RUN_ERROR", "history"]);
        assert.deepStrictEqual(plain(page.messages), plain(other.messages));
        await page.ask("hello again");
        await page.check();
    },

    async "the state has session values"(id) {
        const page = new Page(id, { initialState: { color: "red", secret: "forged" } });
        await page.ask("hello");
        assert.deepStrictEqual(page.state, { color: "red" });
        await page.check();
    },

    async "a reload in mid-stream"(id) {
        const page = new Page(id, { fetch: undefined });
        await page.ask("hello");
        const answer = page.ask("slow");
        while (page.heard.at(-1).type !== "TEXT_MESSAGE_CONTENT") await new Promise(resolve => setTimeout(resolve, 5));
        const again = attached(id);
        await again.runAgent();
        await answer;
        assert.match(again.messages.at(-1).content, /^one two three four (one two three four ){9}$/);
        assert.deepStrictEqual(plain(again.messages), plain(page.messages));
        await page.check();
    },
};

function checkVersions() {
    for (const name of ["core", "client"]) {
        const { version } = JSON.parse(readFileSync(`node_modules/@ag-ui/${name}/package.json`, "utf8"));
        console.log(`@ag-ui/${name} ${version}`);
        assert.match(version, /^1\.0\./, "the events are those of AG-UI 1.0");
    }
    const list = readFileSync(process.env.EVENTS, "utf8").trim().split("\n");
    assert.deepStrictEqual(Object.values(EventType).sort(), list, "tests/data/ag-ui-1-events.txt is not the list of the package");
    console.log(`ok: ${list.length} types of events`);
}

checkVersions();
for (const [name, play] of Object.entries(scenes)) {
    if (planted && name !== "text") continue;
    await play(crypto.randomUUID());
    console.log(`ok: ${name}`);
}
