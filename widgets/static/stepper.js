// The stepper: where the run is stopped, what it holds there, and the buttons that let it go on.

import { completeWithTab } from "./completion.js";
import { make, setAttribute, setText } from "./dom.js";
import { numberedLines } from "./highlight.js";

/** @typedef {import("./types.js").Stop} Stop */
/** @typedef {import("./types.js").Evaluation} Evaluation */

/** Button, command, key: those of JupyterLab's debugger where it has them. */
const STEP_COMMANDS = [
  ["Step over", "over", "F10"],
  ["Step into", "into", "F11"],
  ["Step out", "out", "Shift+F11"],
  ["Next operator", "operator", "F8"],
  ["Next cell", "cell", "Shift+F8"],
  ["Continue", "continue", "F9"],
  ["Abort", "abort", "Shift+F9"],
];

/** Button, message, key: these move what is shown, not the run. */
const LOOKS = [
  ["Step back", "step_back", "F4"],
  ["Step forward", "step_forward", "Shift+F4"],
];

/** The name of a key, as the buttons have it. @param {KeyboardEvent} event */
function keyOf(event) {
  return event.ctrlKey || event.altKey || event.metaKey ? "" : (event.shiftKey ? "Shift+" : "") + event.key;
}

/** @param {KeyboardEvent} event */
const commandOf = (event) => STEP_COMMANDS.find(([, , shortcut]) => shortcut === keyOf(event))?.[1];
/** Whether no other stop is expected after a key. @param {KeyboardEvent} event */
const ends = (event) => ["continue", "abort"].includes(commandOf(event) ?? "");

/** What sets a value: a name, or one place of it, and an expression. */
const ASSIGNMENT = /^\s*([A-Za-z_]\w*(?:\s*\[\s*\d+\s*\])?)\s*=(?!=)\s*(.+)$/s;

/** @param {import("./types.js").Send} send */
export function createStepper(send) {
  let paused = false;
  let source = "";
  /** @type {Stop | null} */
  let shown = null;
  /** @param {string} name @param {string} key @param {string} kind @param {() => void} onclick */
  const keyed = (name, key, kind, onclick) =>
    make("button", { type: "button", class: `hs-button ${kind}`, title: `${name} (${key})`, "aria-label": name, "aria-keyshortcuts": key, disabled: "", onclick }, [
      name,
      make("kbd", { class: "hs-key", "aria-hidden": "true", text: key.replace("Shift+", "⇧") }),
    ]);
  const steps = STEP_COMMANDS.map(([name, command, key]) => keyed(name, key, `hs-step hs-step-${command}`, () => resume(command)));
  const looks = LOOKS.map(([name, type, key]) => keyed(name, key, "hs-look", () => send({ type })));
  const title = make("h3", { class: "hs-stop-title" });
  const reason = make("p", { class: "hs-stop-reason" });
  const problem = make("p", { class: "hs-stop-error", role: "alert", hidden: "" });
  const lines = make("ol", { class: "hs-source", "aria-label": "Source", tabindex: "0" });
  const locals = make("tbody");
  const operators = make("ol", { class: "hs-operators", "aria-label": "Operators run" });
  const operatorsTitle = make("h4");
  const walks = [
    make("button", { type: "button", class: "hs-button hs-walk", "aria-label": "Earlier operator", text: "‹", disabled: "", onclick: () => walk(-1) }),
    make("button", { type: "button", class: "hs-button hs-walk", "aria-label": "Later operator", text: "›", disabled: "", onclick: () => walk(1) }),
  ];
  const operatorValues = make("dl", { class: "hs-operator-values", "aria-label": "Inputs and outputs", hidden: "" });
  const check = make("button", { type: "button", class: "hs-button", text: "Check gradient", disabled: "", onclick: () => send({ type: "check_gradient" }) });
  const checkText = make("p", { class: "hs-check-summary", "aria-live": "polite", hidden: "" });
  const checkRows = make("tbody");
  const checkTable = make("table", { class: "hs-check-table", "aria-label": "Gradient check", hidden: "" }, [
    make("thead", {}, [make("tr", {}, ["of", "verdict", "to automatic", "to differences"].map((text) => make("th", { scope: "col", text })))]),
    checkRows,
  ]);
  const stack = make("ol", { class: "hs-stack" });
  const stackPart = make("section", { "aria-label": "Call stack" }, [make("h4", { text: "Call stack" }), stack]);
  const answers = make("div", { class: "hs-answers", role: "log", "aria-label": "Evaluation results" });
  const input = make("input", {
    type: "text",
    class: "hs-input",
    "aria-label": "Evaluate",
    "aria-description": "Tab completes the name of a local variable",
    placeholder: "dout.shape shows a value, NAME = EXPRESSION sets one",
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
    const found = ASSIGNMENT.exec(expression);
    send(found ? { type: "edit", name: found[1], expression: found[2] } : { type: "evaluate", expression });
    input.value = "";
    nameButton();
  });
  const nameButton = () => setText(run, ASSIGNMENT.test(input.value) ? "Set" : "Evaluate");
  input.addEventListener("input", nameButton);
  completeWithTab(input, () => shown?.locals.map(({ name }) => name) ?? []);
  input.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!step || !history.length) return;
    event.preventDefault();
    recalled = Math.max(0, Math.min(history.length, recalled + step));
    input.value = history[recalled] ?? "";
    nameButton();
  });

  const empty = make("p", {
    class: "hs-empty",
    text: "Not paused. Choose among the cells where to pause, then run the network; or run it with --step, to stop in each bprop.",
  });
  const localsTable = make("table", { class: "hs-locals" }, [
    make("caption", { text: "Locals" }),
    make("colgroup", {}, [make("col", { class: "hs-locals-names" }), make("col")]),
    make("thead", {}, [make("tr", {}, [make("th", { scope: "col", text: "name" }), make("th", { scope: "col", text: "value" })])]),
    locals,
  ]);
  const side = make("div", { class: "hs-side" }, [
    localsTable,
    make("div", {}, [make("div", { class: "hs-side-head" }, [operatorsTitle, ...walks]), operators, operatorValues]),
    make("div", {}, [make("div", { class: "hs-side-head" }, [make("h4", { text: "Gradient" }), check]), checkText, checkTable]),
    stackPart,
  ]);
  const stopPart = make("div", { class: "hs-stop", hidden: "" }, [
    make("div", { class: "hs-stop-head" }, [make("div", { class: "hs-stop-where" }, [title, reason]), problem]),
    make("div", { class: "hs-stop-body" }, [lines, side]),
    form,
    answers,
  ]);
  const element = make("div", { class: "hs-view" }, [
    make("div", { class: "hs-bar hs-steps", role: "toolbar", "aria-label": "Stepping" }, [...steps.slice(0, -1), ...looks, ...steps.slice(-1)]),
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
    const controls = [...steps, ...looks, ...walks, input, run];
    if (!now) {
      // A disabled element loses the keyboard: keep the focus in the panel, and give it back at the next stop.
      const active = controls.find((control) => control === element.ownerDocument.activeElement);
      focused = active ?? null;
      if (active) lines.focus({ preventScroll: true });
    }
    for (const control of controls) control.disabled = !now;
    check.disabled = !now || !shown?.can_check;
    if (now && focused && element.ownerDocument.activeElement === lines) focused.focus({ preventScroll: true });
    element.classList.toggle("hs-away", !now);
  }

  /** @param {Stop} stop */
  function update(stop) {
    shown = stop;
    stopPart.hidden = !stop.title;
    empty.hidden = !stopPart.hidden;
    if (stopPart.hidden) return;
    setText(title, (stop.skipped ? "Skipped pause: " : stop.kind === "past" ? "Earlier: " : "") + stop.title);
    setText(reason, stop.reason);
    problem.hidden = !stop.exception;
    setText(problem, stop.exception);
    drawSource(stop);
    locals.replaceChildren(...stop.locals.map(drawLocal));
    check.disabled = !paused || !stop.can_check;
    drawOperators(stop);
    drawGradient();
    stackPart.hidden = stop.stack.length < 2;
    stack.replaceChildren(...stop.stack.map((text) => make("li", { text })));
  }

  /** @param {Stop} stop */
  function drawSource(stop) {
    const now = `${stop.filename}:${stop.first_line}\n${stop.lines.join("\n")}`;
    if (now !== source) {
      source = now;
      setAttribute(lines, "aria-label", `Source of ${stop.function}`);
      lines.replaceChildren(...numberedLines(stop.lines, stop.first_line));
    }
    for (const item of lines.querySelectorAll("li")) {
      setAttribute(item, "aria-current", Number(item.dataset.line) === stop.line ? "true" : null);
    }
    revealLine();
  }

  /** Bring the current line into sight, if it is not; there is nothing to scroll while another view is shown. */
  function revealLine() {
    const room = lines.clientHeight;
    const current = /** @type {HTMLElement | null} */ (lines.querySelector("[aria-current]"));
    if (!room || !current) return;
    const top = current.offsetTop; // from the list, which is positioned
    if (top < lines.scrollTop + 24 || top > lines.scrollTop + room - 48) lines.scrollTop = top - room / 3;
  }

  /** Those that ran after what is shown stay in the list, so that one can go forth again. @param {Stop} stop */
  function drawOperators(stop) {
    const later = stop.operators.length - stop.ran;
    const count = later ? `${stop.ran} of ${stop.operators.length}` : `${stop.operators.length}`;
    setText(operatorsTitle, stop.operators.length ? `Operators run (${count})` : "Operators run: none yet");
    const items = /** @type {HTMLElement[]} */ ([...operators.children]);
    const hadFocus = items.some((item) => item.contains(element.ownerDocument.activeElement));
    const place = stop.operators.findIndex((op) => op.shown);
    operators.replaceChildren(
      ...stop.operators.map((op, index) => {
        const what = [make("b", { text: op.name }), `(${op.inputs})`, make("span", { class: "hs-arrow", text: " → " }), op.outputs];
        const attributes = {
          type: "button",
          class: "hs-operator",
          "aria-current": op.shown ? "true" : null,
          tabindex: index === (place < 0 ? stop.operators.length - 1 : place) ? 0 : -1,
          onclick: () => paused && send({ type: "show_operator", index }),
        };
        return make("li", { class: index < stop.ran ? "" : "hs-later", title: index < stop.ran ? null : "ran after what is shown" }, [
          stop.skipped ? make("span", {}, what) : make("button", attributes, what),
        ]);
      }),
    );
    const current = operators.children[place];
    if (current instanceof HTMLElement) {
      if (hadFocus) current.querySelector("button")?.focus({ preventScroll: true });
      operators.scrollTop = current.offsetTop - operators.offsetTop - operators.clientHeight / 2;
    } else operators.scrollTop = operators.scrollHeight;
    operatorValues.hidden = !stop.operator;
    const values = stop.operator;
    if (!values) return;
    const rows = [...values.inputs.map((text, k) => [`inputs[${k}]`, text]), ...values.outputs.map((text, k) => [values.outputs.length > 1 ? `output[${k}]` : "output", text])];
    operatorValues.replaceChildren(...rows.map(([name, text]) => make("div", {}, [make("dt", { text: name }), make("dd", { text, title: text })])));
  }

  /** Show the operator before or after the one that is shown. @param {number} step */
  function walk(step) {
    if (!paused || !shown) return;
    const place = shown.operators.findIndex((op) => op.shown);
    const index = place >= 0 ? place + step : step < 0 ? shown.ran - 1 : shown.ran;
    if (index >= 0 && index < shown.operators.length) send({ type: "show_operator", index });
  }
  operators.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!step) return;
    event.preventDefault();
    walk(step);
  });

  /** @type {import("./types.js").GradientCheck | null} */
  let gradient = null;
  /** @param {import("./types.js").GradientCheck} found */
  function updateGradient(found) {
    gradient = found;
    drawGradient();
  }

  /** A check is of one cell: at a stop in another it is not shown. */
  function drawGradient() {
    const here = gradient?.state && gradient.path === shown?.path ? gradient : null;
    checkText.hidden = !here;
    checkTable.hidden = !here?.rows?.length;
    setText(checkText, !here ? "" : here.state === "checking" ? "checking …" : here.summary);
    checkText.classList.toggle("hs-fault", here !== null && here.state !== "checking" && !here.ok);
    checkRows.replaceChildren(
      ...(here?.rows ?? []).flatMap((row) => [
        make("tr", { class: row.verdict === "wrong" ? "hs-is-changed" : "" }, [
          make("th", { scope: "row", text: row.name, title: `${row.name} ${row.shape}` }),
          make("td", { text: row.verdict, title: row.checked && `${row.checked} elements checked` }),
          make("td", { text: row.automatic, title: row.automatic }),
          make("td", { text: row.numeric, title: row.numeric }),
        ]),
        ...(row.reason ? [make("tr", { class: "hs-check-reason" }, [make("td", { colspan: 4, text: row.reason })])] : []),
      ]),
    );
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

  /** Do what the button of a key does, if there is one. @param {KeyboardEvent} event */
  function key(event) {
    const command = commandOf(event);
    const look = LOOKS.find(([, , shortcut]) => shortcut === keyOf(event));
    if (command) resume(command);
    else if (look && paused) send({ type: look[1] });
    return Boolean(command || look);
  }

  return { element, update, updateAnswers, updateGradient, setPaused, key, ends, draw: revealLine };
}
