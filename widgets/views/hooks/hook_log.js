// Output of hooks written in a panel, and their errors.

import { make } from "../../static/dom.js";

/** Delay in milliseconds between the last output of hooks and the request for the rest. */
const QUIET = 400;

/** @param {import("../../static/types.js").Send} send */
export function createHookLog(send) {
  const log = make("div", { class: "hs-hook-log", role: "log", "aria-label": "Printed by hooks", tabindex: "0" });
  const clear = make("button", { type: "button", class: "hs-button", text: "Clear", "aria-label": "Clear the output of hooks", disabled: "", onclick: () => send({ type: "clear_hook_log" }) });
  let quiet = 0;

  return {
    elements: [make("div", { class: "hs-side-head" }, [make("h4", { text: "Printed" }), clear]), log],
    /** @param {Partial<import("../../static/python.js").Printed>} printed */
    update({ entries = [], dropped = 0 }) {
      clear.disabled = !entries.length;
      const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
      const note = !entries.length ? "Nothing yet: the output and the errors of written hooks appear here." : dropped ? `${dropped} older ones dropped` : "";
      log.replaceChildren(...(note ? [make("p", { class: "hs-question", text: note })] : []), ...entries.map(entry));
      if (atEnd) log.scrollTop = log.scrollHeight;
      // Python limits its messages, so the last lines may be missing: request them after a pause.
      clearTimeout(quiet);
      if (entries.length) quiet = window.setTimeout(() => send({ type: "hook_log" }), QUIET);
    },
    destroy: () => clearTimeout(quiet),
  };
}

/** @param {import("../../static/python.js").Entry} one */
function entry({ where, text, failed, times }) {
  return make("div", { class: failed ? "hs-answer hs-failed" : "hs-answer" }, [make("div", { class: "hs-question", text: times > 1 ? `${where}, ${times} times` : where }), make("pre", { text })]);
}
