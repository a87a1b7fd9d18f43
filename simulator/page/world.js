// What the page knows: the simulator's state, kept up to date by its events. See simulator/README.md for the shapes.

/** Names a message across platforms and chats. */
export const keyOf = ({ platform, chat, id }) => `${platform} ${chat} ${id}`;
const signKeyOf = ({ platform, chat, thread }) => `${platform} ${chat} ${thread}`;

const CALLS_KEPT = 100;

export class World {
  constructor() {
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
    this.conversations = state.chats.flatMap(conversationsOf);
    this.messages = new Map(state.messages.map((message) => [keyOf(message), message]));
    this.signs = new Map(state.signs.map((sign) => [signKeyOf(sign), sign]));
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

  on_commands(commands) {
    this.commands = commands;
  }

  on_faults(faults) {
    this.faults = faults;
  }

  on_call(call) {
    this.calls = [call, ...this.calls].slice(0, CALLS_KEPT);
  }

  nameOf = (id) => this.names[id] ?? id;

  person(id) {
    return this.people.find((person) => person.id === id);
  }

  /** A conversation's messages in the order to show them: by time, each Slack thread right after its root. */
  messagesOf(conversation) {
    const own = [...this.messages.values()].filter((message) => conversation.holds(message));
    if (conversation.platform !== "slack") return own;
    const replies = Map.groupBy(
      own.filter((message) => message.thread),
      (message) => message.thread,
    );
    const roots = own.filter((message) => !message.thread);
    const orphans = [...replies]
      .filter(([root]) => !roots.some(({ id }) => id === root))
      .flatMap(([, thread]) => thread);
    return [...roots.flatMap((root) => [root, ...(replies.get(root.id) ?? [])]), ...orphans];
  }

  /** The signs of life that are on now (seconds as in the state). */
  signsOf(conversation, now = Date.now() / 1000) {
    return [...this.signs.values()].filter((sign) => sign.until > now && conversation.holds(sign));
  }
}

/** A chat, or one topic of a forum: what one can open and write in. */
class Conversation {
  constructor(chat, topic) {
    this.platform = chat.platform;
    this.chat = chat.id;
    this.kind = chat.kind;
    this.people = chat.people;
    this.topic = topic?.id ?? "";
    this.forum = Boolean(topic);
    this.group = topic ? chat.title : "";
    this.title = topic?.name ?? (chat.kind === "channel" ? `#${chat.title}` : chat.title);
    this.fullTitle = topic ? `${chat.title} › ${topic.name}` : this.title;
    this.key = `${chat.platform} ${chat.id} ${this.topic}`;
  }

  get isPrivate() {
    return this.kind === "private";
  }

  /** Whether a message or a sign belongs here. Only a forum is divided by thread. */
  holds({ platform, chat, thread }) {
    return platform === this.platform && chat === this.chat && (!this.forum || thread === this.topic);
  }
}

function conversationsOf(chat) {
  return chat.topics.length ? chat.topics.map((topic) => new Conversation(chat, topic)) : [new Conversation(chat)];
}
