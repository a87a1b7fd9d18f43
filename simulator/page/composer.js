// Where a person writes: who speaks, what it answers or changes, and the text itself.

import { h, icon } from "./dom.js";

const ABOUT = {
  reply: ({ author, excerpt }) => ["Replying to ", h("strong", {}, author), `: ${excerpt}`],
  thread: ({ author, excerpt }) => ["In the thread of ", h("strong", {}, author), `: ${excerpt}`],
  edit: ({ excerpt }) => [h("strong", {}, "Editing"), `: ${excerpt}`],
};

/**
 * A form. `actions`: send({text, user, about}) resolves to whether it went well; editLast(user) begins to change the
 * person's newest message and returns whether there is one; changed() is called when somebody else speaks; commands()
 * lists the bot's commands.
 *
 * Each conversation keeps its own half-written text, speaker and `about`: null, or {kind: "reply" | "thread" | "edit",
 * id, author, excerpt}.
 */
export class Composer {
  #actions;
  #memories = new Map();
  #conversation = null;

  constructor(platform, actions) {
    this.#actions = actions;
    this.speakers = h("fieldset", { class: "speakers" });
    const mention = { type: "button", class: "quiet mention-button", hidden: true, onclick: () => this.#mention() };
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
    this.menu = h("div", { class: "commands", role: "group", "aria-label": "Commands", hidden: true });
    this.send = h(
      "button",
      { type: "submit", class: "send", "aria-label": "Send", title: "Send (Enter)" },
      icon("send"),
    );
    this.label = h("label", { class: "unseen", for: this.text.id });
    this.element = h(
      "form",
      { class: "composer" },
      this.menu,
      this.about,
      h("div", { class: "composer-row" }, this.speakers, this.label, this.mention, this.text, this.send),
    );
    this.element.addEventListener("submit", (event) => this.#submit(event));
    this.text.addEventListener("keydown", (event) => this.#key(event));
    this.text.addEventListener("input", () => this.#typed());
  }

  get #memory() {
    return this.#memories.get(this.#conversation?.key);
  }

  get speaker() {
    return this.#memory?.speaker ?? "";
  }

  /** Shows a conversation's half-written message. `people` are those who can speak in it. */
  open(conversation, people, mention) {
    this.#conversation = conversation;
    this.mentionText = mention;
    this.text.disabled = false;
    if (!this.#memory) this.#memories.set(conversation.key, { text: "", about: null, speaker: people[0].id });
    this.text.value = this.#memory.text;
    this.mention.hidden = conversation.isPrivate;
    this.mention.setAttribute("aria-label", `Mention ${mention}`);
    this.mention.title = `Mention ${mention}`;
    this.label.textContent = `Message to ${conversation.title}`;
    this.#showSpeakers(people);
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

  async #submit(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    if (!text) return;
    const memory = this.#memory;
    const { about } = memory;
    this.text.value = "";
    if (about?.kind !== "thread") memory.about = null; // a thread goes on until it is closed
    this.#showAbout();
    this.#typed();
    const sent = await this.#actions.send({ text, user: memory.speaker, about });
    if (sent || memory.text) return;
    Object.assign(memory, { text, about });
    if (memory !== this.#memory) return;
    this.text.value = text;
    this.#showAbout();
    this.#typed();
  }

  #key(event) {
    if (event.isComposing) return; // Enter then chooses a character, it does not send
    const empty = this.text.value === "";
    if (event.key === "Enter" && !event.shiftKey) this.#submit(event);
    else if (event.key === "Tab" && !event.shiftKey && !this.menu.hidden) {
      event.preventDefault();
      this.menu.firstElementChild.click();
    } else if (event.key === "Escape" && this.#memory.about) this.#forget();
    else if (event.key === "ArrowUp" && empty && this.#actions.editLast(this.speaker)) event.preventDefault();
  }

  #typed() {
    this.#memory.text = this.text.value;
    this.#grow();
    this.#showCommands();
  }

  #grow() {
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight}px`;
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

  #showSpeakers(people) {
    this.speakers.hidden = people.length < 2;
    this.speakers.replaceChildren(
      h("legend", { class: "unseen" }, "Who speaks"),
      ...people.map((person) => this.#choice(person)),
    );
  }

  #choice({ id, name }) {
    const choose = () => {
      this.#memory.speaker = id;
      this.#actions.changed();
    };
    const radio = h("input", { type: "radio", name: `${this.text.id}-speaker`, value: id, onchange: choose });
    radio.checked = id === this.speaker;
    return h(
      "label",
      { class: "speaker", title: `Speak as ${name}` },
      radio,
      h("span", { class: "avatar", "data-author": id }, name[0]),
      h("span", { class: "unseen" }, name),
    );
  }

  #showCommands() {
    const typed = /^\/(\w*)$/.exec(this.text.value);
    const fitting = typed ? this.#actions.commands().filter(({ command }) => command.startsWith(typed[1])) : [];
    this.menu.hidden = !fitting.length;
    this.menu.replaceChildren(
      ...fitting.map(({ command, description }) =>
        h(
          "button",
          { type: "button", onclick: () => this.#complete(command) },
          h("strong", {}, `/${command}`),
          h("span", {}, description),
        ),
      ),
    );
  }

  #complete(command) {
    this.text.value = `/${command} `;
    this.#typed();
    this.text.focus();
  }
}
