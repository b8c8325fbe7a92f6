"""Our client against published servers. Prints a row for each server, and fails if a fault is ours.

`servers.py ROWS CLIENT CACHE [NAME…]`: ROWS is a file with servers, CLIENT the program `conformance_matrix`. A row that
is in the cache is not measured again.

For each server: a witness that reads the lines itself lists the tools, and calls the harmless ones. Our client must
offer the same tools or name an issue, encode them for each API without an unreported loss, take generated valid
arguments, and fail in no call that succeeds for the witness. A server that answers with the arguments it received
stands in for all other tools: every call must arrive unchanged.
"""

import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import echo
import packages
import schemas
from values import Values
from wire import Peer

HERE = Path(__file__).parent
ECHO = [sys.executable, echo.__file__]
# Limits in seconds: the start of a server, one call, all of one server.
START = 90
CALL = 15
WHOLE = 600
# The values of one tool, and those with which a harmless tool is called.
VALUES = 12
CALLS = 2
# Errors of calls that only we can cause, as the arguments are valid.
OURS = {"not_found", "invalid_json", "invalid_output", "panicked", "denied", "disabled"}
# What our client says about a result that it cannot read.
UNREAD = ("sent an invalid result", "sent a message of more than")


class Row:
    def __init__(self, name, row, client, cache):
        self.name = name
        self.row = row
        self.client = client
        self.folder = cache / "servers" / name
        self.data = cache / "data" / name
        self.faults = []

    def filled(self, value):
        if isinstance(value, str):
            return value.replace("{data}", str(self.data))
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        return value

    def prepare(self):
        if "planted" not in self.row:
            self.folder = packages.install(self.folder, self.row["registry"], self.row["packages"])
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(parents=True)
        self.environment = {"HOME": str(self.data), **self.filled(self.row.get("environment", {}))}
        self.arguments = self.filled(self.row.get("arguments", []))
        if planted := self.row.get("planted"):
            self.command = [*ECHO, *(str(HERE / file) for file in planted)]
        else:
            self.command = [*packages.program(self.folder, self.row["registry"], self.row["program"]), *self.arguments]
        for name, text in self.row.get("files", {}).items():
            (self.data / name).write_text(text)
        if self.row.get("repository"):
            subprocess.run(["git", "init", "--quiet", str(self.data)], check=True)
            author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
            commit = ["commit", "--quiet", "--allow-empty", "-m", "begin"]
            subprocess.run(["git", "-C", str(self.data), *author, *commit], check=True)

    def witness(self):
        """Lists the tools, makes values for them, and calls the harmless ones."""
        with open(self.data.with_suffix(".log"), "w") as log:
            peer = Peer(self.command, self.environment, self.data, log)
            try:
                started = peer.open(START)
                self.version = started["serverInfo"].get("version", "?")
                self.tools = {tool["name"]: tool for tool in peer.tools(START)}
                self.values = {name: Values(tool["inputSchema"], name) for name, tool in self.tools.items()}
                self.valid = {name: values.valid(VALUES) for name, values in self.values.items()}
                self.spoiled = {name: values.spoiled(self.valid[name][:4]) for name, values in self.values.items()}
                listed = set(self.row.get("harmless", []))
                self.faults += [f"no tool {name} to call" for name in listed - self.tools.keys()]
                hinted = {name for name, tool in self.tools.items() if tool.get("annotations", {}).get("readOnlyHint")}
                harmless = [name for name in sorted(listed | hinted) if name in self.tools]
                preferred = self.filled(self.row.get("values", {}))
                self.calls = {
                    name: Values(self.tools[name]["inputSchema"], name, preferred).valid(CALLS) for name in harmless
                }
                self.witnessed = self.answers(peer)
            finally:
                peer.close()

    def answers(self, peer):
        """Returns for each call whether it succeeds for the witness; `None` without an answer."""
        pairs = [(name, value) for name, values in self.calls.items() for value in values]
        outcomes = []
        for start in range(0, len(pairs), 8):
            group = pairs[start : start + 8]
            numbers = [peer.send("tools/call", {"name": name, "arguments": value}) for name, value in group]
            for number in numbers:
                try:
                    answer = peer.answer(number, CALL)
                    outcomes.append("result" in answer and not answer["result"].get("isError", False))
                except TimeoutError:
                    outcomes.append(None)
        return outcomes

    def ours(self, command, environment, checks, calls):
        job = {
            "command": command, "environment": environment, "folder": str(self.data),
            "checks": checks, "calls": calls, "seconds": CALL,
        }
        file = self.data.with_suffix(".job.json")
        file.write_text(json.dumps(job))
        done = subprocess.run([self.client, str(file)], capture_output=True, text=True, timeout=WHOLE)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[-400:] or f"our client ended with {done.returncode}")
        return json.loads(done.stdout)

    def measure(self):
        self.prepare()
        self.witness()
        offered = self.ours(self.command, self.environment, self.valid, self.calls)
        listed = self.data.with_suffix(".tools.json")
        listed.write_text(json.dumps(list(self.tools.values())))
        everything = {name: self.valid[name] for name in offered["tools"] if name in self.valid}
        echoed = self.ours([*ECHO, str(listed)], {}, {}, everything)
        self.compare_tools(offered)
        self.compare_schemas(offered)
        arrived = self.compare_arguments(offered, echoed)
        outcomes = self.compare_calls(offered)
        losses = collections.Counter(
            f"{name} {loss['keyword']}" for name, document in offered["formats"].items() for loss in document["losses"]
        )
        return {
            "server": self.name, "version": self.version, "protocol": offered["server"]["protocol"],
            "tools": len(self.tools), "offered": len(offered["tools"]), "issues": offered["issues"],
            "losses": losses, "arrived": arrived, "calls": outcomes, "faults": self.faults,
            "limits": {name: document["limits"] for name, document in offered["formats"].items() if document["limits"]},
            "renamed": sum(len(document["renamed"]) for document in offered["formats"].values()),
        }

    def compare_tools(self, offered):
        expected = self.row.get("tools")
        if expected is not None and expected != len(self.tools):
            self.faults.append(f"{len(self.tools)} tools, expected {expected}")
        missing = [name for name in self.tools if name not in offered["tools"]]
        unexplained = [name for name in missing if not any(f"`{name}`" in issue for issue in offered["issues"])]
        self.faults += [f"tool {name} is missing without an issue" for name in unexplained]
        self.faults += [f"no valid arguments found for {name}" for name, values in self.valid.items() if not values]
        self.faults += [f"no witness for tool {name}" for name in offered["tools"] if name not in self.tools]

    def compare_schemas(self, offered):
        # Most APIs get one schema of a tool, so each is compared once.
        compared = {}
        for form, document in offered["formats"].items():
            found = schemas.definitions(document["definitions"])
            if len(found) != len(offered["tools"]):
                self.faults.append(f"{form}: {len(found)} definitions of {len(offered['tools'])} tools")
                continue
            for name, (_, schema) in zip(offered["tools"], found):
                if name not in self.tools or any(loss["tool"] == name for loss in document["losses"]):
                    continue
                spellings = {item["name"]: item["spelling"] for item in document["renamed"] if item["tool"] == name}
                key = json.dumps([name, form == "gemini", schema, spellings])
                if key not in compared:
                    compared[key] = schemas.differences(form, schema, spellings, self.valid[name], self.spoiled[name])
                self.faults += [f"{form}: {name} {difference}" for difference in compared[key]]

    def compare_arguments(self, offered, echoed):
        refused = [call for call in offered["refused"] if call["tool"] in offered["tools"]]
        self.faults += [f"valid arguments refused: {call}" for call in refused]
        arrived = 0
        for call in echoed["calls"]:
            text = call["result"].get("text")
            if text is None or json.loads(text) != call["arguments"]:
                self.faults.append(f"arguments changed: {call}")
            arrived += 1
        return arrived

    def compare_calls(self, offered):
        outcomes = collections.Counter()
        for call, witnessed in zip(offered["calls"], self.witnessed, strict=True):
            error = call["result"].get("error")
            if error is None:
                outcomes["ok"] += 1
            elif witnessed or error["kind"] in OURS or any(text in error["message"] for text in UNREAD):
                # A call that the witness could make, and that we could not, is a fault of ours, too.
                outcomes["ours"] += 1
                self.faults.append(f"call failed: {call}")
            else:
                outcomes[f"server: {error['kind']}"] += 1
        return outcomes


def printed(result):
    if "error" in result:
        return f"{result['server']:<18} NOT MEASURED: {result['error'].splitlines()[-1][:120]}"
    calls = collections.Counter(result["calls"])
    servers = sum(count for kind, count in calls.items() if kind.startswith("server"))
    losses = sum(result["losses"].values())
    return (
        f"{result['server']:<18} {result['version'][:14]:<14} {result['protocol']:<11}{result['tools']:>5}"
        f"{result['offered']:>8}{len(result['issues']):>8}{losses:>8}{result['arrived']:>9}"
        f"{calls['ok']:>6}{servers:>8}{calls['ours']:>6}{len(result['faults']):>8}"
    )


def summary(results):
    measured = [result for result in results if "error" not in result]
    total = lambda field: sum(field(result) for result in measured)
    calls = sum((collections.Counter(result["calls"]) for result in measured), collections.Counter())
    losses = sum((collections.Counter(result["losses"]) for result in measured), collections.Counter())
    print(
        f"\n{len(measured)} of {len(results)} servers, {total(lambda row: row['tools'])} tools, "
        f"{total(lambda row: row['offered'])} offered, {total(lambda row: len(row['issues']))} issues, "
        f"{total(lambda row: row['arrived'])} calls with generated arguments arrived, "
        f"{total(lambda row: row['renamed'])} parameters in another spelling"
    )
    print("calls:", ", ".join(f"{kind} {count}" for kind, count in calls.most_common()) or "none")
    print("losses:", ", ".join(f"{kind} {count}" for kind, count in losses.most_common()) or "none")


def main():
    rows, client, cache, *wanted = sys.argv[1:]
    rows, cache = json.loads(Path(rows).read_text()), Path(cache)
    results = cache / "results"
    results.mkdir(parents=True, exist_ok=True)
    print(
        f"{'server':<18} {'version':<14} {'protocol':<11}{'tools':>5}{'offered':>8}{'issues':>8}{'losses':>8}"
        f"{'arrived':>9}{'ok':>6}{'server':>8}{'ours':>6}{'faults':>8}"
    )
    table = []
    for name, row in rows.items():
        if wanted and name not in wanted:
            continue
        file = results / f"{name}.json"
        if file.exists():
            result = json.loads(file.read_text())
        else:
            try:
                result = Row(name, row, client, cache).measure()
            except (RuntimeError, TimeoutError, OSError, subprocess.SubprocessError) as error:
                result = {"server": name, "error": str(error) or repr(error)}
            file.write_text(json.dumps(result, indent=1))
        print(printed(result), flush=True)
        for fault in result.get("faults", [])[:5]:
            print(f"    FAULT {fault[:400]}", flush=True)
        table.append(result)
    summary(table)
    # What cannot be started here is named above; with a name given, it is a fault.
    failed = any(result.get("faults") or ("error" in result and os.environ.get("MATRIX_ALL")) for result in table)
    sys.exit(failed)


main()
