// Findings across ranks: a line each, with its ranks and a button that shows the value in a table below.

import { make } from "../static/dom.js";

/** @typedef {import("../static/ranks.js").RanksFinding} RanksFinding */

/** @param {(message: import("../static/ranks.js").Asked) => void} send */
export function createFindings(send) {
  const list = make("ul", { class: "hs-ranks-findings", "aria-label": "Findings across ranks", hidden: "" });

  /** @param {RanksFinding} found */
  function drawn(found) {
    const ranks = found.ranks.map((rank) => make("span", { class: "hs-badge hs-warn", text: String(rank), "aria-label": `rank ${rank}` }));
    const show = make("button", { type: "button", class: "hs-button", text: "Show", "aria-label": `Show ${found.name}`, onclick: () => send({ type: "reveal", tab: found.view, step: found.step, name: found.name }) });
    return make("li", {}, [
      make("strong", { text: found.condition }),
      ...(ranks.length ? [make("span", { class: "hs-ranks-in" }, ["rank", ...ranks])] : []),
      make("span", { class: "hs-ranks-what", title: found.advice || null }, [
        found.step ? `step ${found.step}: ` : "",
        found.text,
        ...(found.advice ? [make("span", { class: "hs-ranks-advice", text: ` · ${found.advice}` })] : []),
      ]),
      ...(found.view ? [show] : []),
    ]);
  }

  return {
    element: list,
    /** @param {RanksFinding[]} found */
    draw(found) {
      list.hidden = !found.length;
      list.replaceChildren(...found.map(drawn));
    },
  };
}
