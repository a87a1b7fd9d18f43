// Behind the scenes: every API call the bot makes, and ways to make the platforms misbehave.

import { h, icon } from "./dom.js";

const FAULTS = {
  "Too many requests, wait 3 s": { kind: "error", status: 429, retry_after: 3 },
  "Server error (500)": { kind: "error", status: 500 },
  "Do it, then cut the connection": { kind: "cut" },
  "Do it, but never answer": { kind: "mute" },
  "Never do it, never answer": { kind: "hang" },
};
const METHODS = {
  telegram: ["sendMessage", "editMessageText", "sendChatAction", "answerCallbackQuery"],
  slack: ["chat.postMessage", "chat.update", "conversations.replies", "assistant.threads.setStatus"],
};

/** Fills `aside`; call `render()` after the world changed. `request(path, body)` posts and shows errors. */
export class Scenes {
  #world;
  #request;

  constructor(world, aside, toggle, request) {
    this.#world = world;
    this.#request = request;
    this.aside = aside;
    this.toggle = toggle;
    this.faults = h("ul", { class: "faults" });
    this.calls = h("ol", { class: "calls", tabindex: "0", "aria-label": "API calls, newest first" });
    this.aside.append(
      this.#head(),
      this.#faultForm(),
      this.faults,
      h("h3", {}, "What the bot did"),
      this.calls,
      this.#reset(),
    );
    this.toggle.addEventListener("click", () => this.#show(this.aside.hidden));
    this.aside.addEventListener("keydown", (event) => event.key === "Escape" && this.#show(false));
  }

  render() {
    if (this.aside.hidden) return;
    this.faults.replaceChildren(...this.#world.faults.map((fault) => h("li", {}, inWords(fault))));
    if (this.#world.faults.length) {
      const clear = () => this.#request("/sim/faults", { clear: true });
      this.faults.append(h("li", {}, h("button", { type: "button", onclick: clear }, "Stop all faults")));
    }
    const calls = this.#world.calls.map(callLine);
    this.calls.replaceChildren(...(calls.length ? calls : [h("li", { class: "empty" }, "Nothing yet.")]));
  }

  #show(open) {
    this.aside.hidden = !open;
    this.toggle.setAttribute("aria-expanded", String(open));
    this.render();
    (open ? this.close : this.toggle).focus();
  }

  #head() {
    this.close = h(
      "button",
      { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.#show(false) },
      icon("close"),
    );
    return h("header", {}, h("h2", {}, "Behind the scenes"), this.close);
  }

  #faultForm() {
    const platform = h("select", { name: "platform" }, option("telegram", "Telegram"), option("slack", "Slack"));
    const method = h("select", { name: "method" });
    const kind = h(
      "select",
      { name: "kind" },
      Object.keys(FAULTS).map((label) => option(label, label)),
    );
    const times = h("input", { name: "times", type: "number", min: "1", max: "99", value: "1", required: true });
    const offerMethods = () =>
      method.replaceChildren(...METHODS[platform.value].map((name) => option(name, name)), option("*", "every method"));
    const submit = (event) => {
      event.preventDefault();
      const fault = {
        platform: platform.value,
        method: method.value,
        times: Number(times.value),
        ...FAULTS[kind.value],
      };
      if (fault.status === 429 && fault.platform === "slack") fault.error = "ratelimited";
      this.#request("/sim/faults", fault);
    };
    platform.addEventListener("change", offerMethods);
    offerMethods();
    return h(
      "form",
      { class: "fault-form", onsubmit: submit },
      h("h3", {}, "Make something fail"),
      labelled("Platform", platform),
      labelled("Call", method),
      labelled("What happens", kind, "whole"),
      labelled("How often", times),
      h("button", { type: "submit" }, "Add"),
    );
  }

  #reset() {
    const clear = () => confirm("Remove every message? The chats stay.") && this.#request("/sim/reset", {});
    return h("button", { type: "button", class: "reset", onclick: clear }, "Remove all messages");
  }
}

function option(value, label) {
  return h("option", { value }, label);
}

function labelled(label, control, className) {
  return h("label", { class: className }, h("span", {}, label), control);
}

function inWords({ platform, method, kind, status, times }) {
  const what = kind === "error" ? `answers ${status}` : kind;
  return `${platform} ${method === "*" ? "(every method)" : method}: ${what}, ${times} more`;
}

function callLine({ at, platform, method, ok, error }) {
  const time = new Date(at * 1000).toLocaleTimeString([], { timeStyle: "medium", hourCycle: "h23" });
  return h(
    "li",
    { class: ok ? "" : "failed" },
    h("time", {}, time),
    h("span", { class: `platform-${platform}` }, method),
    h("span", {}, ok ? "ok" : error || "failed"),
  );
}
