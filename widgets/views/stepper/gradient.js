// The gradient check: its button, and its result for the current cell.

import { make, setText } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").GradientCheck} GradientCheck */

/** @param {() => void} check */
export function createGradient(check) {
  /** @type {Partial<GradientCheck>} */
  let latest = {};
  let path = "";
  let isAwaited = false;
  const button = make("button", { type: "button", class: "hs-button", text: "Check gradient", disabled: "", onclick: ask });
  const summary = make("p", { class: "hs-check-summary", "aria-live": "polite", hidden: "" });
  const rows = make("tbody");
  const table = make("table", { class: "hs-check-table", "aria-label": "Gradient check", hidden: "" }, [
    make("thead", {}, [
      make("tr", {}, [
        ...["of", "verdict"].map((text) => make("th", { scope: "col", rowspan: 2, text })),
        make("th", { scope: "colgroup", colspan: 2, text: "relative difference" }),
      ]),
      make("tr", {}, ["to automatic", "to finite differences"].map((text) => make("th", { scope: "col", text, title: text }))),
    ]),
    rows,
  ]);

  /** Draw the result, which is hidden at a stop in another cell. */
  function draw() {
    const shownCheck = latest.state && latest.path === path ? latest : null;
    summary.hidden = !shownCheck;
    table.hidden = !shownCheck?.rows?.length;
    setText(summary, !shownCheck ? "" : shownCheck.state === "checking" ? "checking …" : (shownCheck.summary ?? ""));
    summary.classList.toggle("hs-fault", shownCheck !== null && shownCheck.state !== "checking" && !shownCheck.ok);
    rows.replaceChildren(...(shownCheck?.rows ?? []).flatMap(rowsOf));
  }

  const element = make("div", {}, [make("div", { class: "hs-side-head" }, [make("h4", { text: "Gradient" }), button]), summary, table]);

  function ask() {
    isAwaited = true;
    check();
  }

  /** Scroll the result that was asked for into sight, its beginning first; the notebook does not scroll. */
  function reveal() {
    const [side, body] = [".hs-side", ".hs-stop-body"].map((selector) => element.closest(selector));
    if (!side || !body) return;
    const scroller = side.scrollHeight > side.clientHeight ? side : body; // a narrow panel has one column
    const room = scroller.getBoundingClientRect();
    const result = element.getBoundingClientRect();
    scroller.scrollTop += Math.max(0, Math.min(result.bottom - room.bottom, result.top - room.top));
  }

  return {
    element,
    /** @param {boolean} can */
    setEnabled: (can) => (button.disabled = !can),
    /** @param {Partial<GradientCheck>} now */
    update(now) {
      latest = now;
      draw();
      if (!isAwaited) return;
      isAwaited = now.state === "checking";
      reveal();
    },
    /** Set the cell of the current stop. @param {string} cell */
    setCell(cell) {
      path = cell;
      draw();
    },
  };
}

/** @param {import("../../static/python.js").CheckedGradient} row */
function rowsOf(row) {
  const first = make("tr", { class: row.verdict === "wrong" ? "hs-is-changed" : "" }, [
    make("th", { scope: "row", text: row.name, title: `${row.name} ${row.shape}` }),
    make("td", { text: row.verdict, title: row.checked && `${row.checked} elements checked` }),
    make("td", { text: row.automatic, title: row.automatic }),
    make("td", { text: row.numeric, title: row.numeric }),
  ]);
  return row.reason ? [first, make("tr", { class: "hs-check-reason" }, [make("td", { colspan: 4, text: row.reason })])] : [first];
}
