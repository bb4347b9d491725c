// Muted conditions, which are neither reported nor paused at in a cell.

import { make } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").MutedRow} MutedRow */

/** @param {import("../../static/types.js").Send} send */
export function createMutedConditions(send) {
  const list = make("ul", { class: "hs-muted", "aria-label": "Muted" });
  const element = make("div", { class: "hs-muted-box", hidden: "" }, [make("h4", { text: "Meant, in this network: neither found nor paused at" }), list]);
  let drawn = "";

  /** @param {MutedRow} row */
  const item = ({ condition, path, label, reason, option }) =>
    make("li", {}, [
      make("span", { text: `${condition} in ${label}${reason && `: ${reason}`}` }),
      make("code", { class: "hs-option", title: "Mutes it in the next run too, as an option of %%cell", text: option }),
      make("button", { type: "button", class: "hs-button", text: "Unmute", "aria-label": `unmute ${condition} in ${label}`, onclick: () => send({ type: "mute", condition, path, on: false, reason: "" }) }),
    ]);

  return {
    element,
    /** @param {MutedRow[]} muted */
    update(muted) {
      const now = JSON.stringify(muted);
      if (now === drawn) return;
      drawn = now;
      element.hidden = !muted.length;
      list.replaceChildren(...muted.map(item));
    },
  };
}
