// Slack's `markdown_text` and markdown blocks: ordinary Markdown, read line by line into elements.

import { codeBlock, fragment, h, link } from "./dom.js";
import { inline } from "./inline.js";
import { references, unescaped } from "./mrkdwn.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}(?:>|&gt;) ?/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+)(?=\S)/;
const DELIMITERS = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const INDENTED = /^(?: {4}|\t)/;
const TASK = /^\[([ xX])\]\s+/;

/** Nodes for a Markdown text. `names` turns a user or channel id into what people call it. */
export function markdown(text, names) {
  return fragment(blocks(text.split("\n"), inlineRules(names)));
}

/** Each reader takes the lines from its own kind of block on and returns [node, how many lines it took], or null. */
const READERS = [fence, indented, heading, rule, quote, table, list, paragraph];

function blocks(lines, rules) {
  const nodes = [];
  for (let at = 0; at < lines.length;) {
    if (!lines[at].trim()) {
      at++;
      continue;
    }
    const rest = lines.slice(at);
    for (const reader of READERS) {
      const read = reader(rest, rules);
      if (!read) continue;
      nodes.push(read[0]);
      at += read[1];
      break;
    }
  }
  return nodes;
}

function fence(lines) {
  const opening = FENCE.exec(lines[0]);
  if (!opening) return null;
  const [, marks, language] = opening;
  const closing = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}\\s*$`);
  const end = lines.findIndex((line, n) => n > 0 && closing.test(line));
  // A fence still open is what a streamed answer looks like in the middle of its code.
  const code = lines.slice(1, end < 0 ? lines.length : end);
  return [codeBlock(unescaped(code.join("\n")), language), code.length + (end < 0 ? 1 : 2)];
}

function indented(lines) {
  const count = leading(lines, (line, n) => INDENTED.test(line) || (!line.trim() && INDENTED.test(lines[n + 1] ?? "")));
  if (!count) return null;
  return [codeBlock(unescaped(lines.slice(0, count).map((line) => line.replace(INDENTED, "")).join("\n"))), count];
}

function heading(lines, rules) {
  const match = HEADING.exec(lines[0]);
  if (!match) return null;
  const element = h("div", { class: `heading heading-${match[1].length}` }, inline(match[2], rules));
  return [element, 1];
}

function rule(lines) {
  return RULE.test(lines[0]) ? [h("hr"), 1] : null;
}

function quote(lines, rules) {
  const count = leading(lines, (line) => QUOTE.test(line));
  if (!count) return null;
  const inside = lines.slice(0, count).map((line) => line.replace(QUOTE, ""));
  return [h("blockquote", {}, blocks(inside, rules)), count];
}

function table(lines, rules) {
  if (!lines[0].includes("|") || !DELIMITERS.test(lines[1] ?? "") || !lines[1].includes("-")) return null;
  const count = 2 + leading(lines.slice(2), (line) => line.includes("|"));
  const sides = row(lines[1]).map((marks) => (/^:.*:$/.test(marks) ? "center" : marks.endsWith(":") ? "right" : null));
  const cells = (line, name) => row(line).map((cell, n) => h(name, { class: sides[n] }, inline(cell, rules)));
  const element = h(
    "div",
    { class: "table" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, cells(lines[0], "th"))),
      h(
        "tbody",
        {},
        lines.slice(2, count).map((line) => h("tr", {}, cells(line, "td"))),
      ),
    ),
  );
  return [element, count];
}

function row(line) {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function list(lines, rules) {
  const first = ITEM.exec(lines[0]);
  if (!first) return null;
  const ordered = /\d/.test(first[2]);
  const items = [];
  let at = 0;
  while (at < lines.length) {
    const marker = ITEM.exec(lines[at]);
    if (!marker || /\d/.test(marker[2]) !== ordered || marker[1].length !== first[1].length) break;
    const count = 1 + leading(lines.slice(at + 1), belongsTo(marker));
    items.push(item(lines.slice(at, at + count), marker, rules));
    at += count;
  }
  return [h(ordered ? "ol" : "ul", ordered ? { start: parseInt(first[2], 10) } : {}, items), at];
}

/** Lines indented deeper than an item's marker are part of the item, and so are empty ones before such a line. */
function belongsTo(marker) {
  return (line, n, lines) => {
    const next = line.trim() ? line : lines.slice(n).find((later) => later.trim());
    return next !== undefined && next.search(/\S/) > marker[1].length;
  };
}

function item(lines, marker, rules) {
  const width = marker[0].length;
  const text = [lines[0].slice(width), ...lines.slice(1).map((line) => line.slice(Math.min(width, indent(line))))];
  const task = TASK.exec(text[0]);
  if (!task) return h("li", {}, blocks(text, rules));
  const done = task[1] !== " ";
  text[0] = text[0].replace(TASK, "");
  return h("li", { class: "task" }, h("span", { class: "box" }, done ? "☑ " : "☐ "), blocks(text, rules));
}

function indent(line) {
  const start = line.search(/\S/);
  return start < 0 ? line.length : start;
}

// Slack does not document what it does with a single line break: here it stays one, so that nothing is hidden.
function paragraph(lines, rules) {
  const starts = (line) => [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));
  const count = 1 + leading(lines.slice(1), (line) => line.trim() !== "" && !starts(line));
  const text = lines
    .slice(0, count)
    .map((line) => line.trim())
    .join("\n");
  return [h("p", {}, inline(text, rules)), count];
}

/** How many lines from the start satisfy the test. */
function leading(lines, test) {
  const end = lines.findIndex((line, n) => !test(line, n, lines));
  return end < 0 ? lines.length : end;
}

function inlineRules(names) {
  const wrapped = (name) => (match, nested) => h(name, {}, nested(match[1]));
  return [
    [/\\([!-/:-@[-`{-~])/y, ([, character]) => character],
    [/(`+)(?!`)(.+?)(?<!`)\1(?!`)/sy, ([, , code]) => h("code", {}, unescaped(code.trim()))],
    ...references(names),
    [/!?\[((?:[^[\]]|\[[^\]]*\])*)\]\(\s*<?((?:[^\s()<>]|\([^\s()]*\))+)>?(?:\s+"[^"]*")?\s*\)/y, linked],
    [/https?:\/\/[^\s<>]*[^\s<>.,;:!?'")\]*_~]/y, ([address]) => link(unescaped(address), unescaped(address))],
    [/<([\w.+-]+@[\w-]+(?:\.[\w-]+)+)>/y, ([, address]) => link(`mailto:${address}`, address)],
    [marked(/\*\*(?=\S)/, /(?<=\S)\*\*(?!\*)/), wrapped("strong")],
    [marked(/(?<!\w)__(?=\S)/, /(?<=\S)__(?!\w)/), wrapped("strong")],
    [marked(/~~(?=\S)/, /(?<=\S)~~/), wrapped("s")],
    [marked(/\*(?=[^\s*])/, /(?<=[^\s*])\*(?!\*)/), wrapped("em")],
    [marked(/(?<!\w)_(?=[^\s_])/, /(?<=[^\s_])_(?!\w)/), wrapped("em")],
  ];
}

/** A pattern for what stands between two marks: a mark that is escaped, or inside code, ends nothing. */
function marked(opening, closing) {
  const code = (group) => `(\`+)(?!\`).+?(?<!\`)\\${group}(?!\`)`;
  const inside = `\\\\.|${code(2)}|(?!${code(3)})[^\\\\]`;
  return new RegExp(`${opening.source}((?:${inside})+?)${closing.source}`, "sy");
}

// An image is shown as a link: the page loads nothing from outside.
function linked([whole, label, address], nested) {
  return link(unescaped(address), whole.startsWith("!") ? label || "image" : nested(label));
}
