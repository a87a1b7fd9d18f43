// One message as an element.

import { blockKit } from "./blocks.js";
import { fragment, h, icon, link } from "./dom.js";
import { files } from "./files.js";
import { markdown } from "./markdown.js";
import { mrkdwn } from "./mrkdwn.js";
import { steps } from "./tasks.js";
import { telegramText } from "./telegram_text.js";

/** The empty article of a message; `fillMessage` puts the content in, again after each change. */
export function messageArticle() {
  return h("article", { tabindex: "-1" });
}

/**
 * Shows the message in its article, as the person `me` sees it. `names` turns Slack ids into names. `replies` is how
 * many its thread has. `can` holds what the person may do with it: functions reply, thread, ask, edit and remove
 * (absent where they make no sense) and tap(button).
 */
export function fillMessage(article, { message, replies = 0 }, me, names, can) {
  const live = message.draft || message.streaming;
  const before = article.querySelector(".steps");
  const unfolded = before && article.classList.contains("live") === live ? before.open : live;
  article.className = "message";
  article.classList.toggle("ours", message.author_id === me);
  article.classList.toggle("in-thread", message.platform === "slack" && message.thread !== "");
  article.classList.toggle("live", live);
  article.classList.toggle("private-to-me", message.only_for !== "");
  article.setAttribute("aria-label", `${message.author}, ${clock(message.at)}`);
  const bubble = h(
    "div",
    { class: "bubble" },
    heading(message),
    quote(message),
    steps(message, unfolded),
    h("div", { class: `text ${emoji(message) ? "large" : ""}` }, body(message, names)),
    h("div", { class: "files" }, files(message)),
    message.reactions.length > 0 && h("div", {}, h("span", { class: "reactions" }, message.reactions.join(" "))),
    footer(message),
  );
  const avatar = h(
    "span",
    { class: "avatar", "data-author": message.author_id, "aria-hidden": "true" },
    message.author[0],
  );
  const thread = replies > 0 && threadLink(replies, can.thread);
  article.replaceChildren(fragment(avatar, bubble, buttons(message, can.tap), trouble(message), thread, tools(can)));
}

/** What the message says without any style, for a quote, a notice or a screen reader. */
export function plainText(message, names) {
  return h("div", {}, body(message, names)).textContent.trim();
}

function body(message, names) {
  if (message.platform === "telegram") return telegramText(message.text, message.entities);
  if (!message.blocks.length && !message.markdown_text) return mrkdwn(message.text, names);
  const blocks = blockKit(message.blocks, names);
  return message.markdown_text ? fragment(markdown(message.markdown_text, names), blocks) : blocks;
}

function heading(message) {
  return h(
    "div",
    { class: "heading-line" },
    h("span", { class: "author", "data-author": message.author_id }, message.author),
    message.is_bot && h("span", { class: "badge" }, "bot"),
    message.only_for && h("span", { class: "aside" }, "Only visible to you"),
    h("time", { class: "when-slack", datetime: new Date(message.at * 1000).toISOString() }, clock(message.at)),
  );
}

/** A sticker is shown as its emoji, as large as one. */
function emoji({ files: attached }) {
  return attached[0]?.kind === "sticker";
}

function quote({ quote: quoted }) {
  return quoted && h("div", { class: "quote" }, h("strong", {}, quoted.author), h("span", {}, quoted.text));
}

function footer(message) {
  return h(
    "div",
    { class: "footer" },
    message.silent && mark("silent", "Sent without a sound"),
    message.draft && h("span", {}, "draft"),
    message.edits > 0 && h("span", { class: "edited", title: changes(message.edits) }, "edited"),
    h("time", { class: "when-telegram", datetime: new Date(message.at * 1000).toISOString() }, clock(message.at)),
    message.delivery && tick(message.delivery),
  );
}

function changes(count) {
  return count === 1 ? "changed once" : `changed ${count} times`;
}

const TICKS = {
  pending: "On its way to the bot",
  accepted: "Accepted by the bot",
  repeating: "Being repeated",
  refused: "Given up",
  kept: "Not sent to the bot",
};

function tick({ state }) {
  return mark(state, TICKS[state]);
}

function mark(drawing, words) {
  const attributes = { class: `tick tick-${drawing}`, role: "img", "aria-label": words, title: words };
  return h("span", attributes, icon(drawing));
}

/** One line under a message that did not simply arrive. */
function trouble({ delivery, kept, members }) {
  if (kept && kept < members.length) return h("p", { class: "trouble trouble-kept" }, HALF_KEPT);
  const sentence = delivery && SENTENCES[delivery.state]?.(delivery);
  return sentence && h("p", { class: `trouble trouble-${delivery.state}` }, sentence);
}

const SENTENCES = {
  repeating: ({ status, attempts }) => `${outcome(status)}; being repeated (attempt ${attempts + 1})`,
  refused: ({ status }) => `${outcome(status)}; given up`,
  kept: () => "Privacy mode: the bot does not get this. Mention it or reply to it.",
};

const HALF_KEPT = "Privacy mode: the bot gets only what the mention stands under. Reply to it to show it all.";

function outcome(status) {
  if (!status) return "The bot did not answer";
  return status < 500 ? `The bot refused this update: ${status}` : `The bot answered ${status}`;
}

/** The rows of buttons of a message, or of the bot's home; null where there are none. */
export function buttons(message, tap) {
  if (!message.buttons.length) return null;
  const row = (line) =>
    h(
      "div",
      { class: "button-row" },
      line.map((button) => pressable(button, tap)),
    );
  return h("div", { class: "buttons" }, message.buttons.map(row));
}

function pressable(button, tap) {
  const element = button.url
    ? link(button.url, button.text)
    : h("button", { type: "button", onclick: () => tap(button) }, button.text);
  element.className = `press ${button.style}`.trim();
  return element;
}

const TOOLS = [
  ["reply", "Reply", "reply"],
  ["thread", "Reply in thread", "thread"],
  ["ask", "Ask Kabar", "ask"],
  ["edit", "Edit", "edit"],
  ["remove", "Delete", "delete"],
];

function tools(can) {
  const offered = TOOLS.filter(([name]) => can[name]);
  const tool = ([name, label, drawing]) =>
    h(
      "button",
      { type: "button", class: "tool", "aria-label": label, title: label, onclick: can[name] },
      icon(drawing),
    );
  // Pressing one must not clear what is selected in the message: that is what a reply quotes.
  const keep = (event) => event.preventDefault();
  return h("div", { class: "tools", onpointerdown: keep, onmousedown: keep }, offered.map(tool));
}

function threadLink(replies, open) {
  const words = replies === 1 ? "1 reply" : `${replies} replies`;
  return h("button", { type: "button", class: "thread-link", onclick: open }, icon("thread"), words);
}

export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

/** The sign of life: "Kabar is typing" with moving dots, and Slack's own Stop button where it has one. */
export function signElement(sign, stop) {
  const words = sign.text.replace(/^is /, "").replace(/[….]+$/, "");
  return h(
    "div",
    { class: `sign ${sign.platform === "slack" && sign.thread ? "in-thread" : ""}` },
    h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    `Kabar is ${words}`,
    sign.stop && h("button", { type: "button", class: "stop", onclick: () => stop(sign) }, "Stop"),
  );
}
