// One message as an element.

import { blockKit } from "./blocks.js";
import { fragment, h, icon, link } from "./dom.js";
import { markdown } from "./markdown.js";
import { mrkdwn } from "./mrkdwn.js";
import { telegramText } from "./telegram_text.js";

/** The empty article of a message; `fillMessage` puts the content in, again after each change. */
export function messageArticle() {
  return h("article", { tabindex: "-1" });
}

/**
 * Shows the message in its article, as the person `speaker` sees it. `names` turns Slack ids into names. `can` holds
 * what the person may do with it: functions reply, thread and edit (absent where they make no sense) and tap(button).
 */
export function fillMessage(article, message, speaker, names, can) {
  article.className = "message";
  article.classList.toggle("ours", message.author_id === speaker);
  article.classList.toggle("in-thread", message.platform === "slack" && message.thread !== "");
  article.classList.toggle("live", message.draft || message.streaming);
  article.setAttribute("aria-label", `${message.author}, ${clock(message.at)}`);
  const bubble = h(
    "div",
    { class: "bubble" },
    heading(message),
    quote(message),
    h("div", { class: "text" }, body(message, names)),
    files(message),
    message.reactions.length > 0 && h("div", {}, h("span", { class: "reactions" }, message.reactions.join(" "))),
    footer(message),
  );
  const avatar = h(
    "span",
    { class: "avatar", "data-author": message.author_id, "aria-hidden": "true" },
    message.author[0],
  );
  article.replaceChildren(fragment(avatar, bubble, buttons(message, can.tap), trouble(message), tools(can)));
}

/** What the message says without any style, for a quote, a notice or a screen reader. */
export function plainText(message, names) {
  return h("div", {}, body(message, names)).textContent.trim();
}

function body(message, names) {
  if (message.platform === "telegram") return telegramText(message.text, message.entities);
  if (message.blocks.length) return blockKit(message.blocks, names);
  return message.markdown_text ? markdown(message.markdown_text, names) : mrkdwn(message.text, names);
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

function quote({ quote: quoted }) {
  return quoted && h("div", { class: "quote" }, h("strong", {}, quoted.author), h("span", {}, quoted.text));
}

function files(message) {
  return message.files.map(({ name, media_type: type, url }) =>
    type.startsWith("image/") && url
      ? h("img", { class: "picture", src: url, alt: name, loading: "lazy" })
      : h("a", { class: "file", href: url, download: name }, name),
  );
}

function footer(message) {
  return h(
    "div",
    { class: "footer" },
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
  return h(
    "span",
    { class: `tick tick-${state}`, role: "img", "aria-label": TICKS[state], title: TICKS[state] },
    icon(state),
  );
}

/** One line under a message that did not simply arrive. */
function trouble({ delivery }) {
  const sentence = delivery && SENTENCES[delivery.state]?.(delivery);
  return sentence && h("p", { class: `trouble trouble-${delivery.state}` }, sentence);
}

const SENTENCES = {
  repeating: ({ status, attempts }) => `${outcome(status)}; being repeated (attempt ${attempts + 1})`,
  refused: ({ status }) => `${outcome(status)}; given up`,
  kept: () => "Privacy mode: the bot does not get this. Mention it or reply to it.",
};

function outcome(status) {
  if (!status) return "The bot did not answer";
  return status < 500 ? `The bot refused this update: ${status}` : `The bot answered ${status}`;
}

function buttons(message, tap) {
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
  ["edit", "Edit", "edit"],
];

function tools(can) {
  const offered = TOOLS.filter(([name]) => can[name]);
  const tool = ([name, label, drawing]) =>
    h(
      "button",
      { type: "button", class: "tool", "aria-label": label, title: label, onclick: can[name] },
      icon(drawing),
    );
  return h("div", { class: "tools" }, offered.map(tool));
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
