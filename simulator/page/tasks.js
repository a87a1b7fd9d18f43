// The steps that a Slack stream shows above its text, folded under the line that says what is being done.

import { h } from "./dom.js";

const MARKS = { pending: "○", in_progress: "◌", complete: "✓", error: "✗" };
const WORDS = { pending: "to come", in_progress: "running", complete: "done", error: "failed" };

/** Null where a message has none. `open`: whether the person had unfolded them. */
export function steps({ plan, tasks, streaming }, open) {
  if (!tasks.length) return null;
  return h(
    "details",
    { class: "steps", open: open ?? streaming },
    h("summary", {}, plan || "Steps"),
    h("ul", {}, tasks.map(step)),
  );
}

function step({ title, status, details, output }) {
  return h(
    "li",
    { class: `step-${status}` },
    h("span", { role: "img", "aria-label": WORDS[status] ?? status }, MARKS[status] ?? "·"),
    h("div", {}, title, details && h("div", { class: "aside" }, details), output && h("div", { class: "aside" }, output)),
  );
}
