// The findings of the whole network or of one cell: a card for each cause, with its consequences collapsed below.

import { make, setText } from "../../static/dom.js";
import { createCause } from "./cause.js";

/** @typedef {import("../../static/python.js").CauseRow} CauseRow */

/** The steps to the first finding: titles and explanations. */
const HOW_TO_BEGIN = [
  ["Find faults", "looks for NaN, dead units, vanishing gradients and the like. It changes no bit of a result."],
  ["Run the network", "in any cell, as usual. A few training steps are enough."],
  ["Read the cause", "here: what is wrong, in which cell and line, what showed it, and a button that mends it or pauses there."],
];

/**
 * @param {import("../../static/types.js").Send} send
 * @param {import("../../static/types.js").Go} go
 * @param {HTMLElement} settings the button that opens the settings
 */
export function createFindings(send, go, settings) {
  /** @type {CauseRow[]} */
  let causes = [];
  let summary = "";
  /** @type {string | null} */
  let onlyPath = null;
  /** @type {Map<string, ReturnType<typeof createCause>>} */
  const cards = new Map();
  const list = make("ul", { class: "hs-causes", "aria-label": "Findings" });
  const count = make("span", { class: "hs-count", "aria-live": "polite" });
  const every = make("button", { type: "button", class: "hs-button", hidden: "", text: "All cells", onclick: () => filter(null) });
  const clear = make("button", { type: "button", class: "hs-button", hidden: "", text: "Clear", title: "Forget the findings so far; those that still hold are found again", onclick: () => send({ type: "clear_findings" }) });
  const heading = make("h3", { class: "hs-heading", tabindex: "-1", text: "Findings" });
  const verdict = make("p");
  const begin = make("button", { type: "button", class: "hs-button hs-primary hs-begin", text: "Find faults", onclick: () => send({ type: "all_conditions", on: true }) });
  const limits = make("p");
  const rest = make("details", { class: "hs-limits", hidden: "" }, [make("summary", { text: "What was not judged" }), limits]);
  const how = make("ol", { class: "hs-how" }, HOW_TO_BEGIN.map(([title, text]) => make("li", {}, [make("b", { text: title }), make("span", { text })])));
  const nothing = make("div", { class: "hs-empty" }, [verdict, rest, begin, how]);

  /** @param {CauseRow[]} rows */
  function drawCards(rows) {
    const currentKeys = new Set(rows.map(key));
    for (const [name, card] of cards) {
      if (currentKeys.has(name)) continue;
      card.element.remove();
      cards.delete(name);
    }
    rows.forEach((row, position) => {
      const name = key(row);
      const card = cards.get(name) ?? createCause(row, send, go);
      cards.set(name, card);
      card.update(row);
      if (onlyPath !== null && row.path !== onlyPath) card.unfold(); // the requested finding is inside
      // Unmoved cards keep the focus.
      if (list.children[position] !== card.element) list.insertBefore(card.element, list.children[position] ?? null);
    });
  }

  function draw() {
    const shownCauses = onlyPath === null ? causes : causes.filter((cause) => [cause, ...cause.consequences].some(({ path }) => path === onlyPath));
    drawCards(shownCauses);
    const among = ` of ${causes.length}, in ${onlyPath || "(root)"}`;
    setText(count, onlyPath === null ? summary : causes.length ? `${shownCauses.length}${among}` : "");
    every.hidden = onlyPath === null;
    clear.hidden = !causes.length;
    list.hidden = !shownCauses.length;
    nothing.hidden = shownCauses.length > 0;
  }

  /** Show only the findings in one cell, or with null all of them. @param {string | null} path */
  function filter(path) {
    onlyPath = path;
    draw();
    heading.scrollIntoView({ block: "nearest" });
    heading.focus();
  }

  return {
    bar: make("div", { class: "hs-bar" }, [heading, count, make("span", { class: "hs-spring" }), every, clear, settings]),
    elements: [list, nothing],
    filter,
    /**
     * @param {CauseRow[]} now
     * @param {string} told the reason for an empty list
     * @param {string} unjudged what was not judged
     * @param {string} counted
     */
    update(now, told, unjudged, counted) {
      causes = now;
      summary = counted;
      setText(verdict, told);
      setText(limits, unjudged);
      rest.hidden = !unjudged;
      draw();
    },
    /** Set whether the button that enables all conditions is available. @param {boolean} can */
    offer: (can) => (begin.hidden = how.hidden = !can),
  };
}

/** Return the key of a cause, which is unique whatever its cell is called. @param {CauseRow} row */
function key(row) {
  return JSON.stringify([row.condition, row.path]);
}
