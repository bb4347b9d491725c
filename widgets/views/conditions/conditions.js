// The conditions: what was found, with ways to go there; and below it what the session looks for and pauses at.

import { make } from "../../static/dom.js";
import { createFindings } from "./findings.js";
import { createMuted } from "./muted.js";
import { createWanted } from "./wanted.js";

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, go, open, count }) {
  let looking = false; // for anything
  let watching = true;
  const findings = createFindings(send, go);
  const muted = createMuted(send);
  const wanted = createWanted(send);
  // Who does not know the panel begins here: what is wrong with the network is looked for, and shown.
  const find = make("button", {
    type: "button",
    class: "hs-button",
    text: "Find faults",
    title: "Look for NaN, dead units, vanishing gradients and the like in what runs from now on",
    hidden: "",
    onclick: () => {
      send({ type: "all_conditions", on: true });
      open();
    },
  });

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
    // A session that has finished is watched no more; one that is ready begins with the run.
    watching = status.state !== "finished" || status.watching;
    wanted.setEnabled(watching);
    findings.offer(watching && !looking);
    find.hidden = status.state === "finished" || looking;
  }

  return {
    element: make("div", { class: "hs-view hs-scroll" }, [make("section", { "aria-label": "What was found" }, [...findings.elements, muted.element]), wanted.element]),
    traits: [[["conditions"], update], [["conditions", "status"], updateStatus]],
    reveal: findings.filter,
    answered: wanted.answered,
    foot: [find],
  };
}
