// The input that evaluates an expression or sets a value; earlier inputs and their results are above it.

import { make, setText } from "../../static/dom.js";
import { completeWithTab } from "./completion.js";

/** Syntax of an assignment that sets a value: a name or a numbered element of one, and an expression. */
const ASSIGNMENT = /^\s*([A-Za-z_]\w*(?:\s*\[\s*\d+\s*\])?)\s*=(?!=)\s*(.+)$/s;

/**
 * @param {import("../../static/types.js").Send} send
 * @param {() => string[]} names returns the names that Tab completes
 */
export function createExpressionInput(send, names) {
  const input = make("input", {
    type: "text",
    class: "hs-input",
    "aria-label": "Evaluate",
    "aria-description": "Tab completes the name of a local variable",
    placeholder: "dout.shape shows a value, NAME = EXPRESSION sets one",
    spellcheck: "false",
    autocomplete: "off",
    disabled: "",
    oninput: nameButton,
    onkeydown: recall,
  });
  const run = make("button", { type: "submit", class: "hs-button", text: "Evaluate", disabled: "" });
  const form = make("form", { class: "hs-evaluate", onsubmit: submit }, [make("span", { class: "hs-prompt", "aria-hidden": "true", text: "›" }), input, run]);
  const answers = make("div", { class: "hs-answers", role: "log", "aria-label": "Evaluation results" });
  completeWithTab(input, names);
  /** @type {string[]} */
  const history = [];
  let recalled = 0;

  function nameButton() {
    setText(run, ASSIGNMENT.test(input.value) ? "Set" : "Evaluate");
  }

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const expression = input.value.trim();
    if (!expression || input.disabled) return;
    history.push(expression);
    recalled = history.length;
    const assignment = ASSIGNMENT.exec(expression);
    send(assignment ? { type: "edit", name: assignment[1], expression: assignment[2] } : { type: "evaluate", expression });
    input.value = "";
    nameButton();
  }

  /** @param {KeyboardEvent} event */
  function recall(event) {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!step || !history.length) return;
    event.preventDefault();
    recalled = Math.max(0, Math.min(history.length, recalled + step));
    input.value = history[recalled] ?? "";
    nameButton();
  }

  return {
    element: make("div", { class: "hs-console" }, [answers, form]),
    controls: [input, run],
    /** @param {import("../../static/python.js").Evaluation[]} list */
    update(list) {
      answers.replaceChildren(...list.map(answer));
      answers.scrollTop = answers.scrollHeight;
    },
  };
}

/** @param {import("../../static/python.js").Evaluation} one */
function answer({ expression, text, failed }) {
  return make("div", { class: failed ? "hs-answer hs-failed" : "hs-answer" }, [
    make("div", { class: "hs-question" }, [make("span", { class: "hs-prompt", "aria-hidden": "true", text: "› " }), expression]),
    make("pre", { text }),
  ]);
}
