// Draws each `NAME.dot` of this folder as `NAME.svg`. Colours are classes of nodes: `yours` (the program's own code),
// `outside` (models, people, other programs), `error`, and the library without a class. The first line of a label is bold,
// and text in backticks is code.
const fs = require("node:fs");
const { instance } = require("@viz-js/viz");

const STYLE = `
.paper{fill:#fff;stroke:none}
text{fill:#1f2328;font:12px Helvetica,Arial,sans-serif}
.head{font-size:13px;font-weight:bold}
.small{fill:#57606a}
.code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:11.5px}
.node path,.node polygon{fill:#e8f0fe;stroke:#3f6fc9}
.node polyline{stroke:#3f6fc9}
.cluster path,.cluster polygon{fill:#f6f8fa;stroke:#afb8c1}
.yours path,.yours polygon{fill:#e3f5e7;stroke:#2c8a4b}
.outside path,.outside polygon{fill:#f1ecfb;stroke:#7d5bbe}
.error path,.error polygon{fill:#fff0e3;stroke:#c4682b}
.edge path{stroke:#57606a}
.edge polygon{fill:#57606a;stroke:#57606a}
.edge.error path{fill:none;stroke:#c4682b}
.edge.error polygon{fill:#c4682b;stroke:#c4682b}
@media (prefers-color-scheme:dark){
.paper{fill:#161b22}
text{fill:#e6edf3}
.small{fill:#a5b0bc}
.node path,.node polygon{fill:#1c2f52;stroke:#6c9bf5}
.node polyline{stroke:#6c9bf5}
.cluster path,.cluster polygon{fill:#1d242d;stroke:#525c68}
.yours path,.yours polygon{fill:#173a24;stroke:#56b878}
.outside path,.outside polygon{fill:#302650;stroke:#a58be0}
.error path,.error polygon{fill:#43290f;stroke:#e39352}
.edge path{stroke:#a5b0bc}
.edge polygon{fill:#a5b0bc;stroke:#a5b0bc}
.edge.error path{fill:none;stroke:#e39352}
.edge.error polygon{fill:#e39352;stroke:#e39352}
}`.trim();

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// The text after `// name: ` at the head of a source.
function heading(source, name, file) {
    const line = source.split("\n").find((line) => line.startsWith(`// ${name}: `));
    if (!line) throw new Error(`${file} has no line \`// ${name}: …\``);
    return escape(line.slice(`// ${name}: `.length));
}

// The lines of a label with their classes. Those of a cluster begin at its left border.
function styled(group, kind) {
    let line = 0;
    const corners = [...(group.match(/points="([^"]*)"/)?.[1] ?? "").matchAll(/([-\d.]+),/g)];
    const left = Math.min(...corners.map((corner) => Number(corner[1]))) + 14;
    return group.replace(/<text xml:space="preserve"([^>]*?) font-family[^>]*>([^]*?)<\/text>/g, (_, place, text) => {
        const role = line++ === 0 && kind !== "edge" ? "head" : "small";
        const marked = text.replace(/`([^`]*)`/g, '<tspan class="code">$1</tspan>');
        const at = kind === "cluster" ? ` x="${left}"${place.match(/ y="[^"]*"/)[0]}` : place;
        return `<text class="${role}"${at}>${marked}</text>`;
    });
}

function picture(viz, file) {
    const source = fs.readFileSync(file, "utf8");
    // Sizes leave room for fonts that are wider than Helvetica.
    const font = { fontname: "Helvetica", fontsize: 14.5 };
    const graphAttributes = { ...font, bgcolor: "transparent", pad: 0.2 };
    const nodeAttributes = { ...font, shape: "box", style: "rounded,filled", margin: "0.2,0.09" };
    const edgeAttributes = { ...font, arrowsize: 0.7 };
    const drawn = viz.renderString(source, { format: "svg", graphAttributes, nodeAttributes, edgeAttributes });
    const [, width, height] = drawn.match(/viewBox="0\.00 0\.00 ([\d.]+) ([\d.]+)"/);
    const inner = drawn
        .slice(drawn.indexOf("<g id"), drawn.lastIndexOf("</svg>"))
        .replace(/<!--[^]*?-->\n?/g, "") // names of nodes, for readers of Graphviz
        .replace(/<title>[^]*?<\/title>\n?/g, "") // names of nodes, shown as hints by browsers
        .replace(/<g id="\w+" class="(node|cluster|edge)[^]*?<\/g>/g, (group, kind) => styled(group, kind))
        .replace(/ id="[^"]*"/g, "")
        .replace(/\n+/g, "\n");
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.round(width)}" height="${Math.round(height)}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">`,
        `<title id="title">${heading(source, "title", file)}</title>`,
        `<desc id="description">${heading(source, "description", file)}</desc>`,
        `<metadata>${escape(source)}</metadata>`,
        `<style>${STYLE}</style>`,
        `<rect class="paper" width="100%" height="100%" rx="8"/>`,
        `${inner.trim()}`,
        "</svg>",
        "",
    ].join("\n");
}

async function main() {
    const isCheck = process.argv.includes("--check");
    const viz = await instance();
    let stale = 0;
    for (const file of fs.readdirSync(".").filter((name) => name.endsWith(".dot"))) {
        const svg = picture(viz, file);
        const path = file.replace(/dot$/, "svg");
        if (!isCheck) fs.writeFileSync(path, svg);
        else if (!fs.existsSync(path) || fs.readFileSync(path, "utf8") !== svg) {
            console.error(`${path} is not the picture of ${file}: run docs/guide/pictures/render.sh`);
            stale += 1;
        }
    }
    process.exitCode = Math.min(stale, 1);
}

main();
