// The strip that stands over the place to write while a voice is recorded.

import { h, icon } from "./dom.js";
import { record, tone } from "./voice.js";

const NO_MICROPHONE = "There is no microphone here: a short tone is sent in place of a voice.";

/** `sent({file, seconds})` is called with what was recorded, `noticed(notice)` where that could not be done. */
export class Recorder {
  #sent;
  #noticed;
  #recording = null;

  constructor({ sent, noticed }) {
    this.#sent = sent;
    this.#noticed = noticed;
    const cancel = h("button", { type: "button", class: "quiet", onclick: () => this.#cancel() }, "Cancel");
    this.done = h(
      "button",
      { type: "button", class: "send", "aria-label": "Send the voice message", onclick: () => this.#finish() },
      icon("send"),
    );
    this.element = h(
      "div",
      { class: "recorder", role: "status", hidden: true },
      h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
      h("span", {}, "Recording"),
      cancel,
      this.done,
    );
  }

  async begin() {
    if (this.#recording) return;
    this.#recording = await record();
    if (!this.#recording) {
      this.#noticed({ level: "info", text: NO_MICROPHONE });
      this.#sent(tone());
      return;
    }
    this.element.hidden = false;
    this.done.focus();
  }

  async #finish() {
    this.#sent(await this.#end().stop());
  }

  #cancel() {
    this.#end().cancel();
  }

  #end() {
    const recording = this.#recording;
    this.#recording = null;
    this.element.hidden = true;
    return recording;
  }
}
