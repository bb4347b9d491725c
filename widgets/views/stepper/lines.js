// The source of the function in which the run is paused: its current line, breakpoints, and values of its names.

import { make, setAttribute, setText } from "../../static/dom.js";
import { numberedLines } from "../../static/source.js";
import { createGutter } from "./gutter.js";
import { createPeek, markNames } from "./peek.js";

/** @param {import("../../static/types.js").Send} send */
export function createLines(send) {
  const element = make("ol", { class: "hs-source", "aria-label": "Source", "aria-description": "Arrow left and right show the values of names", tabindex: "0" });
  const gutter = createGutter(element, {
    set: (line, condition, log) => send({ type: "set_breakpoint_at", line, condition, log }),
    runTo: (line) => send({ type: "run_to_line", line }),
    remove: (line) => send({ type: "remove_breakpoint_at", line }),
  });
  let evaluates = false;
  const peek = createPeek(element, (expression) => evaluates && send({ type: "peek", expression }));
  let drawn = "";
  // Other parts of the view appear and disappear, which changes the height.
  const resize = new ResizeObserver(reveal);
  resize.observe(element);

  /** Scroll the current line into view; nothing scrolls while another view is shown. */
  function reveal() {
    const room = element.clientHeight;
    const current = /** @type {HTMLElement | null} */ (element.querySelector("[aria-current]"));
    if (!room || !current) return;
    const top = current.offsetTop; // relative to the list, which is positioned
    if (top < element.scrollTop + 24 || top > element.scrollTop + room - 48) element.scrollTop = top - room / 3;
  }

  /** Show beside each line the operators that it has run. @param {import("../../static/python.js").Stop} stop */
  function drawOperators(stop) {
    /** @type {Map<number, Map<string, number>>} */
    const byLine = new Map();
    for (const { name, line } of stop.operators.slice(0, stop.ran)) {
      if (!byLine.has(line)) byLine.set(line, new Map());
      const counts = /** @type {Map<string, number>} */ (byLine.get(line));
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const item of element.querySelectorAll("li")) {
      const counts = byLine.get(Number(item.dataset.line));
      let note = item.querySelector(".hs-line-operators");
      if (!counts) {
        note?.remove();
        continue;
      }
      if (!note) {
        note = make("span", { class: "hs-line-operators" });
        item.querySelector("code")?.after(note);
      }
      const names = [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name));
      setText(note, names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", "));
      setAttribute(note, "title", `Operators of this line: ${names.join(", ")}`);
    }
  }

  return {
    element,
    value: peek.element,
    reveal,
    receive: peek.receive,
    /** @param {import("../../static/python.js").Stop} stop */
    update(stop) {
      const now = `${stop.filename}:${stop.first_line}\n${stop.stoppable}\n${JSON.stringify(stop.lines)}`;
      if (now !== drawn) {
        drawn = now;
        setAttribute(element, "aria-label", `Source of ${stop.function}`);
        element.replaceChildren(...numberedLines(stop.lines, stop.first_line));
        for (const code of element.querySelectorAll("code")) markNames(code);
        gutter.place(stop.stoppable, stop.line);
      }
      for (const item of element.querySelectorAll("li")) {
        setAttribute(item, "aria-current", Number(item.dataset.line) === stop.line ? "true" : null);
      }
      gutter.update(stop.breakpoints);
      drawOperators(stop);
      peek.forget();
      reveal();
    },
    /** Set whether names can be evaluated and breakpoints set, and whether the run goes on from here. @param {boolean} now @param {boolean} goesOn */
    setEvaluates(now, goesOn) {
      evaluates = now;
      gutter.setEnabled(now, goesOn);
      if (!now) peek.hide();
    },
    destroy() {
      resize.disconnect();
      peek.destroy();
    },
  };
}
