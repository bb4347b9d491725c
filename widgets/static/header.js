// The heading above the views, common to all of them: the watched network, the run's status, its step and loss, the
// number of causes, and the next suggested action.

import { make, setAttribute, setText } from "./dom.js";
import { drawSparkline, series } from "./sparkline.js";

/**
 * @param {HTMLElement} status
 * @param {HTMLElement[]} actions the next possible actions: buttons, at most one of which is shown
 * @param {HTMLElement} exporting
 */
export function createHeader(status, actions, exporting) {
  const title = make("span", { class: "hs-title" });
  const step = make("span", { class: "hs-head-step" });
  const curve = make("span", { class: "hs-head-curve" });
  const value = make("span", { class: "hs-head-value" });
  const loss = make("span", { class: "hs-head-loss" }, [curve, value]);
  const causeButton = make("button", { type: "button", class: "hs-head-causes", hidden: "" });
  const buttons = make("div", { class: "hs-head-actions" }, [...actions, exporting]);
  return {
    element: make("div", { class: "hs-head" }, [title, status, step, loss, causeButton, buttons]),
    /** @param {string} name */
    setTitle(name) {
      setText(title, name);
      setAttribute(title, "title", name);
    },
    /** @param {Partial<import("./python.js").Heading>} now */
    update(now) {
      const losses = now.losses ?? [];
      setText(step, now.step ? `step ${now.step}` : "");
      setText(value, now.loss ? `loss ${now.loss}` : "");
      loss.hidden = !now.loss;
      drawSparkline(curve, losses.length > 1 ? series(losses) : undefined, "loss");
    },
    /** Show the number of causes that a view has found; a click opens the view. @param {number} causes @param {() => void} open */
    count(causes, open) {
      setText(causeButton, causes === 1 ? "1 cause found" : `${causes} causes found`);
      causeButton.hidden = !causes;
      causeButton.onclick = open;
    },
  };
}
