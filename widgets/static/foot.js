// The line below the views: how the run stands, what went wrong last, and what can be done with the whole session.

import { make, setText } from "./dom.js";
import { createExport } from "./download.js";

/**
 * @param {import("./types.js").Send} send
 * @param {{alone: boolean, quiet: boolean, more: HTMLElement[]}} options a view alone has no buttons, a quiet one no status;
 *   `more` are the views' own buttons
 */
export function createFoot(send, { alone, quiet, more }) {
  const text = make("span", { class: "hs-status-text" });
  const status = make("div", { class: "hs-status", role: "status", "aria-live": "polite", hidden: quiet ? "" : null }, [make("span", { class: "hs-dot", "aria-hidden": "true" }), text]);
  const problem = make("div", { class: "hs-problem", role: "alert", hidden: "" });
  const again = make("button", {
    type: "button",
    class: "hs-button",
    text: "Watch again",
    title: "Follow what later cells do with this network",
    hidden: "",
    onclick: () => send({ type: "watch_again" }),
  });
  const exporting = createExport(send);

  return {
    element: make("div", { class: "hs-foot" }, [status, problem, ...(alone ? [] : [again, ...more, exporting.button])]),
    exporting,
    /** @param {Partial<import("./python.js").Status>} now @param {string} lack a word for a kernel that is not there */
    update(now, lack) {
      setText(text, lack || (now.text ?? ""));
      setText(problem, now.error ?? "");
      problem.hidden = Boolean(lack) || !now.error;
      again.hidden = now.state !== "finished" || Boolean(now.watching);
    },
  };
}
