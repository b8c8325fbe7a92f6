#!/usr/bin/env bash
# Installs the SDKs of the providers into a virtual environment: `install.sh FOLDER` prints the path of its Python. Names
# the missing part on the standard error and fails if it cannot.
set -euo pipefail

folder=$1
mkdir -p "$folder"
command -v python3 >/dev/null || { echo "no python3" >&2; exit 1; }
python=$folder/venv/bin/python
if ! "$python" -c 'import openai, anthropic, google.genai, ollama, botocore, cohere, mistralai.client, jsonschema, brotli, yaml' 2>/dev/null; then
    rm -rf "$folder/venv"
    python3 -m venv "$folder/venv" >"$folder/install.log" 2>&1 || { echo "no venv, see $folder/install.log" >&2; exit 1; }
    "$python" -m pip install --quiet openai==3.54.0 anthropic==2.12.0 google-genai==3.4.0 ollama==0.6.3 \
        botocore==1.44.5 cohere==7.3.1 mistralai==3.7.0 jsonschema brotli pyyaml \
        >>"$folder/install.log" 2>&1 || { echo "the SDKs cannot be installed, see $folder/install.log" >&2; exit 1; }
fi
echo "$python"
