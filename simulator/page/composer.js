// Where a person writes: what it answers or changes, the files that go with it, and the text itself.

import { h, icon } from "./dom.js";
import { Staged } from "./staged.js";

const BORDERS = 2; // pixels, which a box counts and its scrollHeight does not
const ABOUT = {
  reply: ({ author, excerpt, quote }) => ["Replying to ", h("strong", {}, author), quote ? `: “${quote}”` : `: ${excerpt}`],
  edit: ({ excerpt }) => [h("strong", {}, "Editing"), `: ${excerpt}`],
};

/**
 * A form. `menu` is the Menu beside it, for what else can be sent. `actions`: send({text, files, about}) resolves to
 * whether it went well; editLast() begins to change the person's newest message and returns whether there is one;
 * commands() lists what can be completed, as [what is written, description].
 *
 * Each person's conversation keeps its own half-written text, files and `about`: null, or {kind: "reply" | "edit", id, author,
 * excerpt, quote}.
 */
export class Composer {
  #actions;
  #memories = new Map();
  #conversation = null;
  #writer = "";
  #picked = 0; // which of the offered commands Tab completes

  constructor(platform, menu, actions) {
    this.#actions = actions;
    const mention = { type: "button", class: "quiet round", hidden: true, onclick: () => this.#mention() };
    this.mention = h("button", mention, "@");
    this.text = h("textarea", {
      rows: "1",
      placeholder: "Message",
      id: `${platform}-text`,
      autocomplete: "off",
      enterkeyhint: "send",
      disabled: true, // until a conversation is open
    });
    this.about = h("div", { class: "about", hidden: true });
    this.staged = new Staged(() => this.#typed());
    this.commands = h("div", { class: "commands", role: "group", "aria-label": "Commands", hidden: true });
    this.send = h(
      "button",
      { type: "submit", class: "send", "aria-label": "Send", title: "Send (Enter)" },
      icon("send"),
    );
    this.label = h("label", { class: "unseen", for: this.text.id });
    this.element = h(
      "form",
      { class: "composer" },
      this.commands,
      this.about,
      this.staged.element,
      this.staged.input,
      h("div", { class: "composer-row" }, menu.element, this.label, this.mention, this.text, this.send),
    );
    this.element.addEventListener("submit", (event) => this.#submit(event));
    this.text.addEventListener("keydown", (event) => this.#key(event));
    this.text.addEventListener("input", () => this.#typed());
    this.text.addEventListener("paste", (event) => this.#paste(event));
  }

  get #memory() {
    return this.#memories.get(this.#where);
  }

  get #where() {
    return `${this.#writer} ${this.#conversation?.key}`;
  }

  /** Shows what `writer` has half written in a conversation. `mention` is how the bot is called there. */
  open(conversation, mention, writer) {
    this.#conversation = conversation;
    this.#writer = writer;
    this.mentionText = mention;
    this.text.disabled = false;
    if (!this.#memory) this.#memories.set(this.#where, { text: "", files: [], about: null });
    this.text.value = this.#memory.text;
    this.staged.show(this.#memory.files);
    this.mention.hidden = conversation.isPrivate;
    this.mention.setAttribute("aria-label", `Mention ${mention}`);
    this.mention.title = `Mention ${mention}`;
    this.label.textContent = `Message to ${conversation.root ? "the thread" : conversation.title}`;
    this.text.placeholder = conversation.root ? "Reply in the thread" : "Message";
    this.#showAbout();
    this.#typed();
  }

  /** Begins to answer or change a message; `text` replaces what is written where it is given. */
  begin(about, text) {
    this.#memory.about = about;
    if (text !== undefined) this.text.value = text;
    this.#showAbout();
    this.#typed();
    this.text.focus();
  }

  /** Begins to write this text. */
  write(text) {
    this.text.value = text;
    this.#typed();
    this.text.focus();
  }

  /** What is answered, to be sent with something that is no text; it is over then. */
  takeAbout() {
    const { about } = this.#memory;
    this.#memory.about = null;
    this.#showAbout();
    return about;
  }

  async #submit(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    const { files } = this.staged;
    if (!text && !files.length) return;
    const memory = this.#memory;
    const { about } = memory;
    Object.assign(memory, { text: "", files: [], about: null });
    this.#restore(memory);
    const sent = await this.#actions.send({ text, files, about });
    if (sent || memory.text || memory.files.length) return;
    Object.assign(memory, { text, files, about });
    if (memory === this.#memory) this.#restore(memory);
  }

  #restore({ text, files }) {
    this.text.value = text;
    this.staged.show(files);
    this.#showAbout();
    this.#typed();
  }

  #key(event) {
    if (event.isComposing) return; // Enter then chooses a character, it does not send
    const empty = this.text.value === "";
    const offered = !this.commands.hidden;
    if (event.key === "Enter" && !event.shiftKey) this.#submit(event);
    else if (offered && event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      this.commands.children[this.#picked].click();
    } else if (offered && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      this.#pick(this.#picked + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Escape" && this.#memory.about) this.#forget();
    else if (event.key === "ArrowUp" && empty && this.#actions.editLast()) event.preventDefault();
  }

  #paste(event) {
    const files = event.clipboardData?.files ?? [];
    if (!files.length) return;
    event.preventDefault();
    this.staged.add(files);
  }

  #typed() {
    Object.assign(this.#memory, { text: this.text.value, files: this.staged.files });
    this.#grow();
    this.#showCommands();
  }

  #grow() {
    this.text.style.height = "auto";
    const height = this.text.scrollHeight; // none where this platform is not the one on the screen
    if (height) this.text.style.height = `${height + BORDERS}px`;
  }

  #mention() {
    this.text.setRangeText(`${this.mentionText} `, this.text.selectionStart, this.text.selectionEnd, "end");
    this.#typed();
    this.text.focus();
  }

  #forget() {
    if (this.#memory.about?.kind === "edit") this.text.value = "";
    this.#memory.about = null;
    this.#showAbout();
    this.#typed();
    this.text.focus();
  }

  #showAbout() {
    const { about } = this.#memory;
    this.about.hidden = !about;
    if (!about) return;
    const close = {
      type: "button",
      class: "quiet",
      "aria-label": "Cancel",
      title: "Cancel (Esc)",
      onclick: () => this.#forget(),
    };
    this.about.replaceChildren(h("span", {}, ABOUT[about.kind](about)), h("button", close, icon("close")));
  }

  #showCommands() {
    const typed = this.text.value;
    const fitting = /^\/\w*( \w*)?$/.test(typed)
      ? this.#actions.commands().filter(([written]) => written.startsWith(typed) && written !== typed.trim())
      : [];
    this.commands.hidden = !fitting.length;
    this.commands.replaceChildren(
      ...fitting.map(([written, description]) =>
        h(
          "button",
          { type: "button", onclick: () => this.write(`${written} `) },
          h("strong", {}, written),
          h("span", {}, description),
        ),
      ),
    );
    this.#pick(0);
  }

  #pick(n) {
    const all = [...this.commands.children];
    this.#picked = all.length ? (n + all.length) % all.length : 0;
    all.forEach((each, at) => each.classList.toggle("picked", at === this.#picked));
    all[this.#picked]?.scrollIntoView({ block: "nearest" });
  }
}
