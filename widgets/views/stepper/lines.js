// The source of the function that the run is stopped in, with its current line.

import { make, setAttribute } from "../../static/dom.js";
import { numberedLines } from "../../static/source.js";

export function createLines() {
  const element = make("ol", { class: "hs-source", "aria-label": "Source", tabindex: "0" });
  let drawn = "";

  /** Bring the current line into sight, if it is not; there is nothing to scroll while another view is shown. */
  function reveal() {
    const room = element.clientHeight;
    const current = /** @type {HTMLElement | null} */ (element.querySelector("[aria-current]"));
    if (!room || !current) return;
    const top = current.offsetTop; // from the list, which is positioned
    if (top < element.scrollTop + 24 || top > element.scrollTop + room - 48) element.scrollTop = top - room / 3;
  }

  return {
    element,
    reveal,
    /** @param {import("../../static/python.js").Stop} stop */
    update(stop) {
      const now = `${stop.filename}:${stop.first_line}\n${JSON.stringify(stop.lines)}`;
      if (now !== drawn) {
        drawn = now;
        setAttribute(element, "aria-label", `Source of ${stop.function}`);
        element.replaceChildren(...numberedLines(stop.lines, stop.first_line));
      }
      for (const item of element.querySelectorAll("li")) {
        setAttribute(item, "aria-current", Number(item.dataset.line) === stop.line ? "true" : null);
      }
      reveal();
    },
  };
}
