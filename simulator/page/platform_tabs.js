// On a phone one platform is shown at a time: the tabs to choose it. On a wide screen style.css hides them.

import { showCount } from "./chat_list.js";
import { h } from "./dom.js";

/** Fills `element`, a tablist, with one tab per pane. `changed()` is called when another pane is shown. */
export class PlatformTabs {
  #panes;
  #changed;
  #tabs;

  constructor(element, panes, changed) {
    this.#panes = panes;
    this.#changed = changed;
    this.#tabs = panes.map((pane) => this.#tab(pane));
    element.append(...this.#tabs.map(({ button }) => button));
    element.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.#showOther();
    });
    document.body.dataset.platform = panes[0].platform; // style.css hides every other pane
  }

  render() {
    this.#panes.forEach((pane, n) => {
      const { button, badge } = this.#tabs[n];
      const selected = pane === this.#shown;
      button.setAttribute("aria-selected", String(selected));
      button.tabIndex = selected ? 0 : -1;
      showCount(badge, pane.unread);
    });
  }

  get #shown() {
    return this.#panes.find(({ platform }) => platform === document.body.dataset.platform);
  }

  #tab(pane) {
    const badge = h("span", { class: "unread", hidden: true });
    const attributes = {
      type: "button",
      role: "tab",
      "aria-controls": pane.element.id,
      onclick: () => this.#show(pane),
    };
    return { badge, button: h("button", attributes, pane.title, badge) };
  }

  #show(pane) {
    document.body.dataset.platform = pane.platform;
    this.#changed();
  }

  #showOther() {
    const other = this.#panes.findIndex((pane) => pane !== this.#shown);
    this.#show(this.#panes[other]);
    this.#tabs[other].button.focus();
  }
}
