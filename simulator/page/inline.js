// The one scanner behind both of Slack's notations: at each place the first rule that matches there makes a node.

/**
 * Nodes for `text`. `rules` are pairs of a sticky regular expression and a function (match, nested) => node, where
 * `nested(text)` applies the same rules to a piece of the match. A rule may return null: then it did not match.
 */
export function inline(text, rules) {
  const nested = (piece) => inline(piece, rules);
  const nodes = [];
  let plain = "";
  for (let at = 0; at < text.length;) {
    const found = firstMatch(text, at, rules, nested);
    if (!found) {
      plain += text[at++];
      continue;
    }
    nodes.push(plain, found.node);
    plain = "";
    at += found.length;
  }
  return [...nodes, plain];
}

function firstMatch(text, at, rules, nested) {
  for (const [pattern, build] of rules) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    const node = match && build(match, nested);
    if (node) return { node, length: match[0].length };
  }
  return null;
}
