// A row for each rank: its state and position, its step, its newest loss, and its progress relative to the furthest
// rank.

import { make } from "../static/dom.js";

/** @typedef {import("../static/ranks.js").RankRow} RankRow */

export function createRows() {
  const body = make("tbody");
  const head = ["Rank", "State", "Where", "Step", "Loss"].map((text, k) => make("th", { scope: "col", class: k > 2 ? "hs-number" : "", text }));
  const table = make("table", { class: "hs-ranks-rows", "aria-label": "Ranks" }, [make("thead", {}, [make("tr", {}, head)]), body]);

  /** @param {RankRow} row */
  function drawn(row) {
    const bar = make("span", { class: "hs-ranks-part" });
    bar.style.setProperty("--hs-share", `${Math.round(100 * row.share)}%`);
    const behind = row.behind ? `${row.behind} behind the furthest rank` : "";
    return make("tr", { "data-rank-state": row.state }, [
      make("th", { scope: "row", text: String(row.rank) }),
      make("td", { class: "hs-ranks-state" }, [make("span", { class: "hs-ranks-dot", "aria-hidden": "true" }), row.state]),
      make("td", { class: "hs-ranks-where", text: row.text, title: row.text }),
      make("td", { class: "hs-number", title: behind || null }, [
        `${row.step || ""}`,
        make("span", { class: "hs-ranks-bar", role: "img", "aria-label": behind || "as far as the furthest rank" }, [bar]),
      ]),
      make("td", { class: "hs-number", text: row.loss }),
    ]);
  }

  return {
    element: make("div", { class: "hs-ranks-list hs-scroll", role: "region", "aria-label": "How the ranks stand", tabindex: "0" }, [table]),
    /** @param {RankRow[]} rows */
    draw(rows) {
      body.replaceChildren(...rows.map(drawn));
    },
  };
}
