// The scrubber: selects one step of the run, or all; marks below it are steps in which a condition held.

import { make, setAttribute, setText } from "../../static/dom.js";

/** Number of marks that fit below the scrubber. */
const MOST_MARKS = 40;

/** @param {(step: number) => void} onStep called when the user selects a step @param {() => void} onAll toggles between one step and all */
export function createSteps(onStep, onAll) {
  /** @type {number[]} */
  let steps = [];
  let drawnMarks = "";
  const scrubber = make("input", { type: "range", class: "hs-range", min: 0, max: 0, step: 1, "aria-label": "Step", oninput: () => onStep(now()) });
  const marks = make("span", { class: "hs-step-marks", "aria-hidden": "true" });
  const text = make("span", { class: "hs-range-value" });
  const all = make("button", { type: "button", class: "hs-button", "aria-pressed": "true", text: "All steps", onclick: onAll });
  const now = () => steps[Number(scrubber.value)];

  /** Draw the marks, merging those that would touch. @param {Map<number, Set<string>>} held */
  function drawMarks(held) {
    const markPositions = new Set(steps.flatMap((one, k) => (held.has(one) ? [Math.round((MOST_MARKS * k) / Math.max(1, steps.length - 1))] : [])));
    const key = [...markPositions].join();
    if (key === drawnMarks) return;
    drawnMarks = key;
    setAttribute(marks.parentElement ?? marks, "title", markPositions.size ? "The marks are steps in which a condition held" : null);
    marks.replaceChildren(
      ...[...markPositions].map((position) => {
        const mark = make("span");
        mark.style.left = `${(100 * position) / MOST_MARKS}%`;
        return mark;
      }),
    );
  }

  return {
    elements: [make("label", { class: "hs-slider" }, [make("span", { text: "step" }), make("span", { class: "hs-scrubber" }, [scrubber, marks]), text]), all],
    /** Return the step at the scrubber. */
    now,
    /** @param {import("./rows.js").CaptureRows} rows @param {number | null} step the selected step, or null for all */
    update({ steps: known, held }, step) {
      steps = known;
      const at = step === null ? steps.length - 1 : steps.indexOf(step);
      setAttribute(scrubber, "max", Math.max(0, steps.length - 1));
      scrubber.value = String(Math.max(0, at));
      scrubber.disabled = all.disabled = !steps.length;
      const range = step !== null ? String(step) : steps.length > 1 ? `${steps[0]}-${steps[steps.length - 1]}` : String(steps[0] ?? "none");
      setText(text, range);
      const names = step === null ? [] : [...(held.get(step) ?? [])];
      const hitText = step === null && held.size ? `, conditions held in ${held.size} of ${steps.length} steps` : names.length ? `, held: ${names.join(", ")}` : "";
      setAttribute(scrubber, "aria-valuetext", (step === null ? `all steps, ${range}` : `step ${range}`) + hitText);
      setAttribute(all, "aria-pressed", step === null);
      drawMarks(held);
    },
  };
}
