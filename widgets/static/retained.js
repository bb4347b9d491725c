// The note on what was clicked in the previous run of the cell and is kept, what of it does not fit, and its button.

import { make, setText } from "./dom.js";

/** @param {import("./types.js").Send} send */
export function createRetained(send) {
  const text = make("span", { class: "hs-retained-text" });
  const misfits = make("ul", { class: "hs-retained-misfits" });
  const button = make("button", { type: "button", class: "hs-button hs-small", text: "Forget", title: "Remove what was clicked, here and for the next run of this cell", onclick: () => send({ type: "forget_choices" }) });
  const element = make("div", { class: "hs-retained", role: "note", "aria-label": "Kept from the previous run", hidden: "" }, [make("div", { class: "hs-retained-words" }, [text, misfits]), button]);
  return {
    element,
    /** @param {Partial<import("./python.js").Retained>} now */
    update(now) {
      setText(text, now.text ? `Kept from the previous run: ${now.text}.` : "");
      text.hidden = !now.text;
      misfits.replaceChildren(...(now.misfits ?? []).map((line) => make("li", { text: line })));
      element.hidden = !now.text && !now.misfits?.length;
    },
  };
}
