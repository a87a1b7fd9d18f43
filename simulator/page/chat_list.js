// The chats of one platform, to choose from: a column, or a row where there is little room.

import { h } from "./dom.js";
import { plainText } from "./message.js";

const PREVIEW_LENGTH = 60;
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** `choose(key)` is called when a person clicks a chat, `move(1)` or `move(-1)` when an arrow key asks for another. */
export class ChatList {
  #world;
  #panel;
  #choose;
  #tabs = new Map(); // conversation key -> what its tab is made of
  #listed = "";
  #seen = new Map(); // conversation key -> how many of the bot's messages were on screen

  constructor(world, label, panel, { choose, move }) {
    this.#world = world;
    this.#panel = panel;
    this.#choose = choose;
    this.element = h("div", { class: "chats", role: "tablist", "aria-label": label, "aria-orientation": "vertical" });
    this.element.addEventListener("keydown", (event) => {
      if (!STEPS[event.key]) return;
      event.preventDefault();
      move(STEPS[event.key]);
      this.element.querySelector("[aria-selected=true]").focus();
    });
  }

  /** Shows these conversations, one of them open; whether it `isOnScreen` decides if its messages count as seen. */
  render(conversations, open, isOnScreen) {
    if (isOnScreen) this.#seen.set(open.key, this.#answersIn(open));
    const listed = conversations.map(({ key }) => key).join();
    if (listed !== this.#listed) this.#list(conversations);
    this.#listed = listed;
    for (const conversation of conversations) this.#update(conversation, conversation === open);
  }

  /** Opens the view on the chosen chat where the row is longer than the screen. */
  reveal({ key }) {
    this.#tabs.get(key)?.element.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  unreadIn(conversation) {
    const count = this.#answersIn(conversation);
    const seen = this.#seen.get(conversation.key) ?? count; // what was there when the page opened is not news
    this.#seen.set(conversation.key, Math.min(seen, count));
    return Math.max(0, count - seen);
  }

  #answersIn(conversation) {
    return this.#world.messagesOf(conversation).filter((message) => message.is_bot && !message.draft).length;
  }

  #list(conversations) {
    this.#tabs.clear();
    this.element.replaceChildren();
    conversations.forEach((conversation, n) => this.#add(conversation, conversations[n - 1]));
  }

  #add({ key, group, forum, title }, before) {
    const tab = {
      preview: h("span", { class: "preview" }),
      unread: h("span", { class: "unread", hidden: true }),
    };
    tab.element = h(
      "button",
      { type: "button", role: "tab", class: "chat", "aria-controls": this.#panel, onclick: () => this.#choose(key) },
      h("span", { class: "chat-title" }, `${forum ? "# " : ""}${title}`),
      tab.preview,
      tab.unread,
    );
    this.#tabs.set(key, tab);
    if (group && group !== before?.group) {
      this.element.append(h("div", { class: "chat-group", role: "presentation" }, group));
    }
    this.element.append(tab.element);
  }

  // A tab is changed in place: one replaced under a finger that is pressing it would swallow the click.
  #update(conversation, selected) {
    const { element, preview, unread } = this.#tabs.get(conversation.key);
    const last = this.#world.messagesOf(conversation).at(-1);
    const count = this.unreadIn(conversation);
    element.setAttribute("aria-selected", String(selected));
    element.tabIndex = selected ? 0 : -1;
    preview.textContent = last ? `${last.author}: ${this.#excerpt(last)}` : "";
    showCount(unread, count);
  }

  #excerpt(message) {
    return plainText(message, this.#world.nameOf).slice(0, PREVIEW_LENGTH) || (message.files[0]?.name ?? "");
  }
}

/** A number in a coloured circle; nothing at all for 0. */
export function showCount(badge, count) {
  badge.hidden = count === 0;
  badge.textContent = String(count);
  badge.setAttribute("aria-label", `${count} new`);
}
