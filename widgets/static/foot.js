// The line below the views: what went wrong last, and of a view that is alone how the run stands.

import { make, setText } from "./dom.js";

/** @param {HTMLElement[]} status of a view that is alone, where one waits for the run there */
export function createFoot(status) {
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
