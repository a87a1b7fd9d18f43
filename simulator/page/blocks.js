// Slack's Block Kit as elements. Buttons are not drawn here: the simulator lists them beside the blocks.

import { codeBlock, fragment, h, link } from "./dom.js";
import { markdown } from "./markdown.js";
import { mrkdwn } from "./mrkdwn.js";

/** Nodes for a message's blocks. `names` turns a user or channel id into what people call it. */
export function blockKit(blocks, names) {
  return fragment(blocks.map((block) => (BLOCKS[block.type] ?? unknown)(block, names)));
}

const BLOCKS = {
  actions: () => null,
  context_actions: () => null,
  context: (block, names) =>
    h(
      "div",
      { class: "context" },
      block.elements.map((part) => contextPart(part, names)),
    ),
  divider: () => h("hr"),
  header: (block) => h("div", { class: "heading heading-2" }, block.text.text),
  image: (block) => h("div", {}, link(block.image_url ?? "", block.title?.text || block.alt_text || "image")),
  markdown: (block, names) => markdown(block.text, names),
  rich_text: (block, names) => fragment(block.elements.map((part) => richPart(part, names))),
  section: (block, names) => [
    block.text && h("div", {}, textObject(block.text, names)),
    block.fields &&
      h(
        "div",
        { class: "fields" },
        block.fields.map((field) => h("div", {}, textObject(field, names))),
      ),
  ],
  table: (block, names) =>
    h(
      "div",
      { class: "table" },
      h(
        "table",
        {},
        block.rows.map((row) =>
          h(
            "tr",
            {},
            row.map((cell) => tableCell(cell, names)),
          ),
        ),
      ),
    ),
};

function unknown(block) {
  return h("div", { class: "context" }, `[${block.type} block]`);
}

function textObject(text, names) {
  return text.type === "mrkdwn" ? mrkdwn(text.text, names) : h("div", {}, text.text);
}

function contextPart(part, names) {
  return part.type === "image" ? link(part.image_url ?? "", part.alt_text || "image") : textObject(part, names);
}

function tableCell(cell, names) {
  return h("td", {}, cell.type === "rich_text" ? blockKit([cell], names) : cell.text);
}

function richPart(part, names) {
  const inside = (elements) => elements.map((element) => richInline(element, names));
  if (part.type === "rich_text_preformatted")
    return codeBlock(part.elements.map(({ text = "", url }) => text || url).join(""));
  if (part.type === "rich_text_quote") return h("blockquote", {}, inside(part.elements));
  if (part.type === "rich_text_list") {
    const items = part.elements.map((item) => h("li", {}, inside(item.elements)));
    return h(part.style === "ordered" ? "ol" : "ul", { class: `level-${part.indent ?? 0}` }, items);
  }
  return h("p", {}, inside(part.elements ?? []));
}

const RICH_INLINE = {
  text: (element) => element.text,
  link: (element) => link(element.url, element.text || element.url),
  user: (element, names) => h("span", { class: "mention" }, `@${names(element.user_id)}`),
  channel: (element, names) => h("span", { class: "mention" }, `#${names(element.channel_id)}`),
  broadcast: (element) => h("span", { class: "mention" }, `@${element.range}`),
  emoji: (element) => `:${element.name}:`,
};
const STYLES = { bold: "strong", italic: "em", strike: "s", underline: "u", code: "code" };

function richInline(element, names) {
  const plain = RICH_INLINE[element.type]?.(element, names) ?? element.text ?? "";
  const styles = Object.keys(STYLES).filter((style) => element.style?.[style]);
  return styles.reduceRight((inside, style) => h(STYLES[style], {}, inside), plain);
}
