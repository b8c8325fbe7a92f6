#!/usr/bin/env bash
# Holds what the library writes for each provider against the types of the providers' own SDKs, and the calls that
# it reads in recorded responses against the calls that the SDKs read.
#
# Needs Python with venv and the package index. Names the missing part and fails if it
# cannot run. TOOLKIT_BFCL and TOOLKIT_VECTORS name folders with more questions and rows than those of the tests.
# TOOLKIT_RECORDINGS=all replays the recordings of all packages instead of three.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

checker=tests/sdk/sdk_check.py
questions=${TOOLKIT_BFCL:-tests/data/bfcl}
vectors=${TOOLKIT_VECTORS:-tests/data/vectors}
folder=${CARGO_TARGET_DIR:-target}/sdk-check
mkdir -p "$folder"

python=$(tests/sdk/install.sh "$folder") || skip "see above"

rm -rf "$folder/documents"
mkdir -p "$folder/documents"
cargo build --quiet --workspace --all-features --example wire_dump
dump=${CARGO_TARGET_DIR:-target}/debug/examples/wire_dump

"$dump" >"$folder/documents/own.json"
"$dump" --strict >"$folder/documents/own_strict.json"
"$dump" --hosted >"$folder/documents/own_hosted.json"
"$dump" --json-schema >"$folder/documents/own_json_schema.json"
"$dump" --standard >"$folder/documents/own_standard.json"

"$python" tests/sdk/vectors.py "$vectors" >"$folder/vectors.jsonl"
lines=("$folder/vectors.jsonl" "$questions"/*.jsonl)
for file in "${lines[@]}"; do
    "$dump" "$file" "$folder/documents/plain"
    "$dump" --strict "$file" "$folder/documents/strict"
done

mapfile -t documents < <(find "$folder/documents" -name '*.json' | sort)
if "$python" "$checker" "${documents[@]}" >"$folder/report.txt" 2>&1; then
    echo "sdk check: ${#documents[@]} documents, 0 errors"
else
    grep -v '^ok' "$folder/report.txt" | head -60
    echo "sdk check: $(grep -c '^FAIL' "$folder/report.txt" || true) of ${#documents[@]} documents with errors"
    exit 1
fi

if "$python" tests/sdk/unions.py "$dump" "$folder" >"$folder/unions.txt" 2>&1; then
    tail -1 "$folder/unions.txt"
else
    tail -40 "$folder/unions.txt"
    exit 1
fi

size=()
[ "${TOOLKIT_RECORDINGS:-}" != all ] || size=(--all)
status=0
"$python" tests/sdk/replay.py "$dump" "$folder/recordings" "${size[@]}" >"$folder/replay.txt" 2>&1 || status=$?
case $status in
0) tail -1 "$folder/replay.txt" ;;
3) skip "the recordings cannot be downloaded, see $folder/replay.txt" ;;
*)
    grep '^FAULT' "$folder/replay.txt" | cut -c-300 | head -40 || tail "$folder/replay.txt"
    tail -1 "$folder/replay.txt"
    exit 1
    ;;
esac
