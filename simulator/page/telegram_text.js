// Telegram text: a plain string and entities that style stretches of it.

import { codeBlock, fragment, h, link } from "./dom.js";

const ELEMENTS = {
  bold: (inside) => h("strong", {}, inside),
  italic: (inside) => h("em", {}, inside),
  underline: (inside) => h("u", {}, inside),
  strikethrough: (inside) => h("s", {}, inside),
  code: (inside) => h("code", {}, inside),
  blockquote: (inside) => h("blockquote", {}, inside),
  expandable_blockquote: (inside) => h("blockquote", {}, inside),
  spoiler: (inside) => h("details", { class: "spoiler" }, h("summary", {}, "Spoiler"), inside),
  text_link: (inside, entity) => link(entity.url, inside),
  url: (inside, entity, text) => link(text.includes("://") ? text : `https://${text}`, inside),
  email: (inside, entity, text) => link(`mailto:${text}`, inside),
  phone_number: (inside, entity, text) => link(`tel:${text}`, inside),
  pre: (inside, entity, text) => codeBlock(text, entity.language),
};
const BLOCKS = new Set(["pre", "blockquote", "expandable_blockquote"]); // they break lines by themselves
const HIGHLIGHTED = new Set(["mention", "text_mention", "hashtag", "cashtag", "bot_command"]);

/** Styled text. Offsets and lengths count UTF-16 units, which is what a JavaScript string is made of. */
export function telegramText(text, entities = []) {
  const widestFirst = [...entities].sort((a, b) => a.offset - b.offset || b.length - a.length);
  return fragment(...stretch(text, 0, text.length, widestFirst));
}

/** The nodes of text[from, to). `entities` begin inside it, sorted by offset, widest first. */
function stretch(text, from, to, entities) {
  const nodes = [];
  let at = from;
  let rest = entities;
  while (rest.length) {
    const [entity, ...later] = rest;
    const start = Math.max(entity.offset, at);
    const end = Math.min(entity.offset + entity.length, to);
    const inner = later.filter((other) => other.offset < end);
    rest = later.slice(inner.length);
    if (end <= start) continue;
    const before = text.slice(at, start);
    const inside = styled(entity, text.slice(start, end), stretch(text, start, end, inner));
    nodes.push(BLOCKS.has(entity.type) ? before.replace(/\n$/, "") : before, inside);
    at = BLOCKS.has(entity.type) ? end + /^\n{0,2}/.exec(text.slice(end, to))[0].length : end;
  }
  return [...nodes, text.slice(at, to)];
}

function styled(entity, text, inside) {
  if (HIGHLIGHTED.has(entity.type)) return h("span", { class: "mention" }, inside);
  return ELEMENTS[entity.type]?.(inside, entity, text) ?? fragment(inside);
}
