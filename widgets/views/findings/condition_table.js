// The conditions: a row for each, and an input for custom ones.

import { make, setText } from "../../static/dom.js";
import { ConditionItem } from "./condition_item.js";

/** @typedef {import("../../static/python.js").ConditionRow} ConditionRow */

/** Message types that this part sends. */
const CONFIRMED = new Set(["condition", "all_conditions"]);

/** @param {import("../../static/types.js").Send} send */
export function createConditionTable(send) {
  /** @type {Map<string, ConditionItem>} */
  const items = new Map();
  const body = make("tbody");
  const table = make("table", { class: "hs-table hs-conditions" }, [
    make("caption", { class: "hs-unseen", text: "Conditions" }),
    tableHead(["look", "pause", "condition", "threshold", "holds if"]),
    body,
  ]);
  const expression = make("input", {
    class: "hs-input",
    type: "text",
    "aria-label": "Your own condition",
    placeholder: "your own, for example: direction == 'backward' and norm > 100",
    spellcheck: "false",
    autocomplete: "off",
  });
  const form = make("form", { class: "hs-bar hs-own", onsubmit: submit }, [
    make("span", { class: "hs-prompt", text: "if", "aria-hidden": "true" }),
    expression,
    make("button", { type: "submit", class: "hs-button", text: "Add" }),
  ]);
  const summary = make("span", { class: "hs-count" });
  const bar = make("div", { class: "hs-bar" }, [
    make("h3", { class: "hs-heading", text: "Look for" }),
    summary,
    make("span", { class: "hs-spring" }),
    make("button", { type: "button", class: "hs-button", text: "Look for all", onclick: () => request({ type: "all_conditions", on: true }) }),
    make("button", { type: "button", class: "hs-button", text: "Look for none", onclick: () => request({ type: "all_conditions", on: false }) }),
  ]);
  const noPauses = make("p", { class: "hs-notes", role: "note", hidden: "" });
  // Without a watching session, conditions have no effect.
  const switches = make("fieldset", { class: "hs-controls", role: "none" }, [bar, noPauses, form, table]);
  let customCount = 0;
  let unanswered = 0;

  /** Data from Python is older than the user's input until Python has answered. @param {Parameters<import("../../static/types.js").Send>[0]} message */
  function request(message) {
    unanswered += 1;
    send(message);
  }

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    if (expression.value.trim()) send({ type: "custom_condition", expression: expression.value });
  }

  /** @param {ConditionRow[]} rows */
  function drawRows(rows) {
    const names = new Set(rows.map((row) => row.name));
    for (const [name, item] of items) {
      if (names.has(name)) continue;
      item.element.remove();
      items.delete(name);
    }
    for (const row of rows) {
      const item = items.get(row.name);
      if (item) item.update(row, unanswered > 0);
      else {
        const created = new ConditionItem(row, request);
        items.set(row.name, created);
        body.append(created.element);
      }
    }
  }

  return {
    element: make("section", { class: "hs-wanted", "aria-label": "Conditions looked for" }, [switches]),
    /** @param {ConditionRow[]} rows @param {string} pausesNowhere the reason why the run cannot pause, or "" */
    update(rows, pausesNowhere) {
      drawRows(rows);
      const count = rows.filter((row) => row.is_custom).length;
      if (count > customCount) expression.value = ""; // the condition was accepted
      customCount = count;
      const pausing = rows.filter((row) => row.pause).length;
      setText(summary, `${rows.filter((row) => row.on).length} of ${rows.length}${pausing ? `, ${pausing} of them pause the run` : ""}`);
      setText(noPauses, pausesNowhere ? `No pauses here: ${pausesNowhere}.` : "");
      noPauses.hidden = !pausesNowhere;
    },
    /** @param {boolean} can */
    setEnabled: (can) => (switches.disabled = !can),
    /** @param {string} action */
    confirmed(action) {
      if (action === "hello") unanswered = 0; // a restarted kernel has lost all earlier requests
      else if (CONFIRMED.has(action)) unanswered = Math.max(0, unanswered - 1);
      if (!unanswered) items.forEach((item) => item.confirmed());
    },
  };
}

/** @param {string[]} titles */
function tableHead(titles) {
  return make("thead", {}, [make("tr", {}, titles.map((title) => make("th", { scope: "col", text: title })))]);
}
