// Expressions on all ranks or on one: a line each, with a field for each rank; values that differ from most ranks are
// marked.

import { make } from "../static/dom.js";

/** @typedef {import("../static/ranks.js").RanksAnswer} Answer */

/** Descriptions of marks. */
const MARKS = { "": "", differs: "differs from most ranks", error: "it failed", busy: "no answer yet" };

/** @param {(message: import("../static/ranks.js").Asked) => void} send */
export function createEvaluation(send) {
  const input = make("input", { type: "text", class: "hs-input", "aria-label": "Expression", placeholder: "Expression", spellcheck: "false", autocomplete: "off" });
  const where = make("select", { class: "hs-ranks-select", "aria-label": "Evaluate on" }, [make("option", { value: "-1", text: "all ranks" })]);
  const lines = make("div", { class: "hs-ranks-answers", role: "log", "aria-label": "Answers", tabindex: "0", hidden: "" });
  const form = make("form", { class: "hs-bar hs-ranks-ask", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!input.value.trim()) return;
    send({ type: "evaluate", expression: input.value, rank: Number(where.value) });
    input.select();
  } }, [
    make("span", { class: "hs-prompt", text: "›", "aria-hidden": "true" }),
    input,
    where,
    make("button", { type: "submit", class: "hs-button", text: "Evaluate" }),
  ]);

  /** @param {Answer} answer */
  function drawn(answer) {
    return make("div", { class: "hs-ranks-answer" }, [
      make("span", { class: "hs-question", text: `${answer.expression}:` }),
      ...answer.answers.map(({ rank, text, mark }) => {
        const said = `rank ${rank}${mark ? `, ${MARKS[mark]}` : ""}`;
        return make("span", { class: "hs-ranks-field", role: "group", "data-mark": mark || null, title: `${said}: ${text}`, "aria-label": `${said}: ${text}`, text });
      }),
    ]);
  }

  return {
    element: make("div", { class: "hs-ranks-evaluating" }, [lines, form]),
    /** @param {import("../static/ranks.js").RankRow[]} rows */
    drawRanks(rows) {
      if (where.options.length === rows.length + 1) return;
      const chosen = where.value;
      where.replaceChildren(make("option", { value: "-1", text: "all ranks" }), ...rows.map(({ rank }) => make("option", { value: String(rank), text: `rank ${rank}` })));
      where.value = chosen;
    },
    /** @param {Answer[]} answers */
    draw(answers) {
      lines.hidden = !answers.length;
      lines.replaceChildren(...answers.map(drawn));
      lines.scrollTop = lines.scrollHeight;
    },
  };
}
