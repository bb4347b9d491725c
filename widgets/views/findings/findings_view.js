// The findings: the faults, with links to their cells, and behind "Settings" the session's conditions and pauses.

import { make, setAttribute } from "../../static/dom.js";
import { createFindings } from "./findings.js";
import { createMutedConditions } from "./muted_conditions.js";
import { createConditionTable } from "./condition_table.js";

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, go, open, count }) {
  let isLooking = false; // whether any condition is enabled
  let watching = true;
  const settings = make("button", { type: "button", class: "hs-button", text: "Settings", title: "The conditions with their thresholds, and those that pause the run", "aria-expanded": "false", onclick: () => openSettings(conditionTable.element.hidden) });
  const findings = createFindings(send, go, settings);
  const muted = createMutedConditions(send);
  const conditionTable = createConditionTable(send);
  // First-time users start here: this button enables all conditions and shows the faults.
  const find = make("button", {
    type: "button",
    class: "hs-button hs-primary",
    text: "Find faults",
    title: "Look for NaN, dead units, vanishing gradients and the like in all runs from now on",
    hidden: "",
    onclick: () => {
      send({ type: "all_conditions", on: true });
      open();
    },
  });

  const results = make("section", { "aria-label": "Causes and consequences" }, [...findings.elements, muted.element]);
  conditionTable.element.hidden = true;

  /** Show the settings in place of the findings, or the findings again. @param {boolean} wish */
  function openSettings(wish) {
    conditionTable.element.hidden = !wish;
    results.hidden = wish;
    setAttribute(settings, "aria-expanded", wish);
    setAttribute(settings, "aria-pressed", wish);
  }

  /** @param {Partial<import("../../static/python.js").Conditions>} now */
  function update(now) {
    const rows = now.rows ?? [];
    isLooking = rows.some((row) => row.on);
    conditionTable.update(rows, now.no_pauses ?? "");
    findings.update(now.causes ?? [], now.verdict ?? "", now.limits ?? "", now.summary ?? "");
    findings.offer(watching && !isLooking);
    muted.update(now.muted ?? []);
    count(now.causes?.length ?? 0);
  }

  /** @param {unknown} _ @param {import("../../static/python.js").Status} status */
  function updateStatus(_, status) {
    // The session no longer watches once it has finished; a ready session starts with the run.
    watching = status.state !== "finished" || status.watching;
    conditionTable.setEnabled(watching);
    findings.offer(watching && !isLooking);
    find.hidden = status.state === "finished" || status.state === "paused" || isLooking;
  }

  return {
    element: make("div", { class: "hs-view" }, [findings.bar, make("div", { class: "hs-view hs-scroll" }, [results, conditionTable.element])]),
    traits: [[["conditions"], update], [["conditions", "status"], updateStatus]],
    reveal(path) {
      openSettings(false);
      findings.filter(path);
    },
    confirmed: conditionTable.confirmed,
    next: [find],
  };
}
