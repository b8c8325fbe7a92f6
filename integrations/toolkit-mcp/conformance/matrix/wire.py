"""A client that reads and writes the lines of the protocol itself, as a witness beside our client."""

import json
import os
import queue
import signal
import subprocess
import threading
import time

# What the children get: nothing of the program that starts them.
PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")


class Peer:
    """A server as a child process."""

    def __init__(self, command, environment, folder, log):
        own = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.process = subprocess.Popen(
            command, cwd=folder, env=own | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            text=True, start_new_session=True,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.answers = {}
        self.last_id = 0

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, method, params=None, answered=True):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if answered:
            self.last_id += 1
            message["id"] = self.last_id
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return self.last_id

    def answer(self, number, seconds):
        """Returns the answer to a request, or raises `TimeoutError`."""
        end = time.monotonic() + seconds
        while number not in self.answers:
            try:
                line = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(f"no answer within {seconds} s") from None
            if line is None:
                raise RuntimeError(f"the server ended with status {self.process.wait(5)}")
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if not isinstance(message, dict) or "id" not in message:
                continue
            if "method" in message:
                declined = {"action": "decline"} if message["method"] == "elicitation/create" else {}
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": declined}
                self.process.stdin.write(json.dumps(answer) + "\n")
                self.process.stdin.flush()
            else:
                self.answers[message["id"]] = message
        return self.answers.pop(number)

    def result(self, method, params, seconds):
        answer = self.answer(self.send(method, params), seconds)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, seconds):
        """Runs the handshake, and returns what the server says about itself."""
        client = {"name": "matrix", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}, "url": {}}}, "clientInfo": client}
        started = self.result("initialize", params, seconds)
        self.send("notifications/initialized", answered=False)
        return started

    def tools(self, seconds):
        tools, cursor = [], None
        while True:
            page = self.result("tools/list", {"cursor": cursor} if cursor else {}, seconds)
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return tools

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(2)
        except (OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(5)
