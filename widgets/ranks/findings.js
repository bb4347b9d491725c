// Findings across ranks: a line each, with its ranks and a button that shows the value in a table below.

import { make } from "../static/dom.js";

/** @typedef {import("../static/ranks.js").RanksFinding} RanksFinding */

/** @param {(message: import("../static/ranks.js").Asked) => void} send */
export function createFindings(send) {
  const list = make("ul", { class: "hs-ranks-findings", "aria-label": "Findings across ranks", hidden: "" });

  /** @param {RanksFinding} finding */
  function createItem(finding) {
    const ranks = finding.ranks.map((rank) => make("span", { class: "hs-badge hs-warn", text: String(rank), "aria-label": `rank ${rank}` }));
    const show = make("button", { type: "button", class: "hs-button", text: "Show", "aria-label": `Show ${finding.name}`, onclick: () => send({ type: "reveal", tab: finding.view, step: finding.step, name: finding.name }) });
    return make("li", {}, [
      make("strong", { text: finding.condition }),
      ...(ranks.length ? [make("span", { class: "hs-ranks-in" }, ["rank", ...ranks])] : []),
      make("span", { class: "hs-ranks-what", title: finding.advice || null }, [
        finding.step ? `step ${finding.step}: ` : "",
        finding.text,
        ...(finding.advice ? [make("span", { class: "hs-ranks-advice", text: ` · ${finding.advice}` })] : []),
      ]),
      ...(finding.view ? [show] : []),
    ]);
  }

  return {
    element: list,
    /** @param {RanksFinding[]} finding */
    draw(finding) {
      list.hidden = !finding.length;
      list.replaceChildren(...finding.map(createItem));
    },
  };
}
