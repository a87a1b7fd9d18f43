// Reads the bot's messages to people who can not see them, once each has come to rest.

import { plainText } from "./message.js";
import { keyOf } from "./world.js";

const REST_MS = 1200;

/** `region` is an aria-live element; `names` turns Slack ids into names. Call `heard` for every message that comes. */
export class Announcer {
  #region;
  #names;
  #timers = new Map();
  #last = new Map();

  constructor(region, names) {
    this.#region = region;
    this.#names = names;
  }

  /** A streamed answer changes many times a second: only the text that then stays is read. */
  heard(message) {
    if (!message.is_bot || message.draft) return;
    const key = keyOf(message);
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => this.#say(key, message), REST_MS),
    );
  }

  #say(key, message) {
    this.#timers.delete(key);
    const sentence = `${message.author}: ${plainText(message, this.#names)}`;
    if (this.#last.get(key) === sentence) return;
    this.#last.set(key, sentence);
    this.#region.textContent = sentence;
  }
}
