// Creation and modification of elements. Data becomes text or attributes, never markup.

/** Characters that reorder or hide surrounding text; markup.py has the same list. */
const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
/** Maximum characters of a text; longer names and values are unreadable. */
const MOST_TEXT = 10_000;
/** Attributes that are text for people, not names for code. */
const SPOKEN = new Set(["title", "aria-label", "aria-description", "placeholder"]);

/**
 * Return a text for display: cut if it is long, with invisible and reordering characters as their codes.
 * @param {string} text
 */
export function plain(text) {
  const cut = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}… (${text.length} characters)` : text;
  return cut.replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Create an element. `attributes` may contain "class", "text", any attribute, and "on..." listeners.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {(Node | string)[]} [children]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = plain(String(value));
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else setAttribute(element, name, value);
  }
  element.append(...children.map((child) => (typeof child === "string" ? plain(child) : child)));
  return element;
}

/**
 * Create an SVG element; its colors are from the style sheet, so that they follow the theme.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {Node[] | string} [content]
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function makeSvg(tag, attributes = {}, content = []) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...(typeof content === "string" ? [plain(content)] : content));
  return element;
}

/**
 * Set an attribute, or remove it for null and undefined; write to the page only if it changes.
 * @param {Element} element
 * @param {string} name
 * @param {unknown} value
 */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else {
    const text = SPOKEN.has(name) ? plain(String(value)) : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/**
 * Set an element's text; write to the page only if it changes.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const plainText = plain(text);
  if (element.textContent !== plainText) element.textContent = plainText;
}

/** @param {EventTarget | null} target @param {string} selector @returns {HTMLElement | null} */
export function closest(target, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}

/** Each widget has its own copy of these modules, so counting alone would give two panels of a page the same ids. */
const WIDGET = Math.random().toString(36).slice(2, 10);
let ids = 0;

/** Return an id that is unique on the page. @param {string} what */
export function newId(what) {
  return `${what}-${WIDGET}-${++ids}`;
}
