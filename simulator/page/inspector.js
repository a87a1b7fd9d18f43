// The bot's turns: what it did for each question, step by step, as it keeps it in its own record.

import { h } from "./dom.js";

const POLL_MS = 1500;
const PLATFORMS = { telegram: "Telegram", slack: "Slack" };
const STATES = {
  running: "at work",
  waiting: "waits for a yes",
  unfinished: "not finished",
  told: "without the model",
  reminded: "reminder",
  undone: "taken back",
};
const CALL_STATES = { running: "runs", waiting: "waits for a yes", unfinished: "cut", done: "", failed: "failed" };
const MISSED = {
  expired: "it had expired",
  model_changed: "the model is another one",
  thinking_stripped: "the thinking of the turn before was left out",
  view_cut: "older turns were folded into a summary",
  unknown: "nobody knows why",
};
const PARTS = [
  ["read", "from the cache"],
  ["written", "to the cache"],
  ["fresh", "fresh"],
  ["output", "output"],
];

/** `watch(true)` looks for turns again and again, until `watch(false)`. What is open stays open as a turn goes on. */
export class Inspector {
  #watched = false;
  #timer = 0;
  #shown = new Map(); // id of a turn -> {element, json}
  #list = h("ol", { class: "turns", "aria-label": "Turns, newest first" });
  #empty = h("p", { class: "empty" }, "No turns yet. Write to Kabar, and see here what it does.");

  constructor() {
    this.element = h("div", {}, this.#empty, this.#list);
  }

  watch(yes) {
    if (yes === this.#watched) return;
    this.#watched = yes;
    clearTimeout(this.#timer);
    if (yes) this.#look();
  }

  async #look() {
    const turns = await newest();
    if (!this.#watched) return;
    if (turns) this.#render(turns);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), POLL_MS);
  }

  #render(turns) {
    const keys = new Set(turns.map(keyOf));
    for (const [key, { element }] of this.#shown) {
      if (keys.has(key)) continue;
      element.remove();
      this.#shown.delete(key);
    }
    turns.forEach((turn, n) => this.#place(turn, n));
    this.#empty.hidden = turns.length > 0;
  }

  #place(turn, position) {
    const entry = this.#shown.get(keyOf(turn)) ?? { element: h("li") };
    this.#shown.set(keyOf(turn), entry);
    const json = JSON.stringify(turn);
    if (entry.json !== json) redraw(entry.element, turnDetails(turn));
    entry.json = json;
    const there = this.#list.children[position];
    if (there !== entry.element) this.#list.insertBefore(entry.element, there ?? null);
  }
}

/** The turns, or null where they can not be had now. */
async function newest() {
  if (document.hidden) return null;
  const response = await fetch("/sim/turns").catch(() => null);
  return response?.ok ? response.json().catch(() => null) : null;
}

function keyOf({ conversation, id }) {
  return `${conversation} ${id}`;
}

/** Puts `content` into the element; what was open and what had the focus there keep it. */
function redraw(element, content) {
  const open = new Set([...element.querySelectorAll("details[open]")].map(({ dataset }) => dataset.key));
  const focused = element.contains(document.activeElement) && document.activeElement.closest("details").dataset.key;
  element.replaceChildren(content);
  for (const details of element.querySelectorAll("details")) {
    details.open = open.has(details.dataset.key);
    if (details.dataset.key === focused) details.firstChild.focus({ preventScroll: true });
  }
}

function turnDetails(turn) {
  const platform = turn.conversation.split(":")[0];
  return folded(
    "turn",
    `turn ${turn.state}`,
    [
      h(
        "span",
        { class: "turn-head" },
        h("strong", {}, turn.who),
        h("span", {}, [PLATFORMS[platform] ?? platform, " · ", clockTime(turn.at)]),
        h("span", { class: "turn-state" }, STATES[turn.state] ?? turn.state),
      ),
      h("span", { class: "turn-text" }, turn.text),
      h("span", { class: "turn-figures" }, figures(totals(turn.totals))),
    ],
    turnBody(turn, ""),
  );
}

function turnBody({ steps, state, shown, good, bad, totals: { model_calls, model_ms, tool_ms } }, within) {
  const times = [model_ms && `model ${duration(model_ms)}`, tool_ms && `tools ${duration(tool_ms)}`];
  return [
    steps.length > 0 && h("ol", { class: "turn-steps" }, steps.map((step, n) => stepItem(step, `${within}${n}`))),
    shown && h("p", { class: "words" }, h("strong", {}, `${capital(STATES[state] ?? state)}: `), shown),
    (good > 0 || bad > 0) && h("p", { class: "figures" }, joined([good && `${good} 👍`, bad && `${bad} 👎`])),
    model_calls > 1 && times.some(Boolean) && h("p", { class: "figures" }, "In all: ", joined(times)),
  ];
}

function stepItem(step, key) {
  const draw = { model: modelStep, said: saidStep, note: noteStep, summary: summaryStep, files: filesStep }[step.kind];
  return h("li", { class: `turn-step of-${step.kind}` }, draw(step, key));
}

function modelStep({ model, stop_reason, tokens, cost, missed, took_ms, text, calls }, key) {
  return [
    heading(model || "Model", [stop_reason, took_ms > 0 && duration(took_ms)]),
    tokenBar(tokens),
    h("p", { class: "figures" }, figures([...tokenWords(tokens), cost !== null && price(cost)])),
    missed && h("p", { class: "missed" }, `Missed in the cache: ${MISSED[missed] ?? missed.replaceAll("_", " ")}.`),
    text && h("p", { class: "words" }, text),
    calls.length > 0 && h("ul", { class: "tool-calls" }, calls.map((call, n) => callItem(call, `${key}.${n}.`))),
  ];
}

function callItem({ name, arguments: given, state, result, took_ms, asked, by, provided, inside }, key) {
  const facts = [provided && "by the provider", CALL_STATES[state], took_ms > 0 && duration(took_ms)];
  const decided = { yes: `Allowed by ${by}`, no: `Not allowed by ${by}`, waiting: "Waits for a person's yes" }[asked];
  return h(
    "li",
    {},
    folded(
      key,
      `tool-call ${state}`,
      [
        h("code", {}, name),
        h("span", { class: "glance" }, state === "done" ? oneLine(result) : oneLine(given)),
        h("span", { class: "facts" }, joined(facts)),
      ],
      [
        decided && h("p", { class: "figures" }, decided),
        given && labelled("Arguments", given),
        inside && [h("p", { class: "figures" }, "Inside: ", figures(totals(inside.totals))), turnBody(inside, key)],
        result && labelled(state === "failed" ? "Error" : "Result", result),
      ],
    ),
  );
}

function saidStep({ who, text }) {
  return [heading(`${who} added`, []), h("p", { class: "words" }, text)];
}

function noteStep({ text }) {
  return [heading("Told to the model", []), h("p", { class: "words" }, text)];
}

function summaryStep({ text, model, tokens, cost }) {
  return [
    heading("Older turns left out", [model]),
    model && h("p", { class: "figures" }, figures([...tokenWords(tokens), cost !== null && price(cost)])),
    text && h("p", { class: "words" }, text),
  ];
}

function filesStep({ names, lost }) {
  const gone = lost.length > 0 && `Could not be had: ${lost.join(", ")}`;
  return [heading("Files", []), h("p", { class: "words" }, joined([names.join(", "), gone]))];
}

function folded(key, className, summary, body) {
  return h("details", { "data-key": key, class: className }, h("summary", {}, summary), h("div", {}, body));
}

function heading(title, facts) {
  return h("p", { class: "step-head" }, h("strong", {}, title), h("span", { class: "facts" }, joined(facts)));
}

function labelled(title, text) {
  return [
    h("p", { class: "figures" }, title),
    h("pre", { tabindex: "0", role: "group", "aria-label": title }, text),
  ];
}

/** Decoration: the words below it say the same. */
function tokenBar(tokens) {
  const bar = h("div", { class: "token-bar", "aria-hidden": "true" });
  for (const [name] of PARTS) {
    const part = h("i", { class: `tokens-${name}` });
    part.style.flexGrow = tokens[name];
    bar.append(part);
  }
  return bar;
}

function tokenWords(tokens) {
  const words = PARTS.map(([name, label]) => tokens[name] > 0 && `${number(tokens[name])} ${label}`);
  return [...words, `${tokens.cached}% cached`];
}

function totals({ model_calls, tool_calls, tokens, cost, unpriced, model_ms, tool_ms }) {
  const all = tokens.fresh + tokens.written + tokens.read + tokens.output;
  const took = model_ms + tool_ms;
  return [
    model_calls > 0 && counted(model_calls, "model call"),
    tool_calls > 0 && counted(tool_calls, "tool call"),
    all > 0 && `${number(all)} tokens`,
    all > 0 && `${tokens.cached}% cached`,
    model_calls > 0 && (unpriced === model_calls ? "price not known" : price(cost)),
    took > 0 && duration(took),
  ];
}

function joined(words) {
  return words.filter(Boolean).join(" · ");
}

/** Each on one line. */
function figures(words) {
  return joined(words.map((each) => each && each.replaceAll(" ", "\u00a0")));
}

function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function price(millionths) {
  return `$${(millionths / 1e6).toFixed(millionths >= 1e6 || millionths === 0 ? 2 : 4)}`;
}

function duration(ms) {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function number(count) {
  return count.toLocaleString("en").replaceAll(",", "\u202f");
}

function clockTime(at) {
  return new Date(at * 1000).toLocaleTimeString([], { timeStyle: "medium", hourCycle: "h23" });
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function oneLine(text) {
  return text.replace(/\s+/g, " ").slice(0, 80);
}
