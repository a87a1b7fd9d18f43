// Starts the page: one world, two panes on it, and what stands around them.

import { Announcer } from "./announcer.js";
import { follow, post, upload } from "./connection.js";
import { h } from "./dom.js";
import { showNotice } from "./notices.js";
import { Pane } from "./pane.js";
import { People } from "./people.js";
import { PlatformTabs } from "./platform_tabs.js";
import { Scenes } from "./scenes.js";
import { World } from "./world.js";

const PLATFORMS = [
  ["telegram", "Telegram"],
  ["slack", "Slack"],
];
const STATUS = {
  waiting: "Nothing sent to the bot yet",
  connected: "Bot connected",
  down: "The bot does not answer",
  restarting: "The bot is being restarted",
};
const OPENING = ["waiting", "Connecting…"];
const GONE = ["down", "Simulator gone, trying again…"];

const byId = (id) => document.getElementById(id);
const world = new World(location.hash.slice(1)); // two windows can be two people: #ann and #budi
const announcer = new Announcer(byId("announcer"), world.nameOf);
const notice = (shown) => showNotice(byId("notices"), shown);
const door = { request: told(post), upload: told(upload) };
const panes = PLATFORMS.map(([name, title]) => new Pane(world, name, title, { door, noticed: notice, changed: render }));
const people = new People(world, byId("people"), {
  become: (id) => (location.hash = id),
  speak: (user, language) => door.request("/sim/person", { user, language }),
});
const scenes = new Scenes(world, byId("scenes"), byId("scenes-toggle"), door.request);
const tabs = new PlatformTabs(byId("platforms"), panes, render);
let online = null; // not known yet
let rendering = false;
let signTimer = 0;

byId("panes").append(...panes.map((pane) => pane.element));
byId("banner").querySelector("button").addEventListener("click", () => byId("banner").remove());
window.addEventListener("hashchange", () => {
  const me = location.hash.slice(1);
  if (world.person(me)) world.me = me;
  render();
});
follow(world, {
  changed: renderSoon,
  noticed: notice,
  heard: (message) => world.isMine(message) && announcer.heard(message),
  connected: (yes) => {
    const first = online === null;
    online = yes;
    render();
    if (first && matchMedia("(hover: hover)").matches) panes[0].composer.text.focus(); // no keyboard pops up on a phone
  },
});

/** The same request to the simulator, but an error is shown as a notice, and the answer is null then. */
function told(request) {
  return async (...what) => {
    try {
      return await request(...what);
    } catch (error) {
      notice({ level: "error", text: error.message });
      return null;
    }
  };
}

/** Streams bring many events at once: they are drawn together, once per frame. */
function renderSoon() {
  if (rendering) return;
  rendering = true;
  requestAnimationFrame(() => {
    rendering = false;
    render();
  });
}

function render() {
  if (byId("banner")) byId("banner").hidden = !world.model.demo; // until it is closed
  renderBot();
  people.render();
  for (const pane of panes) pane.render();
  tabs.render();
  scenes.render();
  wakeWhenASignEnds();
}

function renderBot() {
  const { status, detail } = world.bot;
  const [state, words] = online ? [status, STATUS[status] ?? status] : online === null ? OPENING : GONE;
  const model = world.model.demo ? "demo model" : world.model.name;
  const line = h("p", {}, h("i", { "aria-hidden": "true" }), words, online && model && h("span", {}, ` · ${model}`));
  byId("bot").className = `bot ${state}`;
  byId("bot").title = detail;
  // A live region: what it says is read out again whenever it is put there, so only when it changes.
  if (byId("bot").textContent !== line.textContent) byId("bot").replaceChildren(...line.childNodes);
}

/** A sign of life ends by itself: draw once more when the next one does. */
function wakeWhenASignEnds() {
  clearTimeout(signTimer);
  const left = [...world.signs.values()].map(({ until }) => until * 1000 - Date.now()).filter((ms) => ms > 0);
  if (left.length) signTimer = setTimeout(renderSoon, Math.min(...left) + 20);
}
