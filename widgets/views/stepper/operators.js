// The operators that ran, and the values of the selected one. Later operators stay in the list, so that the user can
// step forward again.

import { make, setText } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").Stop} Stop */

/** @param {(index: number) => void} show */
export function createOperators(show) {
  /** @type {Stop | null} */
  let stop = null;
  const title = make("h4");
  /** @param {string} label @param {string} text @param {number} step */
  const walker = (label, text, step) => make("button", { type: "button", class: "hs-button hs-walk", "aria-label": label, text, disabled: "", onclick: () => walk(step) });
  const walks = [walker("Earlier operator", "‹", -1), walker("Later operator", "›", 1)];
  const list = make("ol", { class: "hs-operators", "aria-label": "Operators run", onkeydown: keyed });
  const values = make("dl", { class: "hs-operator-values", "aria-label": "Inputs and outputs", hidden: "" });

  /** Show the operator before or after the selected one. @param {number} step */
  function walk(step) {
    if (!stop) return;
    const position = stop.operators.findIndex((one) => one.shown);
    const index = position >= 0 ? position + step : step < 0 ? stop.ran - 1 : stop.ran;
    if (index >= 0 && index < stop.operators.length) show(index);
  }

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!step) return;
    event.preventDefault();
    walk(step);
  }

  /** @param {Stop} now */
  function update(now) {
    stop = now;
    const { operators, ran, operator } = now;
    const count = ran < operators.length ? `${ran} of ${operators.length}` : `${operators.length}`;
    setText(title, operators.length ? `Operators run (${count})` : "Operators run: none yet");
    const hadFocus = list.contains(list.ownerDocument.activeElement) && list !== list.ownerDocument.activeElement;
    const position = operators.findIndex((one) => one.shown);
    const reached = position < 0 ? operators.length - 1 : position;
    list.replaceChildren(...operators.map((one, index) => item(one, index < ran, now.skipped ? null : { tabindex: index === reached ? 0 : -1, onclick: () => show(index) })));
    const current = list.children[position];
    if (current instanceof HTMLElement) {
      if (hadFocus) current.querySelector("button")?.focus({ preventScroll: true });
      list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
    } else list.scrollTop = list.scrollHeight;
    values.hidden = !operator;
    if (operator) values.replaceChildren(...valueRows(operator));
  }

  return {
    element: make("div", {}, [make("div", { class: "hs-side-head" }, [title, ...walks]), list, values]),
    controls: walks,
    update,
  };
}

/** @param {import("../../static/python.js").Operator} operator @param {boolean} ran @param {Record<string, unknown> | null} button */
function item({ name, inputs, outputs, shown }, ran, button) {
  const what = [make("b", { text: name }), `(${inputs})`, make("span", { class: "hs-arrow", text: " → " }), outputs];
  return make("li", { class: ran ? "" : "hs-later", title: ran ? null : "ran after the shown point" }, [
    button ? make("button", { type: "button", class: "hs-operator", "aria-current": shown ? "true" : null, ...button }, what) : make("span", {}, what),
  ]);
}

/** @param {import("../../static/python.js").OperatorValues} values */
function valueRows({ inputs, outputs }) {
  const rows = [...inputs.map((text, k) => [`inputs[${k}]`, text]), ...outputs.map((text, k) => [outputs.length > 1 ? `output[${k}]` : "output", text])];
  return rows.map(([name, text]) => make("div", {}, [make("dt", { text: name }), make("dd", { text, title: text })]));
}
