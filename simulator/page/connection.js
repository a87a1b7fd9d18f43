// The page's door to the simulator: events in, requests out.

const EVENTS = "message gone sign bot model people commands faults call notice home prompts".split(" ");
const RECONNECT_MS = 1000;

/**
 * Keeps `world` in step with the simulator for as long as the page lives.
 *
 * On each connection the whole state is fetched, and events that come meanwhile wait for it: whatever happened while
 * the connection was gone, also a restart of the simulator, the page ends up showing what is.
 * `listener.changed()` is called after each change, `heard(message)` for each message that comes or changes while the
 * page is open, `noticed(notice)` for each notice, `connected(yes)` as the line goes up or down.
 */
export function follow(world, listener) {
  const source = new EventSource("/sim/events");
  let early = []; // events that came before the state they belong to; null once the state is there
  let over = false;

  const take = (event) => {
    const data = JSON.parse(event.data);
    if (event.type === "notice") listener.noticed(data);
    else world.apply(event.type, Number(event.lastEventId), data);
    if (event.type === "message") listener.heard(data);
  };
  const resync = async () => {
    const mine = (early = []);
    const response = await fetch("/sim/state");
    const state = await response.json();
    if (early !== mine) return; // another resync began after this one and will know more
    world.replace(state);
    early.forEach(take);
    early = null;
    listener.connected(true);
    listener.changed();
  };
  const lost = () => {
    if (over) return;
    over = true;
    source.close();
    listener.connected(false);
    setTimeout(() => follow(world, listener), RECONNECT_MS);
  };

  for (const name of EVENTS) {
    source.addEventListener(name, (event) => {
      if (early) early.push(event);
      else {
        take(event);
        listener.changed();
      }
    });
  }
  for (const name of ["hello", "reset"]) source.addEventListener(name, () => resync().catch(lost));
  source.addEventListener("error", lost);
}

/** Posts JSON. Returns the answer, or throws an Error whose message is one plain sentence for the person. */
export function post(path, body) {
  return send(path, "application/json", JSON.stringify(body));
}

/** Hands a file over, to be said with a message. Returns it with its id, or throws as `post` does. */
export function upload(file) {
  const about = new URLSearchParams({ name: file.name, media_type: file.type });
  return send(`/sim/files?${about}`, "application/octet-stream", file);
}

async function send(path, type, body) {
  const request = { method: "POST", headers: { "Content-Type": type }, body };
  const response = await fetch(path, request).catch(() => {
    throw new Error("The simulator does not answer. Is it still running?");
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The simulator answered ${response.status}.`);
  return answer;
}
