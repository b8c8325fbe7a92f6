"""The JSON of the program `toolkit` over published servers; `cli.sh` starts this script.

    cli.py PROGRAM FOLDER [--planted] SERVER…
"""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM, FOLDER = sys.argv[1], Path(sys.argv[2])
PLANTED = "--planted" in sys.argv

# The command of each server, its tools, a call with a part of its result, and the numbers of resources, templates and prompts.
SERVERS = {
    "everything": (
        ["mcp-server-everything"],
        # `simulate-research-query` runs only as a task.
        "echo get-annotated-message get-env get-resource-links get-resource-reference get-structured-content get-sum "
        "get-tiny-image gzip-file-as-resource toggle-simulated-logging toggle-subscriber-updates "
        "trigger-elicitation-request trigger-long-running-operation trigger-url-elicitation",
        ["get-sum", "--a", "20", "--b", "22"],
        "The sum of 20 and 22 is 42.",
        (7, 2, 4),
    ),
    "filesystem": (
        ["mcp-server-filesystem", str(FOLDER)],
        "create_directory directory_tree edit_file get_file_info list_allowed_directories list_directory "
        "list_directory_with_sizes move_file read_file read_media_file read_multiple_files read_text_file search_files write_file",
        ["edit_file", "--path", str(FOLDER / "poem"), "--edits", '[{"oldText": "red", "newText": "blue"}]', "--dryRun"],
        "+violets are blue",
        (0, 0, 0),
    ),
    "memory": (
        ["mcp-server-memory"],
        "add_observations create_entities create_relations delete_entities delete_observations delete_relations open_nodes "
        "read_graph search_nodes",
        ["create_entities", "--entities", '{"name": "Ada", "entityType": "person", "observations": ["wrote notes"]}'],
        '"observations":["wrote notes"]',
        (1, 0, 0),
    ),
    "sequential-thinking": (
        ["mcp-server-sequential-thinking"],
        "sequentialthinking",
        ["sequentialthinking", "--thought", "a", "--nextThoughtNeeded=false", "--thoughtNumber", "1", "--totalThoughts", "1"],
        '"nextThoughtNeeded":false',
        (0, 0, 0),
    ),
    "time": (
        ["mcp-server-time"],
        "convert_time get_current_time",
        ["convert_time", "--source_timezone", "UTC", "--target-timezone", "Asia/Tokyo", "--time", "12:00"],
        '"time_difference":"+9.0h"',
        (0, 0, 0),
    ),
    "git": (
        ["mcp-server-git"],
        "git_add git_branch git_checkout git_commit git_create_branch git_diff git_diff_staged git_diff_unstaged git_log "
        "git_reset git_show git_status",
        ["git_log", "--repo-path", str(FOLDER), "--max_count", "1"],
        "A poem",
        (0, 0, 0),
    ),
}
LISTED = "name namespace title description tags hints deferred disabled tokens".split()
SHOWN = "name title description parameters output disabled tokens apis".split()
APIS = "openai_chat openai_responses anthropic gemini".split()

faults = []


class Server:
    def __init__(self, name):
        self.name = name
        self.command = SERVERS[name][0]

    def expect(self, what, found, expected):
        if found != expected:
            faults.append(f"{self.name}: {what} {found!r}, expected {expected!r}")

    def run(self, *words, text=None):
        """Runs the program over the server. Returns its exit code, and the JSON of each line."""
        own = ["--env", f"MEMORY_FILE_PATH={FOLDER / 'memory'}"]
        command = [PROGRAM, "--timeout", "60", *own, *words, "--", *self.command]
        if PLANTED:
            entry = {"command": self.command[0], "args": self.command[1:], "disabledTools": ["echo"]}
            (FOLDER / "mcp.json").write_text(json.dumps({"mcpServers": {self.name: entry}}))
            command = [PROGRAM, "--config", str(FOLDER / "mcp.json"), *words]
        ran = subprocess.run(command, input=text or "", capture_output=True, text=True)
        try:
            return ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()]
        except ValueError as error:
            faults.append(f"{self.name}: `{' '.join(words)}` writes no JSON: {error}: {ran.stdout[:200]!r} {ran.stderr[:200]!r}")
            return ran.returncode, [{}]

    def check(self):
        _, tools, call, part, (resources, templates, prompts) = SERVERS[self.name]
        lines = ["list", *(f"show {tool}" for tool in tools.split()), f"call {' '.join(quoted(word) for word in call)}"]
        lines += ["resources", "prompts", "call no-such-tool", "check --level error"]
        code, answers = self.run("shell", "--format", "json", text="\n".join(lines))
        self.expect("the exit code of a script with a wrong name is", code, 2)
        # An unknown name has no result.
        self.expect("the number of results is", len(answers), len(lines) - 1)
        listed, *shown, called, offered, prompted, checked = answers
        self.expect("its tools are", " ".join(tool["name"] for tool in listed["tools"]), tools)
        for tool in listed["tools"]:
            self.expect("a listed tool has", list(tool), LISTED)
        self.expect("the tokens of a request are", listed["tokens"], sum(tool["tokens"] for tool in listed["tools"]))
        for tool in shown:
            self.expect("`show` has", list(tool), SHOWN)
            self.expect("the parameters are an", tool["parameters"]["type"], "object")
            self.expect("the APIs are", [api for api in tool["apis"] if api in APIS], APIS)
        self.expect("the members of a result are", list(called), ["tool", "content", "structured"])
        texts = [json.dumps(called["structured"], separators=(",", ":"))]
        texts += [content.get("text", "") for content in called["content"]]
        self.expect(f"the result has {part!r}:", any(part in text for text in texts), True)
        self.expect("resources and templates:", (len(offered["resources"]), len(offered["templates"])), (resources, templates))
        self.expect("prompts:", len(prompted["prompts"]), prompts)
        self.expect("`check` counts", checked["tools"], len(tools.split()))
        # One command has the same answer as the line of a script.
        self.expect("`list` alone is as in a script:", self.run("list", "--format", "json"), (0, [listed]))
        self.expect("without its arguments, a call ends with", self.run("call", call[0], "--format", "json")[0], 2)
        for resource in offered["resources"][:1]:
            code, [read] = self.run("read", resource["uri"], "--format", "json")
            self.expect("`read` ends with", (code, read.get("uri"), len(read.get("content", []))), (0, resource["uri"], 1))
        for prompt in prompted["prompts"][:1]:
            code, [filled] = self.run("prompt", prompt["name"], "--format", "json")
            self.expect("`prompt` ends with", (code, filled.get("prompt")), (0, prompt["name"]))
            self.expect("a message has", list(filled["messages"][0]), ["role", "content"])


def quoted(word):
    return "'" + word + "'"


def git(*words):
    subprocess.run(["git", "-C", str(FOLDER), "-c", "user.name=a", "-c", "user.email=a@example.com", *words], check=True, stdout=subprocess.DEVNULL)


def main():
    (FOLDER / "poem").write_text("violets are red\n")
    if not (FOLDER / ".git").exists():
        git("init", "--quiet")
        git("add", "poem")
        git("commit", "--quiet", "--message", "A poem")
    for name in [word for word in sys.argv[3:] if not word.startswith("--")]:
        before = len(faults)
        Server(name).check()
        for fault in faults[before:]:
            print(f"FAULT {fault}")
        print(f"{name}: {len(SERVERS[name][1].split())} tools, {len(faults) - before} faults", flush=True)
    sys.exit(1 if faults else 0)


main()
