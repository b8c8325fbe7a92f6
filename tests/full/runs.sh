#!/usr/bin/env bash
# Chaos around runs with an owner: processes over files and SQLite are killed, stopped and started again, and their
# stores fail. Prints a table, and fails if an invariant is broken: each run ends once, no call that may not be repeated
# runs twice, no input is lost or read twice, a bill lacks at most the open request of each killed attempt, a call has one
# decision, and a listener in another process has heard what the log shows. 1,000 inputs, or 60 with `--small`. SEED (1) is
# the seed.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

inputs=500
if [ "${1:-}" = --small ]; then inputs=30; fi

cargo build --quiet -p toolkit-agent-stores --all-features --example chaos_runs
program=${CARGO_TARGET_DIR:-target}/debug/examples/chaos_runs

echo "| store | inputs | kills | stops | decisions | listeners | s | invariants |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
broken=0
for store in files sqlite; do "$program" control "$store" "$inputs" "${SEED:-1}" || broken=1; done
# Tools that wrongly call themselves repeatable run twice.
TOOLKIT_CHAOS_PLANTED=1 planted "ran 2 times" "$program" control files "$inputs" "${SEED:-1}"
exit "$broken"
