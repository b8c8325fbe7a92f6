"""A server that lists the tools of a file and answers each call with the arguments that it received."""

import json
import sys

with open(sys.argv[1]) as file:
    # Without an output schema, a text is a valid result of every tool.
    tools = [{name: field for name, field in tool.items() if name != "outputSchema"} for tool in json.load(file)]

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    match message.get("method"):
        case "initialize":
            server = {"name": "echo", "version": "1"}
            capabilities = {"tools": {}}
            answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": server}
        case "tools/list":
            answer["result"] = {"tools": tools}
        case "tools/call":
            text = json.dumps(message["params"].get("arguments"))
            answer["result"] = {"content": [{"type": "text", "text": text}]}
        case "ping":
            answer["result"] = {}
        case method:
            answer["error"] = {"code": -32601, "message": f"no method {method}"}
    print(json.dumps(answer), flush=True)
