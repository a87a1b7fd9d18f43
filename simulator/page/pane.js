// One platform: its chats, the open conversation and the place to write.

import { ChatList } from "./chat_list.js";
import { Composer } from "./composer.js";
import { h } from "./dom.js";
import { Log } from "./log.js";
import { plainText } from "./message.js";
import { fromWire, toWire } from "./wire_text.js";
import { keyOf } from "./world.js";

const EXCERPT_LENGTH = 80;
const OPENERS = ["What can you do?", "What is 12*7+3?", "Write a long answer", "Jam berapa sekarang?"];

/**
 * `platform` is "telegram" or "slack". `request(path, body)` posts to the simulator and resolves to its answer, or to
 * null after the person was shown an error. `changed()` draws the whole page; it calls `render()` here.
 */
export class Pane {
  #world;
  #request;
  #changed;
  #chats;
  #log;
  #head = h("header", { class: "conversation-head" });
  #open = "";

  constructor(world, platform, title, { request, changed }) {
    this.#world = world;
    this.#request = request;
    this.#changed = changed;
    this.platform = platform;
    this.title = title;
    const panel = `${platform}-conversation`;
    this.#chats = new ChatList(world, `${title} chats`, panel, {
      choose: (key) => this.#choose(key),
      move: (step) => this.#move(step),
    });
    const stop = ({ thread }) => this.#request("/sim/stop", { ...this.#address, user: this.composer.speaker, thread });
    this.#log = new Log(`${title} messages`, world.nameOf, (message) => this.#allowed(message), stop);
    this.composer = new Composer(platform, {
      send: (message) => this.#say(message),
      editLast: (user) => this.#editLast(user),
      changed,
      commands: () => world.commands,
    });
    this.element = h(
      "section",
      { class: `pane ${platform}`, id: `${platform}-pane`, "aria-label": title },
      h("nav", { class: "sidebar" }, h("h2", {}, title), this.#chats.element),
      h(
        "div",
        { class: "conversation", role: "tabpanel", id: panel, "aria-label": `${title} conversation` },
        this.#head,
        this.#log.element,
        this.composer.element,
      ),
    );
  }

  /** How many answers are in chats that are not on screen. */
  get unread() {
    return this.#conversations.reduce((sum, conversation) => sum + this.#chats.unreadIn(conversation), 0);
  }

  render() {
    const conversation = this.#conversation;
    if (!conversation) return; // the state is not there yet
    if (conversation.key !== this.#open) this.#enter(conversation);
    const world = this.#world;
    this.#log.render(world.messagesOf(conversation), world.signsOf(conversation), this.composer.speaker);
    this.#chats.render(this.#conversations, conversation, this.element.checkVisibility());
  }

  get #conversations() {
    return this.#world.conversations.filter(({ platform }) => platform === this.platform);
  }

  get #conversation() {
    return this.#conversations.find(({ key }) => key === this.#open) ?? this.#conversations[0];
  }

  #choose(key) {
    this.#show(this.#conversations.find((conversation) => conversation.key === key));
    this.composer.text.focus();
  }

  #move(step) {
    const all = this.#conversations;
    this.#show(all[(all.indexOf(this.#conversation) + step + all.length) % all.length]);
  }

  #show(conversation) {
    this.#enter(conversation);
    this.#changed();
    this.#log.scrollToEnd();
    this.#chats.reveal(conversation);
  }

  #enter(conversation) {
    const people = conversation.people.map((id) => this.#world.person(id));
    this.#open = conversation.key;
    this.#log.clear(...this.#welcome(conversation));
    this.#head.replaceChildren(h("strong", {}, conversation.fullTitle), h("span", {}, subtitle(conversation, people)));
    this.composer.open(conversation, people, this.#mention);
  }

  #welcome({ isPrivate }) {
    const hint = isPrivate ? "Say hello to Kabar." : `Kabar answers here when you call it ${this.#mention}.`;
    const say = (text) =>
      this.#say({ text: isPrivate ? text : `${this.#mention} ${text}`, user: this.composer.speaker });
    const opener = (text) => h("button", { type: "button", onclick: () => say(text) }, text);
    const logo = h("img", { src: "/static/icon.svg", alt: "", width: "56", height: "56" });
    return [logo, h("p", {}, hint), h("div", { class: "openers" }, OPENERS.map(opener))];
  }

  #allowed(message) {
    const { id, thread, author } = message;
    const user = this.composer.speaker;
    const excerpt = plainText(message, this.#world.nameOf).slice(0, EXCERPT_LENGTH);
    const reply = () => this.composer.begin({ kind: "reply", id, author, excerpt });
    const goOn = () => this.composer.begin({ kind: "thread", id: thread || id, author, excerpt });
    return {
      reply: this.platform === "telegram" && !message.draft && reply,
      thread: this.platform === "slack" && !message.only_for && goOn,
      edit: message.author_id === user && (() => this.#edit(message)),
      tap: (button) => this.#request("/sim/tap", { ...this.#address, user, message: id, button: button.id }),
    };
  }

  /** What people type to call the bot. */
  get #mention() {
    const mention = this.#world.mention[this.platform];
    return this.platform === "slack" ? fromWire(mention, this.#world.names) : mention;
  }

  get #address() {
    return { platform: this.platform, chat: this.#conversation.chat };
  }

  async #say({ text, user, about = null }) {
    const message = await this.#request("/sim/say", {
      ...this.#address,
      user,
      text: this.platform === "slack" ? toWire(text, this.#world.names) : text,
      thread: about?.kind === "thread" ? about.id : this.#conversation.topic,
      reply_to: about?.kind === "reply" ? about.id : "",
      edit: about?.kind === "edit" ? about.id : "",
    });
    if (message) this.#log.reveal(keyOf(message));
    return message !== null;
  }

  #edit({ id, author, text: kept }) {
    const text = this.platform === "slack" ? fromWire(kept, this.#world.names) : kept;
    this.composer.begin({ kind: "edit", id, author, excerpt: text.slice(0, EXCERPT_LENGTH) }, text);
  }

  /** Begins to change the person's newest message here. Returns whether there is one. */
  #editLast(user) {
    const last = this.#world.messagesOf(this.#conversation).findLast(({ author_id: author }) => author === user);
    if (last) this.#edit(last);
    return last !== undefined;
  }
}

function subtitle(conversation, people) {
  if (conversation.isPrivate) return `private chat, you are ${people[0].name}`;
  return `${people.map(({ name }) => name).join(", ")} and Kabar`;
}
