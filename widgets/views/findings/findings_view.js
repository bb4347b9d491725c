// The findings: the faults, with links to their cells, and behind "Settings" the session's conditions and pauses.

import { make, setAttribute } from "../../static/dom.js";
import { createFindings } from "./findings.js";
import { createMuted } from "./muted_conditions.js";
import { createWanted } from "./condition_table.js";

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, go, open, count }) {
  let looking = false; // whether any condition is enabled
  let watching = true;
  const settings = make("button", { type: "button", class: "hs-button", text: "Settings", title: "What is looked for, with thresholds, and what pauses the run", "aria-expanded": "false", onclick: () => openSettings(wanted.element.hidden) });
  const findings = createFindings(send, go, settings);
  const muted = createMuted(send);
  const wanted = createWanted(send);
  // First-time users start here: this button enables all conditions and shows the faults.
  const find = make("button", {
    type: "button",
    class: "hs-button hs-primary",
    text: "Find faults",
    title: "Look for NaN, dead units, vanishing gradients and the like in what runs from now on",
    hidden: "",
    onclick: () => {
      send({ type: "all_conditions", on: true });
      open();
    },
  });

  const found = make("section", { "aria-label": "What was found" }, [...findings.elements, muted.element]);
  wanted.element.hidden = true;

  /** Show the settings in place of the findings, or the findings again. @param {boolean} wish */
  function openSettings(wish) {
    wanted.element.hidden = !wish;
    found.hidden = wish;
    setAttribute(settings, "aria-expanded", wish);
    setAttribute(settings, "aria-pressed", wish);
  }

  /** @param {Partial<import("../../static/python.js").Conditions>} now */
  function update(now) {
    const rows = now.rows ?? [];
    looking = rows.some((row) => row.on);
    wanted.update(rows, now.no_pauses ?? "");
    findings.update(now.causes ?? [], now.verdict ?? "");
    findings.offer(watching && !looking);
    muted.update(now.muted ?? []);
    count(now.causes?.length ?? 0);
  }

  /** @param {unknown} _ @param {import("../../static/python.js").Status} status */
  function updateStatus(_, status) {
    // The session no longer watches once it has finished; a ready session starts with the run.
    watching = status.state !== "finished" || status.watching;
    wanted.setEnabled(watching);
    findings.offer(watching && !looking);
    find.hidden = status.state === "finished" || status.state === "paused" || looking;
  }

  return {
    element: make("div", { class: "hs-view" }, [findings.bar, make("div", { class: "hs-view hs-scroll" }, [found, wanted.element])]),
    traits: [[["conditions"], update], [["conditions", "status"], updateStatus]],
    reveal(path) {
      openSettings(false);
      findings.filter(path);
    },
    answered: wanted.answered,
    next: [find],
  };
}
