// What the page knows: the simulator's state, kept up to date by its events. See simulator/README.md for the shapes.

import { Albums } from "./albums.js";

/** Names a message across platforms and chats. */
export const keyOf = ({ platform, chat, id }) => `${platform} ${chat} ${id}`;
const signKeyOf = ({ platform, chat, thread }) => `${platform} ${chat} ${thread}`;

const CALLS_KEPT = 100;
const REPLIES_SHOWN = 2; // of a thread, below its root; all of them are in the thread itself

export class World {
  #albums = new Albums();

  /** `me` is the id of the person the page belongs to: it shows what they see. */
  constructor(me = "") {
    this.me = me;
    this.version = -1;
    this.calls = [];
    this.replace({
      version: -1,
      model: { demo: false, name: "" },
      bot: { url: "", status: "waiting", detail: "" },
      people: [],
      chats: [],
      mention: {},
      names: {},
      commands: [],
      messages: [],
      signs: [],
      faults: [],
      homes: {},
      prompts: {},
    });
  }

  /** Takes the whole state, as GET /sim/state gives it. */
  replace(state) {
    this.version = state.version;
    this.model = state.model;
    this.bot = state.bot;
    this.people = state.people;
    this.mention = state.mention;
    this.names = state.names;
    this.commands = state.commands;
    this.faults = state.faults;
    this.homes = state.homes;
    this.prompts = state.prompts;
    this.chats = state.chats.flatMap(conversationsOf);
    this.messages = new Map(state.messages.map((message) => [keyOf(message), message]));
    this.signs = new Map(state.signs.map((sign) => [signKeyOf(sign), sign]));
    if (!this.person(this.me)) this.me = this.people[0]?.id ?? this.me;
  }

  /** Takes one event. One that the state already holds (its id is not above the state's version) changes nothing. */
  apply(name, version, data) {
    if (version <= this.version) return;
    this.version = version;
    this[`on_${name}`]?.(data);
  }

  on_message(message) {
    this.messages.set(keyOf(message), message);
  }

  on_gone(message) {
    this.messages.delete(keyOf(message));
  }

  on_sign(sign) {
    if (sign.text) this.signs.set(signKeyOf(sign), sign);
    else this.signs.delete(signKeyOf(sign));
  }

  on_bot(bot) {
    this.bot = bot;
  }

  on_model(model) {
    this.model = model;
  }

  on_people(people) {
    this.people = people;
  }

  on_commands(commands) {
    this.commands = commands;
  }

  on_faults(faults) {
    this.faults = faults;
  }

  on_home({ user, view }) {
    this.homes = { ...this.homes, [user]: view };
  }

  on_prompts({ chat, ...prompts }) {
    this.prompts = { ...this.prompts, [chat]: prompts };
  }

  on_call(call) {
    this.calls = [call, ...this.calls].slice(0, CALLS_KEPT);
  }

  nameOf = (id) => this.names[id] ?? id;

  person(id) {
    return this.people.find((person) => person.id === id);
  }

  /** The conversations I am in, of one platform. */
  conversationsOn(platform) {
    return this.chats.filter((chat) => chat.platform === platform && chat.people.includes(this.me));
  }

  isForMe = ({ only_for: reader }) => !reader || reader === this.me;

  /** Whether I can see a message in one of my own chats. */
  isMine(message) {
    const conversations = this.conversationsOn(message.platform);
    return this.isForMe(message) && conversations.some((conversation) => conversation.holds(message));
  }

  /** Every message of a conversation that I can see, by time. */
  messagesOf(conversation) {
    return [...this.messages.values()].filter((message) => conversation.holds(message) && this.isForMe(message));
  }

  /**
   * What to show of a conversation, in order: {message, replies}. Albums are one message; each Slack thread stands
   * right after its root, cut to its newest `replies` where the thread itself is not what is open.
   */
  itemsOf(conversation) {
    const messages = this.#albums.joined(this.messagesOf(conversation));
    if (conversation.platform !== "slack" || conversation.root) return messages.map((message) => ({ message }));
    const threads = Map.groupBy(
      messages.filter(({ thread }) => thread),
      ({ thread }) => thread,
    );
    const roots = messages.filter(({ thread }) => !thread);
    const known = new Set(roots.map(({ id }) => id));
    const orphans = [...threads].filter(([root]) => !known.has(root)).flatMap(([, thread]) => thread);
    const items = roots.flatMap((root) => {
      const thread = threads.get(root.id) ?? [];
      return [
        { message: root, replies: thread.length },
        ...thread.slice(-REPLIES_SHOWN).map((message) => ({ message })),
      ];
    });
    return [...items, ...orphans.map((message) => ({ message }))];
  }

  /** The signs of life that are on now (seconds as in the state). */
  signsOf(conversation, now = Date.now() / 1000) {
    return [...this.signs.values()].filter((sign) => sign.until > now && conversation.holds(sign));
  }
}

/** A chat, one topic of a forum, or one thread of a channel (`root` is then its first message's id). */
class Conversation {
  constructor(chat, topic, root = "") {
    this.of = chat;
    this.root = root;
    this.platform = chat.platform;
    this.chat = chat.id;
    this.kind = chat.kind;
    this.people = chat.people;
    this.topic = topic?.id ?? "";
    this.forum = Boolean(topic);
    this.group = topic ? chat.title : "";
    this.title = topic?.name ?? (chat.kind === "channel" ? `#${chat.title}` : chat.title);
    this.fullTitle = topic ? `${chat.title} › ${topic.name}` : this.title;
    this.key = `${chat.platform} ${chat.id} ${this.topic}${root}`;
  }

  get isPrivate() {
    return this.kind === "private";
  }

  /** One of its threads, to be opened by itself. */
  thread(root) {
    return new Conversation(this.of, undefined, root);
  }

  /** Whether a message or a sign belongs here. Only a forum is divided by thread; a thread holds its root as well. */
  holds({ platform, chat, thread, id }) {
    if (platform !== this.platform || chat !== this.chat) return false;
    if (this.root) return [thread, id].includes(this.root);
    return !this.forum || thread === this.topic;
  }
}

function conversationsOf(chat) {
  return chat.topics.length ? chat.topics.map((topic) => new Conversation(chat, topic)) : [new Conversation(chat)];
}
