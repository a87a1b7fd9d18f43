// What a person types in Slack against what Slack keeps: "@Ann" is <@U0ANN>, "#general" is <#C0GENERAL>. The simulator
// itself does the rest of what Slack's client does: it escapes & < > and puts addresses into angle brackets.

import { unescaped } from "./mrkdwn.js";

/** Typed text with its mentions by id. `names` maps user and channel ids to names. */
export function toWire(typed, names) {
  const ids = new Map(Object.entries(names).map(([id, name]) => [`${sigil(id)}${name}`.toLowerCase(), id]));
  return typed.replace(/(?<![\w@#])[@#][\w-]+/g, (word) => {
    const id = ids.get(word.toLowerCase());
    return id ? `<${sigil(id)}${id}>` : word;
  });
}

/** The opposite: a kept text as the person typed it, to be changed. */
export function fromWire(kept, names) {
  const named = kept.replace(/<([@#])(\w+)>/g, (whole, mark, id) => (names[id] ? `${mark}${names[id]}` : whole));
  return unescaped(named.replace(/<(https?:[^<>|]+)>/g, "$1"));
}

function sigil(id) {
  return id.startsWith("C") ? "#" : "@";
}
