#!/usr/bin/env bash
# Chaos in a fleet of workers and callers on this machine, with real servers: prints a table, and fails if an invariant
# is broken. 100,000 calls, or some hundred with `--small`. Needs `nats-server` (TOOLKIT_NATS_SERVER or PATH) and
# PostgreSQL.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

calls=9000
large=60
if [ "${1:-}" = --small ]; then calls=200 large=20; fi

NATS_SERVER=${TOOLKIT_NATS_SERVER:-$(command -v nats-server || true)}
POSTGRES_BIN=$(dirname "$(command -v initdb || compgen -G "/usr/lib/postgresql/*/bin/initdb" | sort -V | tail -n 1)")
if [ ! -x "$NATS_SERVER" ] || [ ! -x "$POSTGRES_BIN/initdb" ]; then
    skip "nats-server (TOOLKIT_NATS_SERVER) and PostgreSQL are needed"
fi
export NATS_SERVER POSTGRES_BIN

# No deadline depends on the time of day: only the time of the start in the statistics is a time of day.
if grep -rlE 'SystemTime|OffsetDateTime::now' integrations/toolkit-nats/src | grep -v service_api.rs; then
    echo "fleet: a clock that jumps could change a deadline"
    exit 1
fi

profile=()
folder=debug
if [ "$calls" -gt 1000 ]; then profile=(--release) folder=release; fi
cargo build --quiet --workspace --all-features --example chaos "${profile[@]}"
program=${CARGO_TARGET_DIR:-target}/$folder/examples/chaos

CHAOS_FOLDER=$(mktemp -d)
export CHAOS_FOLDER
chmod 755 "$CHAOS_FOLDER"
trap 'rm -rf "$CHAOS_FOLDER"' EXIT

plain="calm workers callers server stopped stopped-caller full upgrade split duplicates"
ledger="ledger-workers ledger-callers ledger-server ledger-stopped ledger-postgres ledger-duplicates"
echo "| case | calls | outcomes | runs | run twice | slowest ms | s | invariants |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
broken=0
if [ "$calls" -gt 1000 ]; then
    for name in $plain $ledger; do "$program" case "$name" "$calls" || broken=1; done
else
    running=()
    for name in $plain $ledger; do
        "$program" case "$name" "$calls" &
        running+=($!)
    done
    for process in "${running[@]}"; do wait "$process" || broken=1; done
fi
# Large results keep the processors busy, so nothing runs beside them.
"$program" case large "$large" || broken=1
# A tool that has its effect twice must be found.
if "$program" case planted 200 2>/dev/null; then
    echo "fleet: the planted fault was not found"
    broken=1
fi
exit "$broken"
