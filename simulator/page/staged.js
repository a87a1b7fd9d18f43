// The files a person has chosen and not sent yet.

import { h, icon } from "./dom.js";
import { size } from "./files.js";

/** `changed()` is called when one is added or taken out. */
export class Staged {
  #changed;
  #files = [];

  constructor(changed) {
    this.#changed = changed;
    this.element = h("ul", { class: "staged", "aria-label": "Files to send", hidden: true });
    this.input = h("input", { type: "file", multiple: true, hidden: true });
    this.input.addEventListener("change", () => {
      this.add(this.input.files);
      this.input.value = ""; // the same file may be chosen again
    });
  }

  get files() {
    return [...this.#files];
  }

  /** Shows these files in place of those that are there. */
  show(files) {
    this.#files = [...files];
    this.element.hidden = !files.length;
    this.element.replaceChildren(...this.#files.map((file) => this.#chip(file)));
  }

  add(files) {
    this.show([...this.#files, ...files]);
    this.#changed();
  }

  #chip(file) {
    const remove = () => {
      this.show(this.#files.filter((each) => each !== file));
      this.#changed();
    };
    const label = `Remove ${file.name}`;
    return h(
      "li",
      {},
      file.type.startsWith("image/") ? thumbnail(file) : icon("file"),
      h("span", { class: "staged-name" }, file.name),
      h("span", { class: "aside" }, size(file.size)),
      h("button", { type: "button", class: "quiet", "aria-label": label, title: label, onclick: remove }, icon("close")),
    );
  }
}

function thumbnail(file) {
  const address = URL.createObjectURL(file);
  const image = h("img", { src: address, alt: "" });
  for (const event of ["load", "error"]) image.addEventListener(event, () => URL.revokeObjectURL(address));
  return image;
}
