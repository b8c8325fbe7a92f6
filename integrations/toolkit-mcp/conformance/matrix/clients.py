"""Client stacks against our server. Prints a row for each stack, transport and mode, and fails if one does not pass.

`clients.py ROWS SERVER CACHE [NAME…]`: ROWS is a file with stacks, SERVER the program `conformance_server`. A row that
passed and is in the cache is not measured again.

Each stack connects, lists the tools, and calls: with right arguments, without a required one (the error must name it), for an
image, and a tool that fails.
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import packages
import stacks
from wire import Peer

HERE = Path(__file__).parent
LIMIT = 120
STEPS = ("list", "right", "wrong", "image", "error")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Served:
    """A process that listens on a port, for the time of a `with` block."""

    def __init__(self, command, port, log):
        self.port = port
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
        )

    def __enter__(self):
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            os.killpg(self.process.pid, 15)
            self.process.wait(3)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait(3)


def judged(document, expected):
    """Returns what a stack could do: each step, and `None` or what is wrong."""
    right, wrong, image, error = (document[step] for step in STEPS[1:])
    missing = sorted(set(expected) - set(document["tools"]))
    kinds = image["kinds"].lower() + image["text"][:200].lower()
    return {
        "list": f"missing {missing}" if missing else None,
        "right": None if not right["failed"] and "north" in right["text"] else right,
        # Some stacks check arguments themselves, and do not name the one that is missing.
        "wrong": None if wrong["failed"] or "region" in wrong["text"] else wrong,
        "image": None if not image["failed"] and ("image" in kinds or "png" in kinds) else image,
        "error": None if "intentionally returns an error" in error["text"] else error,
    }


class Matrix:
    def __init__(self, server, cache):
        self.server = server
        self.cache = cache
        self.expected = self.listed()

    def listed(self):
        """Returns the tools, as a witness reads them."""
        with open(self.cache / "server.log", "a") as log:
            peer = Peer([self.server], {}, self.cache, log)
            try:
                peer.open(LIMIT)
                return [tool["name"] for tool in peer.tools(LIMIT)]
            finally:
                peer.close()

    def run(self, row, folder, mode, target):
        if row["registry"] == "npm":
            command = [os.environ["MATRIX_NODE"], str(HERE / "stacks.mjs"), str(folder), row["client"], mode]
        elif row["registry"] == "pypi":
            command = [str(folder / "venv/bin/python"), stacks.__file__, row["client"], mode]
        else:
            command = [os.environ[row["client"]], "client"]
        try:
            done = subprocess.run(
                [*command, *target], capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no end within {LIMIT} s"}
        lines = [line for line in done.stdout.splitlines() if line.startswith("DOCUMENT ")]
        if not lines:
            return {"error": (done.stderr or done.stdout).strip()[-600:] or f"exit status {done.returncode}"}
        document = json.loads(lines[-1].removeprefix("DOCUMENT "))
        return {"protocol": document["protocol"], "steps": judged(document, self.expected)}

    def measure(self, name, row):
        """Yields a result for each transport and mode."""
        folder = self.cache / "clients" / name
        if row["registry"] != "here":
            folder = packages.install(folder, row["registry"], row["packages"])
        port = free_port()
        with open(self.cache / "server.log", "a") as log, Served([self.server, f"127.0.0.1:{port}"], port, log):
            for transport in row.get("transports", ["stdio", "HTTP"]):
                for mode in row.get("modes", ["auto"]):
                    target = [self.server] if transport == "stdio" else [f"http://127.0.0.1:{port}/mcp"]
                    label = f"{transport}, {mode}" if "modes" in row else transport
                    yield label, self.run(row, folder, mode, target)

    def measure_bridge(self, name, row, witness, witness_folder):
        """Yields a result for a client that reaches the server through a bridge."""
        folder = packages.install(self.cache / "clients" / name, row["registry"], row["packages"])
        server_port, bridge_port = free_port(), free_port()
        names = {"{server}": self.server, "{url}": f"http://127.0.0.1:{server_port}/mcp", "{port}": str(bridge_port)}
        filled = [names.get(argument, argument) for argument in row["arguments"]]
        command = [*packages.program(folder, row["registry"], row["program"]), *filled]
        with open(self.cache / "server.log", "a") as log, Served([self.server, f"127.0.0.1:{server_port}"], server_port, log):
            if "path" not in row:
                yield "stdio to HTTP", self.run(witness, witness_folder, "auto", command)
                return
            with Served(command, bridge_port, log):
                url = f"http://127.0.0.1:{bridge_port}{row['path']}"
                yield "HTTP to stdio", self.run(witness, witness_folder, "auto", [url])


def printed(name, label, result):
    if "error" in result:
        return f"{name:<28}{label:<15} FAILED: {result['error'].splitlines()[-1][:160]}"
    steps = "".join(f"{'no' if result['steps'][step] else 'yes':<7}" for step in STEPS)
    return f"{name:<28}{label:<15}{result['protocol'] or '':<12}{steps}"


def main():
    rows, server, cache, *wanted = sys.argv[1:]
    rows, cache = json.loads(Path(rows).read_text()), Path(cache)
    results = cache / "client-results"
    results.mkdir(parents=True, exist_ok=True)
    matrix = Matrix(server, cache)
    print(f"{'client':<28}{'transport':<15}{'protocol':<12}" + "".join(f"{step:<7}" for step in STEPS))
    passed = failed = 0
    for name, row in rows.items():
        if wanted and name not in wanted:
            continue
        file = results / f"{name.replace('/', '-')}.json"
        found = json.loads(file.read_text()) if file.exists() else None
        if found is None:
            try:
                if "bridge" in row:
                    witness = rows[row["bridge"]]
                    folder = cache / "clients" / row["bridge"]
                    folder = packages.install(folder, witness["registry"], witness["packages"])
                    found = dict(matrix.measure_bridge(name, row, witness, folder))
                else:
                    found = dict(matrix.measure(name, row))
            except (RuntimeError, OSError) as error:
                found = {"": {"error": str(error)}}
        for label, result in found.items():
            # What a stack itself cannot do is named in its row, with the reason.
            excused = row.get("excused", {})
            faults = {step for step, fault in result.get("steps", {}).items() if fault} - excused.keys()
            print(printed(name, label, result), flush=True)
            for step, fault in result.get("steps", {}).items():
                if fault:
                    print(f"    {step}: {excused.get(step) or str(fault)[:300]}", flush=True)
            passed += not faults and "error" not in result
            failed += bool(faults) or "error" in result
        if not any("error" in result or any(result["steps"].values()) for result in found.values()):
            # A row that fails is measured again.
            file.write_text(json.dumps(found, indent=1))
    print(f"\n{passed} rows passed, {failed} failed")
    sys.exit(failed > 0)


main()
