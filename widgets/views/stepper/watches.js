// Expressions that are evaluated at each stop.

import { make, setAttribute, setText } from "../../static/dom.js";
import { completeWithTab } from "./completion.js";
import { createIcon } from "./icons.js";

/** @typedef {import("../../static/python.js").Evaluation} Evaluation */

/**
 * @param {import("../../static/types.js").Send} send
 * @param {() => string[]} names returns the names that Tab completes
 */
export function createWatches(send, names) {
  const rows = make("tbody");
  const table = make("table", { class: "hs-locals hs-watches", "aria-label": "Watched expressions", hidden: "" }, [
    make("colgroup", {}, [make("col", { class: "hs-locals-names" }), make("col"), make("col", { class: "hs-watch-tools" })]),
    make("thead", {}, [make("tr", {}, ["expression", "value", "remove"].map((text) => make("th", { scope: "col", text })))]),
    rows,
  ]);
  const input = make("input", { type: "text", class: "hs-input", "aria-label": "Watch an expression", placeholder: "abs(dx).max()", spellcheck: "false", autocomplete: "off" });
  const form = make("form", { class: "hs-watch-form", onsubmit: submit }, [input, make("button", { type: "submit", class: "hs-button", text: "Watch" })]);
  completeWithTab(input, names);
  let drawnExpressions = "";

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const expression = input.value.trim();
    if (!expression) return;
    send({ type: "watch_expression", expression });
    input.value = "";
  }

  /** @param {string} expression */
  function remove(expression) {
    send({ type: "unwatch_expression", expression });
    input.focus(); // the button disappears
  }

  /** Update only the rows that differ, so that a button keeps the focus over a stop. @param {Evaluation[]} watched */
  function update(watched) {
    table.hidden = !watched.length;
    const now = JSON.stringify(watched.map((entry) => entry.expression));
    if (now !== drawnExpressions) {
      drawnExpressions = now;
      rows.replaceChildren(...watched.map((entry) => row(entry, remove)));
    }
    watched.forEach((entry, k) => fill(rows.rows[k], entry));
  }

  return { element: make("section", { "aria-label": "Watch" }, [make("h4", { text: "Watch" }), table, form]), update };
}

/** @param {Evaluation} entry @param {(expression: string) => void} remove */
function row({ expression }, remove) {
  const name = `Stop watching ${expression}`;
  return make("tr", {}, [
    make("th", { scope: "row", text: expression, title: expression }),
    make("td"),
    make("td", {}, [make("button", { type: "button", class: "hs-icon-button", "aria-label": name, title: name, onclick: () => remove(expression) }, [createIcon("remove")])]),
  ]);
}

/** @param {HTMLTableRowElement} row @param {Evaluation} entry */
function fill(row, { text, failed }) {
  const cell = row.cells[1];
  setText(cell, text);
  setAttribute(cell, "title", text);
  cell.classList.toggle("hs-failed", failed);
}
