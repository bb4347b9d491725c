// The line numbers: a click sets or removes a breakpoint, and its condition is shown beside it.

import { closest, make, setAttribute, setText } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").LineBreakpoint} LineBreakpoint */

/**
 * @param {HTMLElement} list the list of lines
 * @param {{set: (line: number, condition: string, log: string) => void, remove: (line: number) => void, runTo: (line: number) => void}} asks
 */
export function createGutter(list, asks) {
  let enabled = false;
  let goesOn = false;
  /** @type {Map<number, LineBreakpoint>} */
  let breakpoints = new Map();
  /** The condition that the user is editing. @type {{line: number, form: HTMLFormElement} | null} */
  let editing = null;

  const numbers = () => [.../** @type {NodeListOf<HTMLButtonElement>} */ (list.querySelectorAll("button.hs-line-number"))];
  /** @param {number} line */
  const numberOf = (line) => numbers().find((entry) => entry.dataset.at === String(line));

  /** @param {number} line */
  function toggle(line) {
    if (breakpoints.has(line)) asks.remove(line);
    else asks.set(line, "", "");
  }

  /** @param {KeyboardEvent} event @param {HTMLButtonElement} number */
  function walk(event, number) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      asks.runTo(Number(number.dataset.at));
      return;
    }
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!step) return;
    event.preventDefault();
    const all = numbers();
    const next = all[all.indexOf(number) + step];
    if (!next) return;
    reach(next);
    next.focus();
  }

  /** Make this number the only one that Tab reaches. @param {HTMLButtonElement | undefined} number */
  function reach(number) {
    for (const entry of numbers()) setAttribute(entry, "tabindex", entry === number ? 0 : -1);
  }

  /** Edit the condition of an existing or new breakpoint. @param {number} line */
  function edit(line) {
    close();
    const item = numberOf(line)?.parentElement;
    if (!item || !enabled) return;
    const label = `Condition of the breakpoint at line ${line}`;
    const input = make("input", { type: "text", class: "hs-input", "aria-label": label, placeholder: "abs(dx).max() > 1", spellcheck: "false", autocomplete: "off" });
    input.value = breakpoints.get(line)?.condition ?? "";
    const log = make("input", { type: "text", class: "hs-input", "aria-label": `Text that line ${line} prints in place of a pause`, placeholder: "norm {x.norm():.3g}", spellcheck: "false", autocomplete: "off" });
    log.value = breakpoints.get(line)?.log ?? "";
    const form = make("form", { class: "hs-if-form", onsubmit: submit, onkeydown: leave }, [
      make("span", { "aria-hidden": "true", text: "if" }),
      input,
      make("span", { "aria-hidden": "true", text: "log" }),
      log,
      make("button", { type: "submit", class: "hs-button", text: "Set" }),
    ]);
    editing = { line, form };
    item.append(form);
    draw();
    input.focus();

    /** @param {Event} event */
    function submit(event) {
      event.preventDefault();
      asks.set(line, input.value, log.value);
      close();
      numberOf(line)?.focus();
    }
    /** @param {KeyboardEvent} event */
    function leave(event) {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      close();
      numberOf(line)?.focus();
    }
  }

  function close() {
    editing?.form.remove();
    editing = null;
    draw();
  }

  function draw() {
    for (const number of numbers()) {
      const line = Number(number.dataset.at);
      const entry = breakpoints.get(line);
      const item = /** @type {HTMLElement} */ (number.parentElement);
      number.disabled = !enabled;
      setAttribute(number, "aria-pressed", Boolean(entry));
      setAttribute(number, "title", entry ? `Breakpoint ${entry.text}, ${entry.hits}: a click removes it` : `A click stops here${goesOn ? "" : " in the next run"}, a right click under a condition${goesOn ? "; Ctrl+click goes on up to this line" : ""}`);
      item.classList.toggle("hs-broken", Boolean(entry));
      drawCondition(item, line, entry);
    }
  }

  /** @param {HTMLElement} item @param {number} line @param {LineBreakpoint | undefined} entry */
  function drawCondition(item, line, entry) {
    let button = /** @type {HTMLButtonElement | null} */ (item.querySelector(".hs-if"));
    if (!entry || editing?.line === line) {
      button?.remove();
      return;
    }
    if (!button) {
      button = make("button", { type: "button", class: "hs-if", onclick: () => edit(line) });
      item.append(button);
    }
    button.disabled = !enabled;
    const failed = entry.error ? `: ${entry.error}; it did not stop` : "";
    const text = [entry.condition && `if ${entry.condition}`, entry.log && `log ${entry.log}`].filter(Boolean).join(" ");
    button.classList.toggle("hs-failed", Boolean(failed));
    button.classList.toggle("hs-if-text", Boolean(text));
    setText(button, text ? `${text}${failed}` : "if …");
    setAttribute(button, "aria-label", `Condition at line ${line}: ${text ? `${text.replace(/^if /, "")}${failed}` : "none"}`);
    setAttribute(button, "title", text ? `${text}${failed}` : "Stop only if a condition holds, or print a text");
  }

  list.addEventListener("contextmenu", (event) => {
    const number = closest(event.target, "button.hs-line-number");
    if (!number || !enabled) return;
    event.preventDefault();
    event.stopPropagation();
    edit(Number(number.dataset.at));
  });

  return {
    /** Replace static line numbers by buttons where breakpoints are possible. @param {number[]} stoppable @param {number} current */
    place(stoppable, current) {
      editing = null;
      const lines = new Set(stoppable);
      for (const item of list.querySelectorAll("li")) {
        const line = Number(item.dataset.line);
        if (!lines.has(line)) continue;
        const number = make("button", { type: "button", class: "hs-line-number", "data-at": line, "aria-label": `Breakpoint at line ${line}`, tabindex: -1, text: String(line), onclick: (/** @type {MouseEvent} */ event) => (goesOn && (event.ctrlKey || event.metaKey) ? asks.runTo(line) : toggle(line)) });
        number.addEventListener("keydown", (event) => walk(event, number));
        item.firstElementChild?.replaceWith(number);
      }
      reach(numberOf(current) ?? numbers()[0]);
    },
    /** @param {LineBreakpoint[]} now */
    update(now) {
      breakpoints = new Map(now.map((entry) => [entry.line, entry]));
      draw();
    },
    /** Set whether breakpoints can be set, and whether the run goes on from here. @param {boolean} now @param {boolean} canGoOn */
    setEnabled(now, canGoOn) {
      if (now === enabled && canGoOn === goesOn) return;
      enabled = now;
      goesOn = canGoOn;
      if (!now) close();
      draw();
    },
  };
}
