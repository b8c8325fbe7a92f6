// A page with the real client of the AI SDK, scene by scene. After each, its messages are those of the log.
//
//     node ai-sdk.mjs ADDRESS [doubled]     with `doubled`, a piece of text arrives twice: the planted fault

import assert from "node:assert";
import { readFileSync } from "node:fs";
import {
    AbstractChat,
    DefaultChatTransport,
    lastAssistantMessageIsCompleteWithApprovalResponses,
    lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";

const [address, planted] = process.argv.slice(2);

/** A connection that doubles the first piece of text. */
async function doubled(...request) {
    const response = await fetch(...request);
    const text = await response.text();
    const body = text.replace(/data: \{"type":"text-delta".*\n\n/, "$&$&");
    return new Response(body, { status: response.status, headers: response.headers });
}

class State {
    status = "ready";
    error = undefined;
    constructor(messages) {
        this.messages = messages;
    }
    pushMessage = message => (this.messages = this.messages.concat(message));
    popMessage = () => (this.messages = this.messages.slice(0, -1));
    replaceMessage = (index, message) => (this.messages = this.messages.with(index, this.snapshot(message)));
    snapshot = value => structuredClone(value);
}

class Page extends AbstractChat {
    constructor(id, messages = [], settings = {}) {
        const transport = new DefaultChatTransport({ api: address, fetch: planted ? doubled : fetch });
        const failures = [];
        super({ id, transport, state: new State(messages), onError: error => failures.push(error), ...settings });
        this.failures = failures;
    }

    last = () => this.messages.at(-1);
    text = () => this.last().parts.map(part => part.text ?? "").join("");
    calls = () => this.last().parts.filter(part => part.toolCallId !== undefined);

    /** Waits until the chat has written and sent all. */
    async settled() {
        const end = Date.now() + 20_000;
        for (let quiet = 0; quiet < 5; quiet = this.status === "ready" ? quiet + 1 : 0) {
            assert(Date.now() < end, "the chat is not ready in time");
            await new Promise(resolve => setTimeout(resolve, 20));
            if (this.status === "error") throw this.error;
        }
    }

    /** Compares the messages with the log. */
    async check() {
        await this.settled();
        assert.deepStrictEqual(this.failures, []);
        assert.deepStrictEqual(JSON.parse(JSON.stringify(this.messages)), await saved(this.id));
    }
}

const saved = async id => (await fetch(`${address}/${id}/messages`)).json();

const scenes = {
    async text(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "hello" });
        assert.match(page.text(), /^Hello\. Send me/);
        await page.check();
        await page.sendMessage({ text: "hello again" });
        await page.check();
        assert.strictEqual(page.messages.length, 4);
    },

    async "parallel tools"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "weather" });
        assert.deepStrictEqual(page.calls().map(call => call.output), ["Rome: clear", "Oslo: clear"]);
        await page.check();
    },

    async "progress is no part of the message"(id) {
        const heard = [];
        const page = new Page(id, [], { onData: part => heard.push(part) });
        await page.sendMessage({ text: "weather" });
        const progress = heard.filter(part => part.type === "data-progress");
        assert.deepStrictEqual(progress.map(part => part.data.fraction), [0.5, 0.5]);
        await page.check();
    },

    async "a typed answer, which was invalid at first"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "census" });
        assert.deepStrictEqual(page.calls()[0].output, { name: "Rome", population: 2748109 });
        await page.check();
    },

    async "a failing tool"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "fail" });
        assert.strictEqual(page.calls()[0].state, "output-error");
        assert.match(page.calls()[0].errorText, /no station in Atlantis/);
        await page.check();
    },

    async "approvals allowed and denied"(id) {
        const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
        const page = new Page(id, [], { sendAutomaticallyWhen });
        await page.sendMessage({ text: "twice" });
        await page.check();
        const [first, second] = page.calls().map(call => call.approval.id);
        await page.addToolApprovalResponse({ id: first, approved: true });
        await page.addToolApprovalResponse({ id: second, approved: false, reason: "too expensive" });
        await page.check();
        assert.deepStrictEqual(page.calls().map(call => call.state), ["output-available", "output-denied"]);
        assert.strictEqual(page.calls()[0].output, "Invoice 7 is paid.");
        assert.match(page.text(), /^That is what I know now/);
        assert.strictEqual(page.messages.length, 2);
    },

    async "an approval after a reload"(id) {
        await new Page(id).sendMessage({ text: "pay" });
        const page = new Page(id, await saved(id));
        await page.addToolApprovalResponse({ id: page.calls()[0].approval.id, approved: true });
        await page.sendMessage();
        await page.check();
        assert.strictEqual(page.calls()[0].output, "Invoice 7 is paid.");
    },

    async "an approval that another page has decided"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "pay" });
        const other = new Page(id, await saved(id));
        await other.addToolApprovalResponse({ id: other.calls()[0].approval.id, approved: false });
        await other.sendMessage();
        await page.addToolApprovalResponse({ id: page.calls()[0].approval.id, approved: true });
        await page.sendMessage();
        await page.check();
        assert.strictEqual(page.calls()[0].state, "output-denied");
    },

    async "a page tool"(id) {
        const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithToolCalls;
        const page = new Page(id, [], {
            sendAutomaticallyWhen,
            onToolCall({ toolCall: { toolCallId } }) {
                page.addToolOutput({ tool: "location", toolCallId, output: "Rome" });
            },
        });
        await page.sendMessage({ text: "where" });
        await page.check();
        assert.match(page.text(), /know now: Rome$/);
    },

    async "a stop"(id) {
        const page = new Page(id);
        const answer = page.sendMessage({ text: "slow" });
        while (page.status !== "streaming") await new Promise(resolve => setTimeout(resolve, 5));
        assert.strictEqual((await fetch(`${address}/${id}/stop`, { method: "POST" })).status, 204);
        await answer;
        await page.settled();
        const again = new Page(id, await saved(id));
        await again.sendMessage({ text: "hello" });
        await again.check();
    },

    async "a retry in mid-text"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "retry" });
        assert.match(page.text(), /^Hello\./);
        await page.check();
    },

    async "an answer is written again"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "hello" });
        await page.sendMessage({ text: "weather" });
        await page.regenerate();
        await page.check();
        assert.match(page.last().id, /~2\.answer$/);
        await page.regenerate({ messageId: page.messages[1].id });
        await page.check();
        assert.strictEqual(page.messages.length, 2);
        await page.sendMessage({ text: "hello again" });
        await page.check();
    },

    async "a changed message"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "hello" });
        await page.sendMessage({ text: "weather" });
        await page.sendMessage({ text: "fail", messageId: page.messages[0].id });
        await page.check();
        assert.strictEqual(page.messages.length, 2);
        assert.match(page.calls()[0].errorText, /Atlantis/);
    },

    async "a page tool and an approval at once"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "both" });
        const [where, pay] = page.calls();
        page.addToolOutput({ tool: "location", toolCallId: where.toolCallId, output: "Rome" });
        await page.addToolApprovalResponse({ id: pay.approval.id, approved: true });
        await page.sendMessage();
        await page.check();
        assert.match(page.text(), /know now: Rome Invoice 7 is paid\.$/);
    },

    async "called agents and one that takes over"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "experts" });
        await page.check();
        assert.match(page.calls()[0].output.response, /^one two three four/);
        await page.sendMessage({ text: "clerk" });
        await page.check();
        assert(page.last().parts.some(part => part.type === "data-agent" && part.data.to === "clerk"));
    },

    async "an answer that a guardrail has blocked"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "block" });
        assert.strictEqual(page.text(), "I do not say that.");
        await page.check();
    },

    async "session values"(id) {
        const page = new Page(id);
        await page.sendMessage({ text: "hello" }, { body: { values: { color: "red", secret: "forged" } } });
        assert.deepStrictEqual(await (await fetch(`${address}/${id}/values`)).json(), { color: "red" });
        await page.check();
    },

    async "a reload in mid-stream"(id) {
        const first = new Page(id);
        const answer = first.sendMessage({ text: "slow" });
        while (first.status !== "streaming") await new Promise(resolve => setTimeout(resolve, 5));
        const page = new Page(id, await saved(id));
        await page.resumeStream();
        await answer;
        assert.match(page.text(), /^one two three four (one two three four ){9}$/);
        await page.check();
        await first.check();
        // Nothing runs any more.
        await page.resumeStream();
        await page.check();
    },
};

function checkVersions() {
    const { version } = JSON.parse(readFileSync("node_modules/ai/package.json", "utf8"));
    console.log(`node ${process.version}, ai ${version}`);
    assert.match(version, /^7\./, "the chunks are those of version 7 of `ai`");
    assert(Number(process.versions.node.split(".")[0]) >= 24, "Node 24 or later is needed");
}

/** Compares the list that the tests of the crate read with the package. */
function checkChunks() {
    const source = readFileSync("node_modules/ai/src/ui-message-stream/ui-message-chunks.ts", "utf8");
    const schema = source.slice(0, source.indexOf("export type"));
    const names = [...schema.matchAll(/^ {8}type: z\.literal\('([^']+)'\)/gm)].map(match => match[1]);
    const list = readFileSync(process.env.CHUNKS, "utf8").trim().split("\n");
    assert.deepStrictEqual(names.sort(), list, "tests/data/ai-7-chunks.txt is not the list of the package");
    console.log(`ok: ${list.length} types of chunks`);
}

checkVersions();
checkChunks();
for (const [name, play] of Object.entries(scenes)) {
    if (planted && name !== "text") continue;
    await play(crypto.randomUUID());
    console.log(`ok: ${name}`);
}
