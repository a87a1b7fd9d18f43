// Who the page belongs to, and which language their apps speak.

import { h } from "./dom.js";

const LANGUAGES = { en: "English", id: "Indonesia" };

/** Fills `element`, a fieldset. `become(id)` and `speak(id, language)` are called when the person chooses. */
export class People {
  #world;
  #element;
  #become;
  #drawn = "";
  #name = h("span", { class: "me", "aria-hidden": "true" });

  constructor(world, element, { become, speak }) {
    this.#world = world;
    this.#element = element;
    this.#become = become;
    this.languages = h(
      "select",
      { "aria-label": "Language of your apps", onchange: () => speak(world.me, this.languages.value) },
      Object.entries(LANGUAGES).map(([code, name]) => h("option", { value: code }, name)),
    );
  }

  render() {
    const { people, me } = this.#world;
    const names = people.map(({ name }) => name).join();
    if (names !== this.#drawn) this.#draw(people);
    this.#drawn = names;
    for (const radio of this.#element.querySelectorAll("input")) radio.checked = radio.value === me;
    const mine = this.#world.person(me);
    this.#name.textContent = mine ? `You are ${mine.name}` : "";
    this.languages.value = mine?.language ?? "en";
  }

  #draw(people) {
    this.#element.replaceChildren(
      h("legend", { class: "unseen" }, "You are"),
      this.#name,
      ...people.map((person) => this.#choice(person)),
      this.languages,
    );
  }

  #choice({ id, name }) {
    const radio = h("input", { type: "radio", name: "me", value: id, onchange: () => this.#become(id) });
    return h(
      "label",
      { class: "speaker", title: `Be ${name}` },
      radio,
      h("span", { class: "avatar", "data-author": id, "aria-hidden": "true" }, name[0]),
      h("span", { class: "unseen" }, name),
    );
  }
}
