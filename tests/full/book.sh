#!/usr/bin/env bash
# Builds the guide as a book, without a warning, and asks its search the questions of `tests/data/book-questions.tsv`. mdBook is
# installed outside of the repository; the search needs Node. With `--small`, no book is built. In both cases, a planted link that
# leads nowhere and a planted table of a missing type must be found; a planted question, too, where there is a book.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

cp -r docs/guide "$copy/guide"
printf '\n[nowhere](nowhere.md)\n' >>"$copy/guide/testing.md"
export TOOLKIT_GUIDE="$copy/guide"
planted 'testing.md:[0-9]*: `nowhere.md`: there is no such file' \
    cargo test --quiet --workspace --all-features --test tidy links_of_documents
unset TOOLKIT_GUIDE
printf 'Table in the book: [`Knd`](%s/toolkit-core/src/error/kind.rs)\n' "$PWD" >"$copy/page.md"
planted 'there is no enum `Knd`' python3 docs/errors.py "$copy/page.md"
if [ "${1:-}" = --small ]; then exit 0; fi

command -v node >/dev/null || skip "node is missing"
version=0.5.4
tools=${TMPDIR:-/tmp}/toolkit-mdbook-$version
if [ ! -x "$tools/bin/mdbook" ]; then
    CARGO_TARGET_DIR="$copy/target" cargo install --quiet --locked --no-default-features --features search \
        --root "$tools" "mdbook@$version"
fi
"$tools/bin/mdbook" build docs --dest-dir "$copy/book" 2>&1 | tee "$copy/log"
if grep -qE 'WARN|ERROR' "$copy/log"; then
    echo "mdBook warns"
    exit 1
fi
if grep -rl 'Table in the book: ' "$copy/book"; then
    echo "a table of errors is missing"
    exit 1
fi
pages=$(find docs/guide -name '*.md' ! -name SUMMARY.md | wc -l)
built=$(find "$copy/book" -name '*.html' ! -name 404.html ! -name print.html ! -name toc.html | wc -l)
echo "$pages pages, $built built"
[ "$built" = "$pages" ]

node tests/full/book_search.cjs "$copy/book" tests/data/book-questions.tsv
sed '1s/\t.*/\tfleet.html/' tests/data/book-questions.tsv >"$copy/questions"
planted 'and not fleet.html' node tests/full/book_search.cjs "$copy/book" "$copy/questions"
