// One client stack of JavaScript against one server, like `stacks.py`: `stacks.mjs FOLDER STACK MODE TARGET…`. FOLDER has the
// packages of the stack.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, stack, mode, ...target] = process.argv.slice(2);
const isUrl = target[0].startsWith("http");
const [command, ...args] = target;

const require = createRequire(pathToFileURL(`${folder}/package.json`));
const load = async (name) => {
  const module = await import(pathToFileURL(require.resolve(name)));
  return module.default && !module.Client ? { ...module.default, ...module } : module;
};

const contents = (items) => ({
  text: items.map((item) => item.text ?? "").join(" "),
  kinds: items.map((item) => item.type ?? typeof item).join(" "),
});
const outcome = (result) => ({ failed: Boolean(result.isError), ...contents(result.content ?? []) });

const stacks = {
  async typescript_sdk_1() {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client({ name: "matrix", version: "1" });
    const transport = isUrl ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args });
    await client.connect(transport);
    return {
      protocol: transport.protocolVersion ?? null,
      names: (await client.listTools()).tools.map((tool) => tool.name),
      call: async (name, values) => outcome(await client.callTool({ name, arguments: values })),
      close: () => client.close(),
    };
  },
  async typescript_client_2() {
    const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
    const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
    const client = new Client({ name: "matrix", version: "1" }, { versionNegotiation: { mode } });
    const transport = isUrl ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args });
    await client.connect(transport);
    return {
      protocol: client.getNegotiatedProtocolVersion?.() ?? null,
      names: (await client.listTools()).tools.map((tool) => tool.name),
      call: async (name, values) => outcome(await client.callTool({ name, arguments: values })),
      close: () => client.close(),
    };
  },
  async langchain() {
    const { MultiServerMCPClient } = await load("@langchain/mcp-adapters");
    const server = isUrl ? { transport: "http", url: command } : { transport: "stdio", command, args };
    const client = new MultiServerMCPClient({ mcpServers: { server } });
    const tools = new Map((await client.getTools()).map((tool) => [tool.name, tool]));
    const described = (result) => (Array.isArray(result) ? contents(result) : { text: String(result), kinds: "" });
    return {
      names: [...tools.keys()],
      call: async (name, values) => ({ failed: false, ...described(await tools.get(name).invoke(values)) }),
      close: () => client.close(),
    };
  },
  async ai_sdk() {
    const { createMCPClient } = await load("@ai-sdk/mcp");
    let transport = { type: "http", url: command };
    if (!isUrl) {
      const { Experimental_StdioMCPTransport, StdioMCPTransport } = await load("@ai-sdk/mcp/mcp-stdio");
      transport = new (StdioMCPTransport ?? Experimental_StdioMCPTransport)({ command, args });
    }
    const client = await createMCPClient({ transport });
    const tools = await client.tools();
    return {
      names: Object.keys(tools),
      call: async (name, values) => outcome(await tools[name].execute(values, { toolCallId: "1", messages: [] })),
      close: () => client.close(),
    };
  },
  async mastra() {
    const { MCPClient } = await load("@mastra/mcp");
    const client = new MCPClient({ servers: { server: isUrl ? { url: new URL(command) } : { command, args } } });
    const tools = await client.listTools();
    const described = (result) => {
      if (result?.error || result?.validationErrors) return { failed: true, text: JSON.stringify(result), kinds: "" };
      return result?.content ? outcome(result) : { failed: false, text: JSON.stringify(result), kinds: JSON.stringify(result) };
    };
    return {
      names: Object.keys(tools).map((name) => name.replace(/^server_/, "")),
      call: async (name, values) => described(await tools[`server_${name}`].execute(values, {})),
      close: () => client.disconnect(),
    };
  },
};

const calls = {
  right: ["test_custom_header", { region: "north" }],
  wrong: ["test_custom_header", {}],
  image: ["test_image_content", {}],
  error: ["test_error_handling", {}],
};
const { protocol, names, call, close } = await stacks[stack]();
const document = { protocol: protocol ?? null, tools: names };
for (const [step, [name, values]] of Object.entries(calls)) {
  try {
    document[step] = await call(name, values);
  } catch (error) {
    document[step] = { failed: true, text: `${error?.name}: ${error?.message}`, kinds: "" };
  }
}
console.log(`\nDOCUMENT ${JSON.stringify(document)}`);
await close();
process.exit(0);
