// The bot's own page in Slack, its App Home, beside its messages.

import { blockKit } from "./blocks.js";
import { fragment, h } from "./dom.js";
import { buttons } from "./message.js";

const TABS = { home: "Home", messages: "Messages" };

/**
 * Two tabs to stand in a conversation's head, and the page itself. `opened(tab)` is called when one is chosen,
 * `tap(button)` for a button of the page.
 */
export class Home {
  #tabs;
  #names;
  #tap;
  #view = null;

  constructor(names, opened, tap) {
    this.#names = names;
    this.#tap = tap;
    this.tab = "messages";
    this.#tabs = Object.entries(TABS).map(([tab, label]) =>
      h("button", { type: "button", "data-tab": tab, onclick: () => opened(tab) }, label),
    );
    this.bar = h("div", { class: "home-tabs", role: "group", "aria-label": "Kabar's page" }, this.#tabs);
    this.element = h("div", { class: "home text", tabindex: "0", role: "region", "aria-label": "Home of Kabar" });
  }

  /** Shows the view that was published for me, or that there is none; `shown`: whether the home is what is open. */
  render(view, shown) {
    this.element.hidden = !shown;
    for (const tab of this.#tabs) tab.setAttribute("aria-pressed", String((tab.dataset.tab === "home") === shown));
    if (view === this.#view && this.element.childNodes.length) return;
    this.#view = view;
    this.element.replaceChildren(fragment(view ? this.#content(view) : h("p", {}, "Nothing here yet.")));
  }

  /** Each row of buttons in the place of its block, under the title that stands above it. */
  #content({ blocks, buttons: rows }) {
    const left = [...rows];
    const drawn = (block) =>
      block.type === "actions" ? buttons({ buttons: [left.shift()] }, this.#tap) : blockKit([block], this.#names);
    return blocks.map(drawn);
  }
}
