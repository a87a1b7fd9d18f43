// A button with a menu that opens above or below it.

import { h, icon } from "./dom.js";

const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/**
 * `items` are [label, drawing, act]: a line each; `more` are [label, act]: small ones side by side below. Escape, a
 * choice, or a click elsewhere closes it; arrow keys move in it.
 */
export class Menu {
  #panel;

  constructor(label, drawing, items, more = []) {
    const line = ([text, image, act]) => this.#choice(act, [icon(image), text]);
    const small = ([text, act]) => this.#choice(act, [text], `Send the sticker ${text}`);
    this.#panel = h(
      "div",
      { class: "menu", role: "menu", "aria-label": label, hidden: true },
      items.map(line),
      more.length > 0 && h("div", { class: "menu-row", role: "none" }, more.map(small)),
    );
    const attributes = { type: "button", class: "quiet round", "aria-label": label, title: label };
    const popup = { "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => this.#toggle() };
    this.button = h("button", { ...attributes, ...popup }, icon(drawing));
    this.element = h("div", { class: "menu-holder" }, this.button, this.#panel);
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !this.element.contains(relatedTarget)) this.close();
    });
    document.addEventListener("pointerdown", ({ target }) => this.element.contains(target) || this.close());
  }

  close() {
    this.#panel.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  #choice(act, content, label) {
    const choose = () => {
      this.close();
      this.button.focus();
      act();
    };
    return h("button", { type: "button", role: "menuitem", "aria-label": label, onclick: choose }, content);
  }

  #toggle() {
    if (!this.#panel.hidden) return this.close();
    this.#panel.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.#choices[0].focus();
  }

  get #choices() {
    return [...this.#panel.querySelectorAll("button")];
  }

  #key(event) {
    if (this.#panel.hidden) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
      this.button.focus();
    } else if (STEPS[event.key]) {
      event.preventDefault();
      const all = this.#choices;
      all[(all.indexOf(document.activeElement) + STEPS[event.key] + all.length) % all.length].focus();
    }
  }
}
