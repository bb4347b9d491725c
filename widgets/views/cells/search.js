// The search among the cells, by words in their paths and types, with buttons for the previous and next match.

import { make, setText } from "../../static/dom.js";

/** @param {(by: number) => void} find goes to the next match (1), to the previous one (-1), or to the first from the current cell on (0) */
export function createSearch(find) {
  const field = make("input", {
    type: "search",
    class: "hs-filter",
    placeholder: "Search by path or type",
    "aria-label": "Search cells",
    spellcheck: "false",
    oninput: () => find(0),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      find(event.shiftKey ? -1 : 1);
    },
  });
  const status = make("span", { class: "hs-count", "aria-live": "polite" });
  const terms = () => field.value.toLowerCase().split(/\s+/).filter(Boolean);

  return {
    elements: [field, status],
    /** Return the cells that contain every word; none for an empty search. @param {import("./cells.js").CellNode[]} nodes @returns {number[]} */
    matches(nodes) {
      const wanted = terms();
      if (!wanted.length) return [];
      return nodes.flatMap(({ label, type }, index) => {
        const text = `${label} ${type}`.toLowerCase();
        return wanted.every((term) => text.includes(term)) ? [index] : [];
      });
    },
    /** Report the position among the matches, or that there are none. @param {number} position @param {number} of @param {string} label */
    tell: (position, of, label) => setText(status, of ? `${position + 1} of ${of}: ${label}` : terms().length ? "no match" : ""),
  };
}

/** Return the position of the match to select. @param {number[]} matches @param {number} current @param {number} by */
export function nextMatch(matches, current, by) {
  const after = matches.findIndex((index) => (by > 0 ? index > current : index >= current));
  const from = after < 0 ? matches.length : after;
  return (from + (by < 0 ? -1 : 0) + matches.length) % matches.length;
}
