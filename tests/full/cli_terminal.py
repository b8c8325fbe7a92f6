"""The terminal of the programs of `toolkit-cli`, as the README of the crate shows it; `cli.sh` starts this script.

    cli_terminal.py PROGRAM EXAMPLES FOLDER [--print]

Runs each command in a terminal of 80 or 40 columns, types the answers, and looks for all of it in the README.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

TOOLKIT, EXAMPLES, FOLDER = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).resolve()
WEATHER, ALMANAC = str(EXAMPLES / "weather_cli"), str(EXAMPLES / "almanac")
README = Path("integrations/toolkit-cli/README.md")
LIMIT = 30
INTERRUPT = "\x03"

# The columns, a command as the README shows it, and what is typed, each after a text on the screen.
SESSIONS = [
    (40, "weather list", []),
    (40, "weather show weather-forecast", []),
    (80, "weather call weather-forecast --city Rome --days 2", []),
    (80, "weather call alarm --city Rome", [("[y/N]", "y\n")]),
    (80, "weather install cursor --file mcp.json", [("[y/N]", "y\n")]),
    (80, "weather chat", [("you>", "Try everything.\n"), ("[y/N]", "n\n"), ("you>", "/exit\n")]),
    (80, "toolkit shell -- weather serve mcp", [(">", "call weather-forecast --city Oslo\n"), ("}\r\n>", "exit\n")]),
    (80, "almanac chat", [("you>", "please wait\n"), ("wait\r\n", INTERRUPT), ("you>", "hello\n"), ("you>", "/exit\n")]),
]


def screen(columns, command, typed):
    """Returns what the terminal shows of a command."""
    words = [{"weather": WEATHER, "toolkit": TOOLKIT, "almanac": ALMANAC}.get(word, word) for word in command.split()]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(FOLDER)
        os.environ.update(HOME=str(FOLDER), TERM="xterm")
        # The size is that of the program's own terminal from its first line on.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execv(words[0], words)
    shown, seen, ends = b"", 0, time.monotonic() + LIMIT
    waiting = list(typed)
    while True:
        if not select.select([terminal], [], [], max(0, ends - time.monotonic()))[0]:
            os.kill(child, signal.SIGKILL)
            shown += b"\n(it has not ended)\n"
            break
        try:
            read = os.read(terminal, 4096)
        except OSError:
            break
        shown += read
        if waiting and waiting[0][0].encode() in shown[seen:]:
            seen = len(shown)
            answer = waiting.pop(0)[1]
            # The program reads after it has written.
            time.sleep(0.5)
            os.write(terminal, answer.encode())
    os.waitpid(child, 0)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()).replace("\r\n", "\n").replace(WEATHER, "/usr/local/bin/weather")
    return "\n".join([f"$ {command}", *(line.rstrip() for line in text.splitlines())])


def main():
    readme = README.read_text()
    faults = 0
    for columns, command, typed in SESSIONS:
        shown = screen(columns, command, typed)
        if "--print" in sys.argv:
            print(shown)
        elif shown not in readme:
            faults += 1
            print(f"FAULT in {columns} columns, the README does not show:\n{shown}")
    print(f"terminal: {len(SESSIONS)} sessions, {faults} faults")
    sys.exit(1 if faults else 0)


main()
