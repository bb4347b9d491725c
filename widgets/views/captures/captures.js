// The captures, and the selected one below them.

import { make } from "../../static/dom.js";
import { createSelectedCapture, messagesOf } from "./selected_capture.js";
import { Timeline } from "./timeline.js";

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, go }) {
  const timeline = new Timeline(send);
  const selected = createSelectedCapture(send, go, (index) => timeline.pin(index));

  /** @param {Partial<import("../../static/python.js").Selection>} selectedCapture @param {DataView} buffer */
  function select(selectedCapture, buffer) {
    const opening = selected.element.hidden;
    selected.update(selectedCapture, buffer);
    if (selectedCapture.index === undefined) return;
    // A click here takes precedence; the model's selection is for a newly loaded page.
    timeline.grid.selected ??= selectedCapture.index;
    if (opening) timeline.grid.reveal();
  }

  return {
    element: make("div", { class: "hs-view" }, [...timeline.elements, selected.element]),
    traits: [[["selected"], (index) => timeline.follow(index)], [["selection", "histogram"], select]],
    messages: {
      captures: (message, buffers) => timeline.add(message, buffers),
      statistics: (_, buffers) => timeline.addStatistics(buffers),
      ...messagesOf(selected),
    },
    reveal: (target) => timeline.reveal(target),
    confirmed(action) {
      timeline.confirmed(action);
      if (action === "tensor") selected.tensor.confirmed();
    },
    draw: () => timeline.grid.schedule(),
    destroy() {
      timeline.destroy();
      selected.tensor.destroy();
    },
  };
}
