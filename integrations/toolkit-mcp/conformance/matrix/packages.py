"""Installs packages of PyPI and npm, each set into a folder of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Programs that packages would download at installation: none of them comes from a registry.
ENVIRONMENT = {"PUPPETEER_SKIP_DOWNLOAD": "1", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}


def run(command, folder, limit):
    environment = os.environ | ENVIRONMENT
    done = subprocess.run(
        command, cwd=folder, env=environment, timeout=limit, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError("\n".join(lines[-6:]) or f"exit status {done.returncode}")


def install(folder: Path, registry: str, packages: list[str], limit=600) -> Path:
    """Installs the packages, unless the folder has them already, and returns the folder that has them. Raises `RuntimeError`
    with the last lines of the output. `MATRIX_LOCKED` names a folder that has all packages already."""
    if locked := os.environ.get("MATRIX_LOCKED"):
        return Path(locked)
    stamp = folder / "installed.json"
    if stamp.exists() and json.loads(stamp.read_text()) == packages:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        if registry == "npm":
            npm = [os.environ["MATRIX_NODE"], os.environ["MATRIX_NPM"]]
            # No scripts of packages run here; what a server needs from them is not in the registry.
            flags = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
            run([*npm, "install", *flags, *packages], folder, limit)
        else:
            uv = os.environ["MATRIX_UV"]
            run([uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv")], folder, limit)
            python = str(folder / "venv/bin/python")
            run([uv, "pip", "install", "--quiet", "--python", python, *packages], folder, limit)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the installation took more than {limit} s") from None
    stamp.write_text(json.dumps(packages))
    return folder


def program(folder: Path, registry: str, name: str) -> list[str]:
    """Returns the command of an installed program, by the name of its executable."""
    if registry == "npm":
        return [os.environ["MATRIX_NODE"], str((folder / "node_modules/.bin" / name).resolve())]
    return [str(folder / "venv/bin" / name)]
