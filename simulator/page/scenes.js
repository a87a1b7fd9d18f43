// Behind the scenes: what the bot's turns did, every API call it makes, and ways to make the platforms misbehave.

import { h, icon } from "./dom.js";
import { Inspector } from "./inspector.js";

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
  #inspector = new Inspector();
  #open = 0; // which of the tabs
  #tabs;
  #panels;

  constructor(world, aside, toggle, request) {
    this.#world = world;
    this.#request = request;
    this.aside = aside;
    this.toggle = toggle;
    this.faults = h("ul", { class: "faults" });
    this.calls = h("ol", { class: "calls", tabindex: "0", "aria-label": "API calls, newest first" });
    const calls = h("h3", {}, "API calls");
    this.#panels = [
      panel("turns", this.#inspector.element),
      panel("platforms", this.#faultForm(), this.faults, calls, this.calls, this.#reset()),
    ];
    this.#tabs = ["Turns", "Platforms"].map((title, n) => this.#tab(title, n));
    const tabs = h("div", { class: "scene-tabs", role: "tablist", "aria-label": "What to look at" }, this.#tabs);
    this.aside.append(this.#head(), tabs, ...this.#panels);
    this.toggle.addEventListener("click", () => this.#show(this.aside.hidden));
    this.aside.addEventListener("keydown", (event) => event.key === "Escape" && this.#show(false));
  }

  render() {
    this.#inspector.watch(!this.aside.hidden && this.#open === 0);
    if (this.aside.hidden) return;
    this.#tabs.forEach((tab, n) => {
      tab.setAttribute("aria-selected", String(n === this.#open));
      tab.tabIndex = n === this.#open ? 0 : -1;
      this.#panels[n].hidden = n !== this.#open;
    });
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

  #tab(title, n) {
    const choose = (chosen) => {
      this.#open = chosen;
      this.render();
      this.#tabs[chosen].focus();
    };
    const move = ({ key }) => ["ArrowLeft", "ArrowRight"].includes(key) && choose(1 - n);
    const controls = { "aria-controls": this.#panels[n].id, onclick: () => choose(n), onkeydown: move };
    return h("button", { type: "button", class: "quiet", role: "tab", ...controls }, title);
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

function panel(name, ...content) {
  return h("div", { class: "scene", role: "tabpanel", id: `scene-${name}`, "aria-label": name }, content);
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
