// The line below the views: the last error, and for a single view the run's status.

import { make, setText } from "./dom.js";

/** @param {HTMLElement[]} status the status of a single view in which a user waits for the run */
export function createFooter(status) {
  const problem = make("div", { class: "hs-problem", role: "alert", hidden: "" });
  return {
    element: make("div", { class: "hs-foot" }, [...status, problem]),
    /** @param {string} error */
    update(error) {
      setText(problem, error);
      problem.hidden = !error;
    },
  };
}
