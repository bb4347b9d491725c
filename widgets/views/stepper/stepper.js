// The stepper: the position and the values of the paused run, and the buttons that resume it. After an uncaught error it
// shows the failure, whose values can be inspected while nothing can be resumed.

import { make, setText } from "../../static/dom.js";
import { createCommands, ends, keyFor } from "./commands.js";
import { createExpressionInput } from "./expression_input.js";
import { createGradient } from "./gradient.js";
import { createLines } from "./lines.js";
import { createLocals } from "./locals.js";
import { createOperators } from "./operators.js";
import { createPlot } from "./plot.js";
import { createStack } from "./stack.js";
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
  let hasFailed = false;
  const names = () => currentStop?.locals?.map(({ name }) => name) ?? [];

  const commands = createCommands(send);
  const lines = createLines(send);
  const locals = createLocals((name) => send({ type: "select_local", name, part: "" }));
  const plot = createPlot(send, Boolean(go.capture));
  const watches = createWatches(send, names);
  const operators = createOperators((index) => paused && send({ type: "show_operator", index }));
  const gradient = createGradient(() => send({ type: "check_gradient" }));
  const evaluate = createExpressionInput(send, names);
  const stack = createStack((index) => send({ type: "show_frame", index }));
  const title = make("h3", { class: "hs-stop-title" });
  const reason = make("p", { class: "hs-stop-reason" });
  const past = make("p", { class: "hs-past-line", "aria-live": "polite" });
  const problem = make("p", { class: "hs-stop-error", role: "alert", hidden: "" });
  const notes = make("div", { class: "hs-stop-notes" });
  const postMortem = make("button", { type: "button", class: "hs-button hs-primary hs-post-mortem", text: "Post mortem", title: "Look at the functions and the values where the run failed", hidden: "", onclick: () => send({ type: "post_mortem" }) });
  const main = make("div", { class: "hs-stop-main" }, [lines.element, plot.element]);
  const side = make("div", { class: "hs-side" }, [
    make("div", {}, [locals.element, watches.element]),
    make("div", {}, [operators.element, gradient.element, stack.element]),
  ]);
  const stopPart = make("div", { class: "hs-stop", hidden: "" }, [
    past,
    make("div", { class: "hs-stop-head" }, [make("div", { class: "hs-stop-where" }, [title, reason]), problem, notes]),
    make("div", { class: "hs-stop-body" }, [main, side]),
    evaluate.element,
    lines.value,
  ]);
  const empty = make("p", {
    class: "hs-empty",
  }, [
    "Not paused. Choose among the cells where to pause, then run the network; or run it with ",
    make("code", { text: "--step" }),
    ", to stop in each bprop.",
  ]);
  const element = make("div", { class: "hs-view" }, [commands.element, stopPart, empty]);
  const resuming = [...commands.controls, ...operators.controls];
  const controls = [...resuming, ...evaluate.controls];

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
    for (const control of resuming) control.disabled = !now;
    commands.setPaused(now);
    gradient.setEnabled(now && Boolean(currentStop?.can_check));
    setEvaluates();
    if (now && focused && activeElement === lines.element) focused.focus({ preventScroll: true });
  }

  /** Enable what inspects values: at a pause, and at a failure. */
  function setEvaluates() {
    const now = paused || currentStop?.kind === "failure";
    for (const control of evaluate.controls) control.disabled = !now;
    lines.setEvaluates(now, paused);
    stack.setEnabled(now);
    element.classList.toggle("hs-away", !now);
    postMortem.hidden = !hasFailed || currentStop?.kind === "failure";
  }

  /** @param {Stop} stop */
  function update(stop) {
    currentStop = stop;
    stopPart.hidden = !stop.title;
    empty.hidden = !stopPart.hidden;
    element.classList.toggle("hs-past", stop.kind === "past" || stop.kind === "failure");
    setText(past, stop.kind === "past" ? pastInWords(stop) : stop.kind === "failure" ? FAILED : "");
    setEvaluates();
    if (stopPart.hidden) return;
    setText(title, (stop.skipped ? "Skipped pause: " : (PREFIXES[stop.kind] ?? "")) + stop.title);
    setText(reason, stop.reason);
    problem.hidden = !stop.exception;
    setText(problem, stop.exception);
    notes.replaceChildren(...stop.notes.map((text) => make("p", { text })));
    lines.update(stop);
    locals.update(stop.locals);
    operators.update(stop);
    // At an exception there is neither, and the stack has their room.
    operators.element.hidden = gradient.element.hidden = ["exception", "failure"].includes(stop.kind);
    gradient.setEnabled(paused && stop.can_check);
    gradient.setCell(stop.path);
    stack.update(stop);
  }

  return {
    element,
    traits: [
      [["stop"], update],
      [["stepping"], commands.setOptions],
      [["status"], (now) => {
        hasFailed = Boolean(now.failed);
        setEvaluates();
      }],
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
    next: [commands.proceed, postMortem],
    draw: lines.reveal,
    destroy: lines.destroy,
  };
}

/** The beginnings of titles, by the kind of the stop. @type {Record<string, string>} */
const PREFIXES = { past: "Earlier: ", failure: "Failed: " };
const FAILED = "You are looking at a run that has failed: its values can be inspected, and nothing can go on from here.";

/** @param {Stop} stop */
function pastInWords({ line, back }) {
  const steps = back ? `, ${back} ${back === 1 ? "step" : "steps"} back` : "";
  return `You are looking at the past: line ${line}${steps}. Step forward (${keyFor("step_forward")}) returns.`;
}
