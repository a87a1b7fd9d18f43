// The files of a message: pictures side by side, sounds and films to play, everything else to open.

import { h, icon } from "./dom.js";

/** Elements for a message's files. A sticker is told by its emoji, which is the message's text. */
export function files(message) {
  const shown = message.files.filter(({ kind }) => kind !== "sticker");
  const pictures = shown.filter(isPicture);
  const others = shown.filter((file) => !isPicture(file));
  return [pictures.length > 0 && grid(pictures), others.map(other)];
}

/** Bytes as people read them. */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function isPicture({ media_type: type, url, kind }) {
  return type.startsWith("image/") && url && kind !== "document";
}

function grid(pictures) {
  const picture = ({ url, name }) =>
    h("a", { href: url, target: "_blank", title: name }, h("img", { class: "picture", src: url, alt: name }));
  return h("div", { class: pictures.length > 1 ? "album" : "single" }, pictures.map(picture));
}

function other({ name, media_type: type, size: bytes, url, kind }) {
  if (!url) return h("span", { class: "file" }, icon("file"), name);
  if (kind === "voice" || type.startsWith("audio/")) return h("audio", { controls: true, src: url, "aria-label": name });
  if (type.startsWith("video/") && kind !== "document")
    return h("video", { class: "picture", controls: true, src: url, "aria-label": name });
  const open = { class: "file", href: url, target: "_blank", title: `Open ${name}` };
  return h("a", open, icon("file"), h("span", {}, name), h("span", { class: "aside" }, size(bytes)));
}
