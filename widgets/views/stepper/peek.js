// The value of a name in the source, shown below it while the name is pointed at or selected by the arrow keys.

import { closest, make, setText } from "../../static/dom.js";

const NAMES = /[\p{L}_][\p{L}\p{N}_]*/gu;
/** Delays in milliseconds before a value appears, and before it disappears. */
const SHOWN_AFTER = 150;
const HIDDEN_AFTER = 200;

/** Turn the names in a line of source into elements, each with the expression that ends there. @param {Element} code */
export function markNames(code) {
  for (const node of [...code.childNodes]) {
    if (node.nodeType !== Node.TEXT_NODE || !node.nodeValue) continue;
    const text = node.nodeValue;
    /** @type {(Node | string)[]} */
    const parts = [];
    let end = 0;
    let chain = "";
    for (const { 0: name, index } of text.matchAll(NAMES)) {
      const between = text.slice(end, index);
      const follows = /\.\s*$/.test(between);
      chain = follows ? (chain && between === "." ? `${chain}.${name}` : "") : name;
      parts.push(between, chain ? make("span", { class: "hs-name-here", "data-name": chain, text: name }) : name);
      end = index + name.length;
    }
    node.replaceWith(...parts.filter((part) => part !== ""), text.slice(end));
  }
}

/**
 * @param {HTMLElement} list the list of lines
 * @param {(expression: string) => void} ask requests a value
 */
export function createPeek(list, ask) {
  const title = make("strong");
  const text = make("div", { class: "hs-peek-text" });
  const element = make("div", { class: "hs-peek", role: "tooltip", "aria-live": "polite", "aria-label": "Value", hidden: "" }, [title, text]);
  /** @type {HTMLElement | null} */
  let at = null;
  let timer = 0;
  /** The known values of this stop. @type {Map<string, import("../../static/python.js").Peek>} */
  const evaluations = new Map();

  /** @param {HTMLElement | null} name @param {number} milliseconds */
  function soon(name, milliseconds) {
    clearTimeout(timer);
    timer = window.setTimeout(() => (name ? show(name) : hide()), milliseconds);
  }

  /** @param {HTMLElement} name */
  function show(name) {
    at?.classList.remove("hs-named");
    at = name;
    at.classList.add("hs-named");
    draw();
    const expression = at.dataset.name ?? "";
    if (!evaluations.has(expression)) ask(expression);
  }

  function hide() {
    clearTimeout(timer);
    at?.classList.remove("hs-named");
    at = null;
    element.hidden = true;
  }

  /** Place the value below the name, within the view. */
  function draw() {
    const evaluation = at?.isConnected ? evaluations.get(at.dataset.name ?? "") : undefined;
    element.hidden = !evaluation;
    if (!evaluation || !at) return;
    setText(title, evaluation.expression);
    setText(text, evaluation.text);
    element.classList.toggle("hs-failed", evaluation.failed);
    const room = /** @type {HTMLElement} */ (element.offsetParent ?? list);
    const [frame, name] = [room.getBoundingClientRect(), at.getBoundingClientRect()];
    element.style.left = `${Math.max(4, Math.min(name.left - frame.left, frame.width - element.offsetWidth - 4))}px`;
    const below = name.bottom - frame.top + 2;
    element.style.top = `${below + element.offsetHeight > frame.height ? name.top - frame.top - element.offsetHeight - 2 : below}px`;
  }

  /** Go to the previous or next name, starting at the current line. @param {number} step */
  function walk(step) {
    const names = [.../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".hs-name-here"))];
    const current = names.findIndex((name) => name.closest("[aria-current]"));
    const position = at ? names.indexOf(at) + step : Math.max(current, 0);
    const name = names[position];
    if (!name) return;
    name.scrollIntoView({ block: "nearest", inline: "nearest" });
    show(name);
  }

  list.addEventListener("pointerover", (event) => {
    const name = closest(event.target, ".hs-name-here");
    if (name !== at) soon(name, name ? SHOWN_AFTER : HIDDEN_AFTER);
    else clearTimeout(timer);
  });
  list.addEventListener("pointerleave", () => soon(null, HIDDEN_AFTER));
  list.addEventListener("scroll", () => at && draw());
  list.addEventListener("blur", hide);
  list.addEventListener("keydown", (event) => {
    if (event.target !== list || event.ctrlKey || event.altKey || event.metaKey) return;
    const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (!step && !(event.key === "Escape" && at)) return;
    event.preventDefault();
    event.stopPropagation(); // Escape would leave the panel
    if (step) walk(step);
    else hide();
  });
  element.addEventListener("pointerenter", () => clearTimeout(timer));
  element.addEventListener("pointerleave", () => soon(null, HIDDEN_AFTER));

  return {
    element,
    /** @param {import("../../static/python.js").Peek} evaluation */
    receive(evaluation) {
      evaluations.set(evaluation.expression, evaluation);
      draw();
    },
    /** Clear the values at another stop, where they may differ. */
    forget() {
      evaluations.clear();
      if (at?.isConnected && !element.hidden) show(at);
      else hide();
    },
    hide,
    destroy: () => clearTimeout(timer),
  };
}
