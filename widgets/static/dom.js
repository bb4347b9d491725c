// Building and changing elements. Data becomes text or attributes, never markup.

/**
 * Make an element. `attributes` may hold "class", "text", any attribute, and "on..." listeners.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {(Node | string)[]} [children]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = String(value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else setAttribute(element, name, value);
  }
  element.append(...children);
  return element;
}

/**
 * Set, or with null and undefined remove, an attribute; write to the page only when it changes.
 * @param {Element} element
 * @param {string} name
 * @param {unknown} value
 */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/**
 * Set an element's text, writing to the page only when it changes.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {EventTarget | null} target @param {string} selector @returns {HTMLElement | null} */
export function closest(target, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}
