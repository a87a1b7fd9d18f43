// One platform: its chats, the open conversation and the place to write.

import { ChatList } from "./chat_list.js";
import { Composer } from "./composer.js";
import { h, icon } from "./dom.js";
import { Home } from "./home.js";
import { Log } from "./log.js";
import { Menu } from "./menu.js";
import { plainText } from "./message.js";
import { Recorder } from "./recorder.js";
import { fromWire, toWire } from "./wire_text.js";
import { keyOf } from "./world.js";

const EXCERPT_LENGTH = 80;
const WELCOMES = {
  en: {
    hint: "Say hello to Kabar.",
    called: (mention) => `Kabar answers here when you call it ${mention}.`,
    openers: ["What can you do?", "What is 12*7+3?", "Write a long answer", "Jam berapa sekarang?"],
  },
  id: {
    hint: "Sapalah Kabar.",
    called: (mention) => `Kabar menjawab di sini kalau dipanggil ${mention}.`,
    openers: ["Apa yang bisa kamu lakukan?", "Berapa 12*7+3?", "Tulis jawaban panjang", "What time is it?"],
  },
};
const STICKERS = ["👍", "🎉", "❤️", "😂", "🙏", "🤔"];
const BROMO = { latitude: -7.9425, longitude: 112.953 };
const CONTACT = { phone_number: "+62811000111", first_name: "Jeep Pak Joko" };
const SLASH = "/kabar";

/**
 * `platform` is "telegram" or "slack". `door`: request(path, body) posts to the simulator, upload(file) hands it a
 * file; both resolve to its answer, or to null after the person was shown an error. `noticed(notice)` shows a notice,
 * `changed()` draws the whole page; it calls `render()` here.
 */
export class Pane {
  #world;
  #door;
  #noticed;
  #changed;
  #chats;
  #log;
  #home;
  #recorder;
  #head = h("header", { class: "conversation-head" });
  #open = ""; // key of the chat, and
  #as = ""; // whose page it was when it was opened
  #thread = null; // the conversation that is open inside the open one
  #suggested; // by the bot, in the welcome that is shown, and
  #spoken; // our own words in it

  constructor(world, platform, title, { door, noticed, changed }) {
    this.#world = world;
    this.#door = door;
    this.#noticed = noticed;
    this.#changed = changed;
    this.platform = platform;
    this.title = title;
    const panel = `${platform}-conversation`;
    this.#chats = new ChatList(world, `${title} chats`, panel, {
      choose: (key) => this.#choose(key),
      move: (step) => this.#move(step),
    });
    const stop = ({ thread }) => this.#door.request("/sim/stop", { ...this.#address, ...this.#me, thread });
    this.#log = new Log(`${title} messages`, world.nameOf, (message) => this.#allowed(message), stop);
    this.#home = new Home(
      world.nameOf,
      (tab) => this.#showHome(tab),
      ({ id: button }) => this.#door.request("/sim/home", { ...this.#me, button }),
    );
    this.#recorder = new Recorder({
      sent: ({ file, seconds }) => this.#sendVoice(file, seconds),
      noticed,
    });
    this.composer = new Composer(platform, this.#menu(), {
      send: (message) => this.#send(message),
      editLast: () => this.#editLast(),
      commands: () => this.#commands,
    });
    this.element = h(
      "section",
      { class: `pane ${platform}`, id: `${platform}-pane`, "aria-label": title },
      h("nav", { class: "sidebar" }, h("h2", {}, title), this.#chats.element),
      h(
        "div",
        { class: "conversation", role: "tabpanel", id: panel, "aria-label": `${title} conversation` },
        this.#head,
        this.#home.element,
        this.#log.element,
        this.#recorder.element,
        this.composer.element,
      ),
    );
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.composer.staged.add(event.dataTransfer.files);
    });
    this.element.addEventListener("keydown", ({ key }) => key === "Escape" && this.#thread && this.#leaveThread());
  }

  /** How many answers are in chats that are not on screen. */
  get unread() {
    return this.#conversations.reduce((sum, conversation) => sum + this.#chats.unreadIn(conversation), 0);
  }

  render() {
    const chat = this.#chat;
    if (!chat) return; // the state is not there yet
    if (chat.key !== this.#open) this.#enter(chat);
    if (this.#world.me !== this.#as) this.#openPart(this.#thread);
    if (this.#suggested !== this.#world.prompts[chat.chat] || this.#spoken !== this.#words) {
      this.#log.welcome(...this.#welcome(chat));
    }
    const world = this.#world;
    const shown = this.#conversation;
    const atHome = this.#isAtHome;
    this.#home.render(world.homes[world.person(world.me)?.slack_id], atHome);
    this.#log.element.hidden = this.composer.element.hidden = atHome;
    this.#log.render(world.itemsOf(shown), world.signsOf(shown), world.me);
    this.#chats.render(this.#conversations, chat, this.element.checkVisibility() && !atHome);
  }

  get #conversations() {
    return this.#world.conversationsOn(this.platform);
  }

  /** The chat that is chosen in the list. */
  get #chat() {
    return this.#conversations.find(({ key }) => key === this.#open) ?? this.#conversations[0];
  }

  get #conversation() {
    return this.#thread ?? this.#chat;
  }

  get #hasHome() {
    return this.platform === "slack" && this.#chat.isPrivate;
  }

  get #isAtHome() {
    return this.#hasHome && this.#home.tab === "home";
  }

  #choose(key) {
    this.#show(this.#conversations.find((conversation) => conversation.key === key));
    if (this.#hasHome) this.#showHome("messages");
    this.composer.text.focus();
  }

  #move(step) {
    const all = this.#conversations;
    this.#show(all[(all.indexOf(this.#chat) + step + all.length) % all.length]);
  }

  #show(conversation) {
    this.#enter(conversation);
    this.#changed();
    this.#log.scrollToEnd();
    this.#chats.reveal(conversation);
  }

  #enter(chat) {
    this.#open = chat.key;
    this.#home.tab = "messages";
    this.#openPart(null);
  }

  /** Opens a thread of the chosen chat, or with null the chat itself. */
  #openPart(thread) {
    this.#thread = thread;
    this.#as = this.#world.me;
    this.#log.clear(this.#conversation);
    this.#log.welcome(...this.#welcome(this.#chat));
    this.#fillHead();
    this.composer.open(this.#conversation, this.#mention, this.#as);
  }

  #openThread(root) {
    this.#openPart(this.#chat.thread(root));
    this.#changed();
    this.#log.scrollToEnd();
    this.composer.text.focus();
  }

  #leaveThread() {
    const { root } = this.#thread;
    this.#openPart(null);
    this.#changed();
    this.#log.reveal(keyOf({ ...this.#address, id: root }));
    this.composer.text.focus();
  }

  #fillHead() {
    const chat = this.#chat;
    const people = chat.people.map((id) => this.#world.person(id));
    this.#head.classList.toggle("plain", !this.#thread && !this.#hasHome);
    if (this.#thread) {
      const back = { type: "button", class: "quiet back", onclick: () => this.#leaveThread(), title: "Back (Esc)" };
      const title = h("strong", {}, "Thread");
      this.#head.replaceChildren(h("button", back, icon("back"), "Back"), title, h("span", {}, chat.title));
    } else {
      const names = [h("strong", {}, chat.fullTitle), h("span", {}, subtitle(chat, people))];
      this.#head.replaceChildren(...names, ...(this.#hasHome ? [this.#home.bar] : []));
    }
  }

  /** Tells the bot, as Slack does, that I opened its page or its messages. */
  #showHome(tab) {
    this.#home.tab = tab;
    this.#door.request("/sim/home", { ...this.#me, tab });
    this.#changed();
  }

  /** The page's own, in my language. */
  get #words() {
    return WELCOMES[this.#world.person(this.#world.me)?.language] ?? WELCOMES.en;
  }

  #welcome({ isPrivate, chat }) {
    if (this.#thread) return [];
    const suggested = (this.#suggested = this.#world.prompts[chat]);
    const { hint, called, openers } = (this.#spoken = this.#words);
    const prompts = suggested?.prompts ?? openers.map((text) => ({ title: text, message: text }));
    const words = suggested?.title || (isPrivate ? hint : called(this.#mention));
    const say = (text) => this.#send({ text: isPrivate ? text : `${this.#mention} ${text}` });
    const opener = ({ title, message }) => h("button", { type: "button", onclick: () => say(message) }, title);
    const logo = h("img", { src: "/static/icon.svg", alt: "", width: "56", height: "56" });
    return [logo, h("p", {}, words), h("div", { class: "openers" }, prompts.map(opener))];
  }

  #menu() {
    const file = ["Photo or file", "file", () => this.composer.staged.input.click()];
    const voice = ["Voice message", "voice", () => this.#recorder.begin()];
    if (this.platform === "slack") {
      return new Menu("Attach", "attach", [file, voice, [`${SLASH} command`, "ask", () => this.composer.write(`${SLASH} `)]]);
    }
    const share = (content) => this.#say({ text: "", share: content, about: this.composer.takeAbout() });
    const place = ["Location: Mount Bromo", "place", () => share({ location: BROMO })];
    const contact = ["Contact: Pak Joko", "contact", () => share({ contact: CONTACT })];
    const stickers = STICKERS.map((emoji) => [emoji, () => share({ sticker: emoji })]);
    return new Menu("Attach", "attach", [file, voice, place, contact], stickers);
  }

  get #commands() {
    const { commands } = this.#world;
    if (this.platform === "telegram") return commands.map(({ command, description }) => [`/${command}`, description]);
    const own = commands.map(({ command, description }) => [`${SLASH} ${command}`, description]);
    return [[SLASH, "Ask Kabar's commands, seen by you alone"], ...own];
  }

  #allowed(message) {
    const { id, thread, author, only_for: reader, draft, author_id: by } = message;
    const mine = by === this.#world.me;
    const slack = this.platform === "slack" && !reader;
    const excerpt = plainText(message, this.#world.nameOf).slice(0, EXCERPT_LENGTH) || "(a file)";
    return {
      reply:
        this.platform === "telegram" &&
        !draft &&
        (() => this.composer.begin({ kind: "reply", id, author, excerpt, quote: selectedIn(message) })),
      thread: slack && !this.#thread && (() => this.#openThread(thread || id)),
      ask: slack && (() => this.#door.request("/sim/shortcut", { ...this.#address, ...this.#me, message: id })),
      edit: mine && (() => this.#edit(message)),
      remove: mine && (() => this.#remove(message)),
      tap: ({ id: button }) => this.#door.request("/sim/tap", { ...this.#address, ...this.#me, message: id, button }),
    };
  }

  /** What people type to call the bot. */
  get #mention() {
    const mention = this.#world.mention[this.platform];
    return this.platform === "slack" ? fromWire(mention, this.#world.names) : mention;
  }

  get #address() {
    return { platform: this.platform, chat: this.#chat.chat };
  }

  get #me() {
    return { user: this.#world.me };
  }

  /** Sends what was written. In Slack a leading slash makes it a command. Resolves to whether it went well. */
  async #send(message) {
    const { text, files = [], about } = message;
    if (this.platform === "slack" && text.startsWith("/") && !files.length && !about) return this.#slash(text);
    const kept = await Promise.all(files.map((file) => this.#door.upload(file)));
    if (kept.includes(null)) return false;
    return this.#say({ ...message, files: kept.map(({ id }) => ({ id })) });
  }

  async #sendVoice(file, seconds) {
    const kept = await this.#door.upload(file);
    if (!kept) return;
    const kind = this.platform === "telegram" ? "voice" : "";
    await this.#say({ text: "", files: [{ id: kept.id, kind }], seconds, about: this.composer.takeAbout() });
  }

  async #say({ text, files = [], share, seconds = 1, about = null }) {
    const message = await this.#door.request("/sim/say", {
      ...this.#address,
      ...this.#me,
      text: this.platform === "slack" ? toWire(text, this.#world.names) : text,
      thread: this.#conversation.root || this.#conversation.topic,
      reply_to: about?.kind === "reply" ? about.id : "",
      quote: about?.quote ?? "",
      edit: about?.kind === "edit" ? about.id : "",
      files,
      seconds,
      share,
    });
    if (message) this.#log.reveal(keyOf(message));
    return message !== null;
  }

  /** As Slack's apps do it: only commands it knows, and none in a thread. */
  async #slash(text) {
    const [, command, words] = /^(\S+)\s*([^]*)$/.exec(text);
    const refuse = (sentence) => {
      this.#noticed({ level: "error", text: sentence });
      return false;
    };
    if (command !== SLASH) return refuse(`${command} is not a valid command in Slack. Kabar's begin with ${SLASH}.`);
    if (this.#thread) return refuse(`${SLASH} is not supported in threads. Use it in ${this.#chat.title} itself.`);
    const used = { chat: this.#chat.chat, ...this.#me, command, text: toWire(words, this.#world.names) };
    return (await this.#door.request("/sim/command", used)) !== null;
  }

  #edit({ id, author, text: kept }) {
    const text = this.platform === "slack" ? fromWire(kept, this.#world.names) : kept;
    this.composer.begin({ kind: "edit", id, author, excerpt: text.slice(0, EXCERPT_LENGTH) }, text);
  }

  async #remove({ id, members = [id] }) {
    for (const message of members) {
      await this.#door.request("/sim/delete", { ...this.#address, ...this.#me, message });
    }
  }

  /** Begins to change the person's newest message here. Returns whether there is one. */
  #editLast() {
    const mine = ({ author_id: author, text }) => author === this.#world.me && text;
    const last = this.#world.messagesOf(this.#conversation).findLast(mine);
    if (last) this.#edit(last);
    return last !== undefined;
  }
}

/** The part of a message's text that is selected, or "" where none is. */
function selectedIn({ text }) {
  const selected = document.getSelection()?.toString().trim() ?? "";
  return selected && selected !== text && text.includes(selected) ? selected : "";
}

function subtitle(conversation, people) {
  if (conversation.isPrivate) return `private chat, you are ${people[0].name}`;
  return `${people.map(({ name }) => name).join(", ")} and Kabar`;
}
