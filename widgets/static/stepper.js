// The stepper: where the run is stopped, what it holds there, and the buttons that let it go on.

import { make, setAttribute, setText } from "./dom.js";
import { highlight } from "./highlight.js";

/** @typedef {import("./types.js").Stop} Stop */
/** @typedef {import("./types.js").Evaluation} Evaluation */

/** Button, command, the key as people write it, and as aria-keyshortcuts does. */
const STEP_COMMANDS = [
  ["Step over", "over", "F10"],
  ["Step into", "into", "F11"],
  ["Step out", "out", "Shift+F11"],
  ["Next operator", "operator", ""],
  ["Next cell", "cell", ""],
  ["Continue", "continue", "F9"],
  ["Abort", "abort", ""],
];

/** Button and message: these move what is shown, not the run. */
const LOOKS = [
  ["Step back", "step_back"],
  ["Step forward", "step_forward"],
];

/** @param {import("./types.js").Send} send */
export function createStepper(send) {
  let paused = false;
  let source = "";
  const buttons = STEP_COMMANDS.map(([name, command, key]) =>
    make("button", {
      type: "button",
      class: `hs-button hs-step hs-step-${command}`,
      text: name,
      title: key || null,
      "aria-keyshortcuts": key || null,
      disabled: "",
      onclick: () => resume(command),
    }),
  );
  const looks = LOOKS.map(([name, type]) =>
    make("button", { type: "button", class: "hs-button hs-look", text: name, disabled: "", onclick: () => send({ type }) }),
  );
  const title = make("h3", { class: "hs-stop-title" });
  const reason = make("p", { class: "hs-stop-reason" });
  const problem = make("p", { class: "hs-stop-error", role: "alert", hidden: "" });
  const lines = make("ol", { class: "hs-source", "aria-label": "Source", tabindex: "0" });
  const locals = make("tbody");
  const operators = make("ol", { class: "hs-operators" });
  const operatorsTitle = make("h4", { text: "Operators run" });
  const stack = make("ol", { class: "hs-stack" });
  const stackPart = make("section", { "aria-label": "Call stack" }, [make("h4", { text: "Call stack" }), stack]);
  const answers = make("div", { class: "hs-answers", role: "log", "aria-label": "Evaluation results" });
  const input = make("input", {
    type: "text",
    class: "hs-input",
    "aria-label": "Evaluate",
    placeholder: "An expression in this scope, such as dout.shape",
    spellcheck: "false",
    autocomplete: "off",
    disabled: "",
  });
  const run = make("button", { type: "submit", class: "hs-button", text: "Evaluate", disabled: "" });
  const form = make("form", { class: "hs-evaluate" }, [make("span", { class: "hs-prompt", "aria-hidden": "true", text: "›" }), input, run]);
  /** @type {string[]} */
  const history = [];
  let recalled = 0;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const expression = input.value.trim();
    if (!expression || !paused) return;
    history.push(expression);
    recalled = history.length;
    send({ type: "evaluate", expression });
    input.value = "";
  });
  input.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!step || !history.length) return;
    event.preventDefault();
    recalled = Math.max(0, Math.min(history.length, recalled + step));
    input.value = history[recalled] ?? "";
  });

  const empty = make("p", {
    class: "hs-empty",
    text: "Not paused. Set a breakpoint on a cell with a custom bprop, or run with --step, to stop here.",
  });
  const localsTable = make("table", { class: "hs-locals" }, [
    make("caption", { text: "Locals" }),
    make("colgroup", {}, [make("col", { class: "hs-locals-names" }), make("col")]),
    make("thead", {}, [make("tr", {}, [make("th", { scope: "col", text: "name" }), make("th", { scope: "col", text: "value" })])]),
    locals,
  ]);
  const side = make("div", { class: "hs-side" }, [
    localsTable,
    make("section", { "aria-label": "Operators run" }, [operatorsTitle, operators]),
    stackPart,
  ]);
  const stopPart = make("div", { class: "hs-stop", hidden: "" }, [
    make("div", { class: "hs-stop-head" }, [title, reason, problem]),
    make("div", { class: "hs-stop-body" }, [lines, side]),
    form,
    answers,
  ]);
  const element = make("div", { class: "hs-view" }, [
    make("div", { class: "hs-bar hs-steps", role: "toolbar", "aria-label": "Stepping" }, [...buttons, ...looks]),
    stopPart,
    empty,
  ]);

  /** Send one command, and none again until the next stop. @param {string} command */
  function resume(command) {
    if (!paused) return;
    send({ type: "resume", command });
    setPaused(false);
  }

  /** @type {HTMLElement | null} */
  let focused = null;

  /** @param {boolean} now */
  function setPaused(now) {
    if (now === paused) return;
    paused = now;
    const controls = [...buttons, ...looks, input, run];
    if (!now) {
      // A disabled element loses the keyboard: keep the focus in the panel, and give it back at the next stop.
      const active = controls.find((control) => control === element.ownerDocument.activeElement);
      focused = active ?? null;
      if (active) lines.focus({ preventScroll: true });
    }
    for (const control of controls) control.disabled = !now;
    if (now && focused && element.ownerDocument.activeElement === lines) focused.focus({ preventScroll: true });
    element.classList.toggle("hs-away", !now);
  }

  /** @param {Stop} stop */
  function update(stop) {
    stopPart.hidden = !stop.title;
    empty.hidden = !stopPart.hidden;
    if (stopPart.hidden) return;
    setText(title, (stop.skipped ? "Skipped pause: " : stop.kind === "past" ? "Earlier: " : "") + stop.title);
    setText(reason, stop.reason);
    problem.hidden = !stop.exception;
    setText(problem, stop.exception);
    drawSource(stop);
    locals.replaceChildren(...stop.locals.map(drawLocal));
    setText(operatorsTitle, stop.operators.length ? `Operators run (${stop.operators.length})` : "Operators run: none yet");
    const focusedOperator = [...operators.querySelectorAll("button")].findIndex((one) => one === element.ownerDocument.activeElement);
    operators.replaceChildren(
      ...stop.operators.map((op, index) => {
        const what = [make("b", { text: op.name }), make("span", { text: `(${op.inputs})` }), make("span", { class: "hs-arrow", text: " → " }), make("span", { text: op.outputs })];
        const show = () => paused && send({ type: "show_operator", index });
        const attributes = { type: "button", class: "hs-operator", "aria-current": op.shown ? "true" : null, onclick: show };
        return make("li", {}, [stop.skipped ? make("span", {}, what) : make("button", attributes, what)]);
      }),
    );
    operators.scrollTop = operators.scrollHeight;
    if (focusedOperator >= 0) operators.querySelectorAll("button")[focusedOperator]?.focus({ preventScroll: true });
    stackPart.hidden = stop.stack.length < 2;
    stack.replaceChildren(...stop.stack.map((text) => make("li", { text })));
  }

  /** @param {Stop} stop */
  function drawSource(stop) {
    const now = `${stop.filename}:${stop.first_line}\n${stop.lines.join("\n")}`;
    if (now !== source) {
      source = now;
      setAttribute(lines, "aria-label", `Source of ${stop.function}`);
      const parts = highlight(stop.lines);
      lines.replaceChildren(
        ...parts.map((part, k) =>
          make("li", { "data-line": stop.first_line + k }, [
            make("span", { class: "hs-line-number", text: String(stop.first_line + k) }),
            make("code", {}, part),
          ]),
        ),
      );
    }
    for (const item of lines.querySelectorAll("li")) {
      const current = Number(item.dataset.line) === stop.line;
      setAttribute(item, "aria-current", current ? "true" : null);
      if (current) {
        const room = lines.clientHeight;
        const top = item.offsetTop - lines.offsetTop;
        if (top < lines.scrollTop + 24 || top > lines.scrollTop + room - 48) lines.scrollTop = top - room / 3;
      }
    }
  }

  /** @param {import("./types.js").Local} local */
  function drawLocal(local) {
    const name = make("div", { class: "hs-local" }, [make("span", { class: "hs-local-name", text: local.name, title: local.name })]);
    if (local.changed) name.append(" ", make("span", { class: "hs-changed", role: "img", "aria-label": "changed", title: "changed since the last stop", text: "●" }));
    return make("tr", { class: local.changed ? "hs-is-changed" : "" }, [make("th", { scope: "row" }, [name]), make("td", { text: local.value, title: local.value })]);
  }

  /** @param {Evaluation[]} list */
  function updateAnswers(list) {
    answers.replaceChildren(
      ...list.map((one) =>
        make("div", { class: one.failed ? "hs-answer hs-failed" : "hs-answer" }, [
          make("div", { class: "hs-question" }, [make("span", { class: "hs-prompt", "aria-hidden": "true", text: "› " }), one.expression]),
          make("pre", { text: one.text }),
        ]),
      ),
    );
    answers.scrollTop = answers.scrollHeight;
  }

  /** F10, F11, Shift+F11 and F9, wherever the focus is in the panel. @param {KeyboardEvent} event */
  function key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    const pressed = (event.shiftKey ? "Shift+" : "") + event.key;
    const found = STEP_COMMANDS.find(([, , shortcut]) => shortcut === pressed);
    if (!found) return false;
    resume(found[1]);
    return true;
  }

  return { element, update, updateAnswers, setPaused, key };
}
