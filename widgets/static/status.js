// The run's status as a word and a dot: above the views of a panel, below a single view.

import { make, setAttribute, setText } from "./dom.js";

export function createStatus() {
  const text = make("span", { class: "hs-status-text" });
  const element = make("div", { class: "hs-status", role: "status", "aria-live": "polite" }, [make("span", { class: "hs-dot", "aria-hidden": "true" }), text]);
  return {
    element,
    /** @param {string} now @param {string} full the text without abbreviation */
    update(now, full) {
      setText(text, now);
      setAttribute(text, "title", full === now ? null : full);
    },
  };
}
