// The stepper: the position and the values of the paused run, and the buttons that resume it.

import { make, setText } from "../../static/dom.js";
import { createCommands, ends, keyFor } from "./commands.js";
import { createExpressionInput } from "./expression_input.js";
import { createGradient } from "./gradient.js";
import { createLines } from "./lines.js";
import { createLocals } from "./locals.js";
import { createOperators } from "./operators.js";
import { createPlot } from "./plot.js";
import { createWatches } from "./watches.js";

/** @typedef {import("../../static/python.js").Stop} Stop */

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, go }) {
  let paused = false;
  /** @type {Stop | null} */
  let currentStop = null;
  /** The focused element when the run resumed. @type {HTMLElement | null} */
  let focused = null;
  const names = () => currentStop?.locals.map(({ name }) => name) ?? [];

  const commands = createCommands(send);
  const lines = createLines(send);
  const locals = createLocals((name) => send({ type: "select_local", name, part: "" }));
  const plot = createPlot(send, Boolean(go.capture));
  const watches = createWatches(send, names);
  const operators = createOperators((index) => paused && send({ type: "show_operator", index }));
  const gradient = createGradient(() => send({ type: "check_gradient" }));
  const evaluate = createExpressionInput(send, names);
  const stack = make("ol", { class: "hs-stack" });
  const stackPart = make("section", { "aria-label": "Call stack" }, [make("h4", { text: "Call stack" }), stack]);
  const title = make("h3", { class: "hs-stop-title" });
  const reason = make("p", { class: "hs-stop-reason" });
  const past = make("p", { class: "hs-past-line", "aria-live": "polite" });
  const problem = make("p", { class: "hs-stop-error", role: "alert", hidden: "" });
  const main = make("div", { class: "hs-stop-main" }, [lines.element, plot.element]);
  const side = make("div", { class: "hs-side" }, [locals.element, watches.element, operators.element, gradient.element, stackPart]);
  const stopPart = make("div", { class: "hs-stop", hidden: "" }, [
    past,
    make("div", { class: "hs-stop-head" }, [make("div", { class: "hs-stop-where" }, [title, reason]), problem]),
    make("div", { class: "hs-stop-body" }, [main, side]),
    evaluate.element,
    lines.value,
  ]);
  const empty = make("p", {
    class: "hs-empty",
    text: "Not paused. Choose among the cells where to pause, then run the network; or run it with --step, to stop in each bprop.",
  });
  const element = make("div", { class: "hs-view" }, [commands.element, stopPart, empty]);
  const controls = [...commands.controls, ...operators.controls, ...evaluate.controls];

  /** @param {boolean} now */
  function setPaused(now) {
    if (now === paused) return;
    paused = now;
    const { activeElement } = element.ownerDocument;
    if (!now) {
      // A disabled element loses the focus: keep it in the panel, and return it at the next stop.
      focused = controls.find((control) => control === activeElement) ?? null;
      if (focused || lines.element.contains(activeElement)) lines.element.focus({ preventScroll: true });
    }
    for (const control of controls) control.disabled = !now;
    commands.setPaused(now);
    lines.setPaused(now);
    gradient.setEnabled(now && Boolean(currentStop?.can_check));
    if (now && focused && activeElement === lines.element) focused.focus({ preventScroll: true });
    element.classList.toggle("hs-away", !now);
  }

  /** @param {Stop} stop */
  function update(stop) {
    currentStop = stop;
    stopPart.hidden = !stop.title;
    empty.hidden = !stopPart.hidden;
    element.classList.toggle("hs-past", stop.kind === "past");
    setText(past, stop.kind === "past" ? pastInWords(stop) : "");
    if (stopPart.hidden) return;
    setText(title, (stop.skipped ? "Skipped pause: " : stop.kind === "past" ? "Earlier: " : "") + stop.title);
    setText(reason, stop.reason);
    problem.hidden = !stop.exception;
    setText(problem, stop.exception);
    lines.update(stop);
    locals.update(stop.locals);
    operators.update(stop);
    gradient.setEnabled(paused && stop.can_check);
    gradient.setCell(stop.path);
    stackPart.hidden = stop.stack.length < 2;
    stack.replaceChildren(...stop.stack.map((text) => make("li", { text })));
  }

  return {
    element,
    traits: [
      [["stop"], update],
      [["stepping"], commands.setOptions],
      [["evaluations"], evaluate.update],
      [["gradient"], gradient.update],
      [["watches"], watches.update],
      [["local_plot", "local_numbers"], (now, numbers) => {
        locals.setSelected(now.name ?? "");
        plot.update(now, numbers);
      }],
    ],
    messages: { peek: (message) => lines.receive(message), local_capture: ({ index }) => go.capture?.(index) },
    setPaused,
    keys: { key: commands.key, ends },
    next: [commands.proceed],
    draw: lines.reveal,
    destroy: lines.destroy,
  };
}

/** @param {Stop} stop */
function pastInWords({ line, back }) {
  const steps = back ? `, ${back} ${back === 1 ? "step" : "steps"} back` : "";
  return `You are looking at the past: line ${line}${steps}. Step forward (${keyFor("step_forward")}) returns.`;
}
