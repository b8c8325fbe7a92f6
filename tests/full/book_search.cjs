// Asks the search of a built book the questions of a table, as its pages do in a browser. A question must find its page, or
// one of its pages, among the first three hits.
//
//     node tests/full/book_search.cjs BOOK QUESTIONS
const fs = require("node:fs");
const path = require("node:path");

const HITS = 3;
const [book, questions] = process.argv.slice(2);

function file(prefix) {
    const name = fs.readdirSync(book).find((name) => name.startsWith(prefix));
    return path.resolve(book, name);
}

const elasticlunr = require(file("elasticlunr-"));
globalThis.window = { search: {} };
require(file("searchindex-"));
const { doc_urls, index: stored, search_options } = window.search;
const index = elasticlunr.Index.load(stored);

let asked = 0;
let missed = 0;
for (const line of fs.readFileSync(questions, "utf8").trimEnd().split("\n")) {
    const [question, pages] = line.split("\t");
    const hits = index.search(question, search_options).slice(0, HITS).map((hit) => doc_urls[hit.ref]);
    asked += 1;
    if (!hits.some((hit) => pages.split(" ").includes(hit.split("#")[0]))) {
        missed += 1;
        console.log(`"${question}" finds ${hits.join(", ")}, and not ${pages}`);
    }
}
console.log(`${asked} questions, ${missed} without their page`);
process.exit(missed > 0 || asked < 40 ? 1 : 0);
