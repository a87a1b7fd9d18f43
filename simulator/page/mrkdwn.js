// Slack's own notation, "mrkdwn": *bold* _italic_ ~gone~ `code` > quote <address|label> <@user> <#channel> <!here>.

import { codeBlock, fragment, h, link } from "./dom.js";
import { inline } from "./inline.js";

const FENCE = /```\n?([\s\S]*?)```/;
const QUOTED = /^(?:&gt;|>) ?/;

/** Nodes for a mrkdwn text. `names` turns a user or channel id into what people call it. */
export function mrkdwn(text, names) {
  // Splitting at a pattern with one group gives plain text and fenced code in turn.
  const pieces = text.split(FENCE);
  return fragment(pieces.map((piece, n) => (n % 2 ? codeBlock(unescaped(piece)) : quotesAndLines(piece, names))));
}

/** What both notations of Slack share: references in angle brackets, and the three escapes. */
export function references(names) {
  return [
    [/<@([UW]\w+)(?:\|([^>]*))?>/y, ([, id, label]) => mention(`@${label || names(id)}`)],
    [/<#([CG]\w+)(?:\|([^>]*))?>/y, ([, id, label]) => mention(`#${label || names(id)}`)],
    [/<!subteam\^(\w+)(?:\|([^>]*))?>/y, ([, id, label]) => mention(label || `@${id}`)],
    [/<!(here|channel|everyone)(?:\|[^>]*)?>/y, ([, who]) => mention(`@${who}`)],
    [
      /<((?:https?:\/\/|mailto:|tel:)[^|>\s]+)(?:\|([^>]+))?>/y,
      ([, address, label]) => link(unescaped(address), unescaped(label || address)),
    ],
    [/&(?:amp|lt|gt);/y, ([entity]) => unescaped(entity)],
  ];
}

export function unescaped(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function mention(text) {
  return h("span", { class: "mention" }, text);
}

// A mark counts only at a word's edge, as in Slack: snake_case_names and 2*3*4 stay as they are.
function edged(mark, name) {
  const pattern = new RegExp(`(?<![\\w${mark}])${mark}(?=\\S)([^\\n]*?\\S)${mark}(?![\\w${mark}])`, "y");
  return [pattern, ([, inside], nested) => h(name, {}, nested(inside))];
}

function quotesAndLines(text, names) {
  const rules = [
    [/`([^`\n]+)`/y, ([, code]) => h("code", {}, unescaped(code))],
    ...references(names),
    edged("\\*", "strong"),
    edged("_", "em"),
    edged("~", "s"),
  ];
  return runs(text.split("\n"), (line) => QUOTED.test(line)).map(({ quoted, lines }) =>
    quoted
      ? h("blockquote", {}, inline(lines.map((line) => line.replace(QUOTED, "")).join("\n"), rules))
      : h("div", {}, inline(lines.join("\n"), rules)),
  );
}

/** Neighbouring lines of one kind together; a stretch of nothing but empty lines at either end is dropped. */
function runs(lines, isQuoted) {
  const found = [];
  for (const line of lines) {
    const quoted = isQuoted(line);
    if (found.at(-1)?.quoted === quoted) found.at(-1).lines.push(line);
    else found.push({ quoted, lines: [line] });
  }
  return found.filter(({ lines }) => lines.join("").trim());
}
