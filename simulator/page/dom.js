// Building elements. Text always becomes a text node: no string is ever parsed as HTML, so nothing typed can run.

/**
 * An element. Attribute values: a function is a listener ("onclick"), true is an empty attribute, false, null and
 * undefined leave the attribute out. Children: nodes, strings, arrays of them; null and false are left out.
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...solid(children));
  return element;
}

/** A drawing of 20 x 20 from the page's own symbols in index.html. Decoration only: its button carries the label. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

export function fragment(...children) {
  const whole = document.createDocumentFragment();
  whole.append(...solid(children));
  return whole;
}

const LINKABLE = new Set(["http:", "https:", "mailto:", "tel:"]);

/** A link that opens elsewhere, or only its label where the address is no web address (javascript:, data:, tg:). */
export function link(address, ...label) {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !LINKABLE.has(url.protocol)) return h("span", { class: "no-link", title: address }, ...label);
  return h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", title: url.href }, ...label);
}

/** A block of code with its language and a button that copies it. */
export function codeBlock(code, language = "") {
  const text = code.replace(/\n$/, "");
  const copy = h("button", { type: "button", class: "copy", "aria-label": "Copy code" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  return h(
    "div",
    { class: "code" },
    h("div", { class: "code-head" }, h("span", { class: "language" }, language || "code"), copy),
    h("pre", { tabindex: "0", "aria-label": `Code${language ? `, ${language}` : ""}` }, h("code", {}, text)),
  );
}

function solid(children) {
  return children.flat(Infinity).filter((child) => child != null && child !== false && child !== "");
}
