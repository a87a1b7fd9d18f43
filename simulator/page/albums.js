// Messages of one album are shown as one: all its files, and the text of the one that has some.

/** Remembers what it joined, so that an album of which nothing changed stays the very same message. */
export class Albums {
  #joined = new Map(); // album -> {members, whole}

  /** The same messages in the same order, each album in the place of its first member. */
  joined(messages) {
    const albums = Map.groupBy(
      messages.filter(({ album }) => album),
      ({ album }) => album,
    );
    return messages
      .filter(({ album, id }) => !album || albums.get(album)[0].id === id)
      .map((message) => (message.album ? this.#whole(albums.get(message.album)) : message));
  }

  #whole(members) {
    const known = this.#joined.get(members[0].album);
    if (known?.members.length === members.length && known.members.every((each, n) => each === members[n])) {
      return known.whole;
    }
    const whole = together(members);
    this.#joined.set(members[0].album, { members, whole });
    return whole;
  }
}

function together(members) {
  const worded = members.find(({ text }) => text) ?? members[0];
  const told = members.find(({ delivery }) => delivery && delivery.state !== "kept") ?? members[0];
  return {
    ...members[0],
    text: worded.text,
    entities: worded.entities,
    edits: worded.edits,
    delivery: told.delivery,
    files: members.flatMap(({ files }) => files),
    members: members.map(({ id }) => id),
    kept: members.filter(({ delivery }) => delivery?.state === "kept").length,
  };
}
