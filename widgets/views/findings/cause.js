// One cause as a card: the fault, its cell, the evidence, the remedies, and the consequences.

import { make, setText } from "../../static/dom.js";
import { createCure } from "./cure.js";
import { createEvidence } from "./evidence.js";

/** @typedef {import("../../static/python.js").CauseRow} CauseRow */
/** @typedef {import("../../static/python.js").FindingRow} FindingRow */

/** @type {Record<string, string>} */
const CERTAINTIES = {
  certain: "A fact that was seen",
  likely: "What was seen has this cause most of the time",
  symptom: "A sign of a fault that may be elsewhere",
};

/**
 * @param {CauseRow} first
 * @param {import("../../static/types.js").Send} send
 * @param {import("../../static/types.js").Go} go
 */
export function createCause(first, send, go) {
  const { condition, path, label } = first;
  const when = make("span", { class: "hs-when" });
  const certainty = make("span", { class: "hs-certainty" });
  const seen = make("p", { class: "hs-what" });
  const source = make("code", { class: "hs-made" });
  const advice = make("p", { class: "hs-advice" });
  const cures = make("div", { class: "hs-cures" });
  const folded = make("span");
  const consequences = make("ul");
  const details = make("details", { class: "hs-folded" }, [make("summary", {}, ["so also: ", folded]), consequences]);
  const capture = make("button", { type: "button", class: "hs-button", text: "Show capture", "aria-label": `show the capture of ${condition} in ${label}`, onclick: () => go.capture?.(row.capture) });
  const mute = make("button", { type: "button", class: "hs-button", text: "Mute here", title: `Neither find nor pause at ${condition} in ${label}: it is meant, in this network`, "aria-label": `mute here: ${condition} in ${label}`, "aria-expanded": "false", onclick: () => ask(reason.hidden) });
  const why = make("input", { type: "text", class: "hs-input", maxlength: 200, placeholder: "meant, in this network, since ...", "aria-label": `why ${condition} in ${label} is meant` });
  const reason = make("form", { class: "hs-reason", hidden: "", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); send({ type: "mute", condition, path, on: true, reason: why.value }); } }, [why, make("button", { type: "submit", class: "hs-button", text: "Mute", "aria-label": `mute ${condition} in ${label}` })]);
  const evidence = createEvidence();
  const element = make("li", { class: "hs-cause" }, [
    make("div", { class: "hs-cause-body" }, [
      make("div", { class: "hs-cause-text" }, [
        make("h4", { class: "hs-cause-title", text: first.meaning }),
        make("p", { class: "hs-cause-where" }, [make("span", { class: "hs-condition", text: condition }), " in ", cellLink(first, go), ": ", certainty, ", ", when]),
        seen,
        source,
        advice,
      ]),
      evidence.element,
    ]),
    make("div", { class: "hs-cause-actions" }, [cures, capture, mute]),
    reason,
    details,
  ]);
  let row = first;
  let drawnKey = "";
  /** @type {Map<string, ReturnType<typeof createCure>>} */
  const cureItems = new Map();

  /** Ask for the reason why the finding is meant. @param {boolean} wish */
  function ask(wish) {
    reason.hidden = !wish;
    mute.setAttribute("aria-expanded", String(wish));
    if (wish) why.focus();
  }

  /** @param {CauseRow} now */
  function update(now) {
    row = now;
    const text = JSON.stringify(now);
    if (text === drawnKey) return;
    drawnKey = text;
    setText(when, now.evidence_text);
    setText(certainty, now.certainty);
    element.dataset.kind = certainty.dataset.kind = now.certainty;
    certainty.title = CERTAINTIES[now.certainty] ?? "";
    setText(seen, now.message);
    setText(advice, now.advice);
    // The sentence about a producer ends with its line of source; otherwise the line is separate.
    source.hidden = !now.source || now.message.includes(now.source);
    setText(source, now.source);
    evidence.update(now.evidence);
    capture.hidden = now.capture < 0 || !go.capture;
    drawCures();
    details.hidden = !now.consequences.length;
    setText(folded, now.folded);
    consequences.replaceChildren(...now.consequences.map((one) => consequence(one, go)));
  }

  function drawCures() {
    const names = new Set(row.cures.map((cure) => cure.name));
    for (const [name, cure] of cureItems) {
      if (names.has(name)) continue;
      cure.element.remove();
      cureItems.delete(name);
    }
    for (const cure of row.cures) {
      const item = cureItems.get(cure.name) ?? createCure(cure, label, (on) => send({ type: "cure", condition, path, name: cure.name, on }));
      if (!cureItems.has(cure.name)) cures.append(item.element);
      cureItems.set(cure.name, item);
      item.update(cure);
    }
  }

  return { element, update, unfold: () => (details.open = true) };
}

/** @param {FindingRow} finding @param {import("../../static/types.js").Go} go */
function cellLink({ in_cell, label, path }, go) {
  const { cell } = go;
  if (!in_cell || !cell) return make("span", { text: label });
  return make("button", { type: "button", class: "hs-link", text: label, "aria-label": `show cell ${label}`, onclick: () => cell(path) });
}

/** @param {FindingRow} finding @param {import("../../static/types.js").Go} go */
function consequence(finding, go) {
  return make("li", {}, [make("span", { class: "hs-condition", text: finding.condition }), " in ", cellLink(finding, go), `: ${finding.message}`]);
}
