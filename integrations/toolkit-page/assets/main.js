// The views of the page, by the part of the address behind `#`.

import { el, fill } from "./dom.js";
import { enter } from "./server.js";
import { showApprovals } from "./approvals.js";
import { showLive } from "./live.js";
import { showTools } from "./tools.js";

const view = document.getElementById("view");
const connection = document.getElementById("connection");
const views = { live: showLive, approvals: showApprovals, tools: showTools };
let leave = () => {};

/** Shows whether the view hears of changes; `null` if it does not listen. */
function connected(isConnected) {
  const text = isConnected === null ? "" : isConnected ? "Connected" : "Reconnecting …";
  if (connection.textContent === text) return;
  connection.textContent = text;
  connection.dataset.state = isConnected ? "on" : "off";
}

/** Shows the view of the address, such as `#/tools/add` or `#/live/7`. */
function show() {
  const [, name = "live", ...rest] = location.hash.split("/");
  const known = views[name] ? name : "live";
  const detail = rest.map(decodeURIComponent).join("/");
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === known) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (view.dataset.view === known && leave.select) {
    leave.select(detail);
    return;
  }
  leave();
  view.dataset.view = known;
  leave = views[known](view, detail, connected) || (() => {});
}

async function start() {
  // The one-time token is used: it leaves the address, and with it the history.
  if (location.search) history.replaceState(null, "", location.pathname + location.hash);
  try {
    const { title, has_runs: hasRuns } = await enter();
    document.getElementById("approvals-link").hidden = !hasRuns;
    document.title = title;
    document.getElementById("title").textContent = title;
  } catch (error) {
    fill(view, el("p", { class: "fault", role: "alert" }, error.message));
    return;
  }
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    view.focus();
  });
  addEventListener("hashchange", show);
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      const search = view.querySelector("input[type=search]");
      if (search) {
        event.preventDefault();
        search.focus();
      }
    }
  });
  show();
}

start();
