"""One client stack of Python against one server: connects, lists the tools, and makes four calls.

`stacks.py STACK MODE URL` or `stacks.py STACK MODE COMMAND ARGUMENT…` prints a JSON document: what the list has, and for each call
whether it failed, its text and its kinds of content. Each stack is used as its documentation shows it.
"""

import asyncio
import contextlib
import json
import sys

CALLS = {
    "right": ("test_custom_header", {"region": "north"}),
    "wrong": ("test_custom_header", {}),
    "image": ("test_image_content", {}),
    "error": ("test_error_handling", {}),
}


def contents(items):
    """Returns the text and the kinds of contents, as objects or dictionaries of any of the SDKs."""
    texts, kinds = [], []
    for item in items:
        fields = item if isinstance(item, dict) else {name: getattr(item, name) for name in dir(item) if name in FIELDS}
        kind = fields.get("type") or next((name for name in fields if name in ("text", "image")), type(item).__name__)
        kinds.append(str(kind))
        texts.append(str(fields.get("text") or ""))
    return " ".join(texts), " ".join(kinds)


FIELDS = ("type", "text")


def outcome(result):
    """Returns the outcome of a call whose result is that of the protocol."""
    failed = getattr(result, "is_error", None)
    text, kinds = contents(result.content)
    return {"failed": bool(getattr(result, "isError", False) if failed is None else failed), "text": text, "kinds": kinds}


def described(value):
    """Returns the outcome of a call that raises its errors."""
    items = value if isinstance(value, list) else [value]
    text, kinds = contents(items)
    return {"failed": False, "text": text.strip() or str(value), "kinds": f"{kinds} {type(items[0]).__name__ if items else ''}"}


def stdio_parameters(target):
    from mcp import StdioServerParameters

    return StdioServerParameters(command=target[0], args=target[1:])


@contextlib.asynccontextmanager
async def python_sdk_1(target, mode):
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client

    transport = streamablehttp_client(target) if isinstance(target, str) else stdio_client(stdio_parameters(target))
    async with transport as (read, write, *_), ClientSession(read, write) as session:
        started = await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]

        async def call(name, arguments):
            return outcome(await session.call_tool(name, arguments))

        yield started.protocolVersion, names, call


@contextlib.asynccontextmanager
async def python_sdk_2(target, mode):
    from mcp import Client

    server = target if isinstance(target, str) else stdio_parameters(target)
    async with Client(server, mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]

        async def call(name, arguments):
            return outcome(await client.call_tool(name, arguments))

        yield client.protocol_version, names, call


@contextlib.asynccontextmanager
async def fastmcp(target, mode):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async with Client(target if isinstance(target, str) else StdioTransport(target[0], target[1:])) as client:
        names = [tool.name for tool in await client.list_tools()]

        async def call(name, arguments):
            return outcome(await client.call_tool(name, arguments, raise_on_error=False))

        yield getattr(client, "protocol_version", None), names, call


@contextlib.asynccontextmanager
async def langchain(target, mode):
    from langchain_mcp_adapters.client import MultiServerMCPClient

    if isinstance(target, str):
        server = {"transport": "streamable_http", "url": target}
    else:
        server = {"transport": "stdio", "command": target[0], "args": target[1:]}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"server": server}).get_tools()}

    async def call(name, arguments):
        return described(await tools[name].ainvoke(arguments))

    yield None, list(tools), call


@contextlib.asynccontextmanager
async def pydantic_ai(target, mode):
    from pydantic_ai.mcp import MCPToolset

    if not isinstance(target, str):
        from fastmcp.client.transports import StdioTransport

        target = StdioTransport(target[0], target[1:])
    async with MCPToolset(target) as toolset:
        names = [tool.name for tool in await toolset.list_tools()]

        async def call(name, arguments):
            return described(await toolset.direct_call_tool(name, arguments))

        yield None, names, call


@contextlib.asynccontextmanager
async def openai_agents(target, mode):
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    if isinstance(target, str):
        server = MCPServerStreamableHttp(params={"url": target}, client_session_timeout_seconds=30)
    else:
        parameters = {"command": target[0], "args": target[1:]}
        server = MCPServerStdio(params=parameters, client_session_timeout_seconds=30)
    async with server:
        names = [tool.name for tool in await server.list_tools()]

        async def call(name, arguments):
            return outcome(await server.call_tool(name, arguments))

        yield None, names, call


@contextlib.asynccontextmanager
async def google_adk(target, mode):
    from google.adk.tools.mcp_tool import McpToolset
    from google.adk.tools.mcp_tool import StdioConnectionParams, StreamableHTTPConnectionParams
    from google.genai import types

    if isinstance(target, str):
        parameters = StreamableHTTPConnectionParams(url=target, timeout=30)
    else:
        parameters = StdioConnectionParams(server_params=stdio_parameters(target), timeout=30)
    toolset = McpToolset(connection_params=parameters)
    tools = {tool.name: tool for tool in await toolset.get_tools()}
    # What the agent sends to the model.
    for tool in tools.values():
        assert isinstance(tool._get_declaration(), types.FunctionDeclaration)

    async def call(name, arguments):
        result = await tools[name]._run_async_impl(args=arguments, tool_context=None, credential=None)
        text, kinds = contents(result.get("content", []))
        return {"failed": bool(result.get("isError") or result.get("is_error")), "text": text, "kinds": kinds}

    yield None, list(tools), call
    await toolset.close()


@contextlib.asynccontextmanager
async def llama_index(target, mode):
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    client = BasicMCPClient(target) if isinstance(target, str) else BasicMCPClient(target[0], args=target[1:])
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client).to_tool_list_async()}

    async def call(name, arguments):
        return outcome((await tools[name].acall(**arguments)).raw_output)

    yield None, list(tools), call


@contextlib.asynccontextmanager
async def semantic_kernel(target, mode):
    from semantic_kernel import Kernel
    from semantic_kernel.connectors.mcp import MCPStdioPlugin, MCPStreamableHttpPlugin

    if isinstance(target, str):
        plugin = MCPStreamableHttpPlugin(name="server", url=target, load_prompts=False)
    else:
        plugin = MCPStdioPlugin(name="server", command=target[0], args=target[1:], load_prompts=False)
    async with plugin:
        functions = Kernel().add_plugin(plugin).functions

        async def call(name, arguments):
            return described(await plugin.call_tool(name, **arguments))

        yield None, [name for name in functions], call


@contextlib.asynccontextmanager
async def smolagents(target, mode):
    from smolagents import MCPClient

    server = {"url": target, "transport": "streamable-http"} if isinstance(target, str) else stdio_parameters(target)
    with MCPClient(server, structured_output=True) as tools:
        tools = {tool.name: tool for tool in tools}

        async def call(name, arguments):
            return described(tools[name](**arguments))

        yield None, list(tools), call


@contextlib.asynccontextmanager
async def haystack(target, mode):
    from haystack_integrations.tools.mcp import MCPToolset, StdioServerInfo, StreamableHttpServerInfo

    if isinstance(target, str):
        server = StreamableHttpServerInfo(url=target)
    else:
        server = StdioServerInfo(command=target[0], args=target[1:])
    toolset = MCPToolset(server_info=server, eager_connect=True)
    tools = {tool.name: tool for tool in toolset.tools}

    async def call(name, arguments):
        # The result is the JSON of the protocol's result.
        result = tools[name].invoke(**arguments)
        result = json.loads(result) if isinstance(result, str) and result.startswith("{") else result
        if not isinstance(result, dict):
            return described(result)
        text, kinds = contents(result.get("content", []))
        return {"failed": bool(result.get("isError")), "text": text or str(result), "kinds": kinds}

    yield None, list(tools), call
    toolset.close()


@contextlib.asynccontextmanager
async def mcp_use(target, mode):
    from mcp_use import MCPClient

    server = {"url": target} if isinstance(target, str) else {"command": target[0], "args": target[1:]}
    client = MCPClient.from_dict({"mcpServers": {"server": server}})
    session = await client.create_session("server")
    names = [tool.name for tool in await session.list_tools()]

    async def call(name, arguments):
        return outcome(await session.call_tool(name, arguments))

    yield None, names, call
    await client.close_all_sessions()


@contextlib.asynccontextmanager
async def strands(target, mode):
    from mcp.client.stdio import stdio_client
    from strands.tools.mcp import MCPClient

    if isinstance(target, str):
        from mcp.client.streamable_http import streamable_http_client

        transport = lambda: streamable_http_client(target)
    else:
        transport = lambda: stdio_client(stdio_parameters(target))
    with MCPClient(transport) as client:
        names = [tool.tool_name for tool in client.list_tools_sync()]

        async def call(name, arguments):
            result = await client.call_tool_async(tool_use_id="1", name=name, arguments=arguments)
            text, kinds = contents(result["content"])
            return {"failed": result["status"] == "error", "text": text, "kinds": kinds}

        yield None, names, call


async def main():
    stack, mode, *target = sys.argv[1:]
    target = target[0] if target[0].startswith("http") else target
    async with globals()[stack](target, mode) as (protocol, names, call):
        document = {"protocol": protocol, "tools": names}
        for step, (name, arguments) in CALLS.items():
            try:
                document[step] = await call(name, arguments)
            except Exception as error:
                document[step] = {"failed": True, "text": f"{type(error).__name__}: {error} {error.__cause__ or ''}", "kinds": ""}
        print("\nDOCUMENT " + json.dumps(document), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
