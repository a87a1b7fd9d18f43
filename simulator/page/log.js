// The messages of the open conversation, kept in step with what the world says they are.

import { h, icon } from "./dom.js";
import { fillMessage, messageArticle, signElement } from "./message.js";
import { keyOf } from "./world.js";

const NEAR_END_PX = 80;
const SAME_BREATH_SECONDS = 180;

/**
 * `allowed(message)` says what the person may do with a message, as `fillMessage` takes it. Elements are kept and only
 * what changed is drawn again, so that focus, scrolling and selections survive an answer that streams in.
 */
export class Log {
  #names;
  #allowed;
  #stop;
  #shown = new Map(); // key -> {element, value, replies, me}
  #awaited = ""; // key of a message to bring into view when it comes
  #atEnd = true; // whether the end was in view before what comes next
  #top = 0; // where the view was then
  #empty = h("div", { class: "welcome" });

  constructor(label, names, allowed, stop) {
    this.#names = names;
    this.#allowed = allowed;
    this.#stop = stop;
    this.list = h("div", { class: "log", role: "log", "aria-live": "off", "aria-label": label });
    this.toEnd = h(
      "button",
      { type: "button", class: "to-end", "aria-label": "Go to the newest message" },
      icon("down"),
    );
    this.element = h("div", { class: "log-frame" }, this.list, this.toEnd);
    this.toEnd.addEventListener("click", () => this.scrollToEnd());
    this.list.addEventListener("keydown", (event) => this.#moveBetweenMessages(event));
    this.list.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.list.addEventListener("load", () => this.#atEnd && this.scrollToEnd(), true); // a picture takes its place late
    new ResizeObserver(() => this.#atEnd && this.scrollToEnd()).observe(this.list);
  }

  /** Empties it for another conversation: one thread, where nothing is indented, or a private chat, or another. */
  clear({ root, isPrivate }) {
    this.list.classList.toggle("in-one-thread", root !== "");
    this.list.classList.toggle("private", isPrivate);
    this.#shown.clear();
    this.#atEnd = true;
    this.#top = 0;
    this.list.replaceChildren();
  }

  /** What is shown until there is a message. */
  welcome(...nodes) {
    this.#empty.replaceChildren(...nodes);
  }

  /** Shows {message, replies} and signs of life, as `me` sees them. Stays at the end if the end was in view. */
  render(messages, signs, me) {
    const items = inOrder(messages, signs);
    this.#removeAllBut(new Set(items.map(({ key }) => key)));
    this.#empty.remove();
    items.forEach((item, n) => this.#place(item, n, items[n - 1], me));
    if (!items.length) this.list.append(this.#empty);
    this.#keepOneTabStop();
    if (this.#atEnd) this.scrollToEnd();
    if (this.#shown.has(this.#awaited)) this.reveal(this.#awaited);
    this.#scrolled();
  }

  /** Brings a message into view, now or when it comes: what one says oneself is never out of sight. */
  reveal(key) {
    const entry = this.#shown.get(key);
    this.#awaited = entry ? "" : key;
    entry?.element.scrollIntoView({ block: "nearest" });
  }

  scrollToEnd() {
    this.list.scrollTop = this.list.scrollHeight;
  }

  #removeAllBut(wanted) {
    for (const [key, { element }] of this.#shown) {
      if (wanted.has(key)) continue;
      element.remove();
      this.#shown.delete(key);
    }
  }

  #place(item, position, before, me) {
    const entry = this.#shown.get(item.key) ?? { element: item.message ? messageArticle() : h("div") };
    const value = item.message ?? item.sign.text;
    const { replies } = item;
    if (entry.value !== value || entry.me !== me || entry.replies !== replies) this.#fill(entry, item, me);
    Object.assign(entry, { value, me, replies });
    this.#shown.set(item.key, entry);
    if (item.message) entry.element.classList.toggle("continued", isSameBreath(before?.message, item.message));
    const there = this.list.children[position];
    if (there !== entry.element) this.list.insertBefore(entry.element, there ?? null);
  }

  #fill(entry, item, me) {
    const { message, sign } = item;
    if (sign) {
      const element = signElement(sign, this.#stop);
      entry.element.replaceWith(element);
      entry.element = element;
      return;
    }
    const hadFocus = entry.element.contains(document.activeElement);
    fillMessage(entry.element, item, me, this.#names, this.#allowed(message));
    if (hadFocus && !entry.element.contains(document.activeElement)) entry.element.focus({ preventScroll: true });
  }

  #moveBetweenMessages(event) {
    const forward = event.key === "ArrowDown";
    const article = event.target.closest("article");
    if (event.target !== article || (!forward && event.key !== "ArrowUp")) return;
    event.preventDefault();
    const articles = [...this.list.querySelectorAll("article")];
    articles[articles.indexOf(article) + (forward ? 1 : -1)]?.focus();
    this.#keepOneTabStop();
  }

  /** Tab enters the log once, at the message that has the focus or else the newest; arrows go on from there. */
  #keepOneTabStop() {
    const articles = [...this.list.querySelectorAll("article")];
    const stop = articles.find((article) => article.contains(document.activeElement)) ?? articles.at(-1);
    for (const article of articles) article.tabIndex = article === stop ? 0 : -1;
  }

  #isAtEnd() {
    return this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < NEAR_END_PX;
  }

  /** Who scrolls up leaves the end; what grows below does not lead away from it. */
  #scrolled() {
    const top = this.list.scrollTop;
    this.#atEnd = this.#isAtEnd() || (this.#atEnd && top >= this.#top);
    this.#top = top;
    this.toEnd.hidden = this.#atEnd;
  }
}

/** Messages and signs as items {key, message} and {key, sign}; a sign stands where the answer will appear. */
function inOrder(messages, signs) {
  const items = messages.map((item) => ({ key: keyOf(item.message), ...item }));
  for (const sign of signs) {
    const inThread = ({ message }) => message && sign.thread && [message.id, message.thread].includes(sign.thread);
    const after = sign.platform === "slack" ? items.findLastIndex(inThread) : -1;
    items.splice(after < 0 ? items.length : after + 1, 0, { key: `sign ${sign.thread}`, sign });
  }
  return items;
}

/** Whether a message goes on where the one before stopped: same author, same thread, soon after. */
function isSameBreath(before, message) {
  return (
    before !== undefined &&
    before.author_id === message.author_id &&
    before.thread === message.thread &&
    message.at - before.at < SAME_BREATH_SECONDS
  );
}
