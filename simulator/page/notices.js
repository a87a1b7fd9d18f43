// Short sentences that come up over the page and go again.

import { h, icon } from "./dom.js";

const SHOWN_MS = { info: 5000, error: 10000 };

/** Shows a notice {level: "info" | "error", text, alert} in `region`; one that is an alert stays until it is closed. */
export function showNotice(region, { level, text, alert }) {
  const close = h(
    "button",
    { type: "button", class: "quiet", "aria-label": "Close", onclick: () => notice.remove() },
    icon("close"),
  );
  const notice = h("div", { class: `notice ${level}` }, h("span", {}, text), close);
  region.append(notice);
  if (!alert) setTimeout(() => notice.remove(), SHOWN_MS[level]);
}
