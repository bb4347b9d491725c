// The attached hooks, with buttons to remove one or to edit its source.

import { make, setText } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").HookEntry} HookEntry */

/** @param {import("../../static/types.js").Send} send @param {(row: HookEntry) => void} edit */
export function createHookList(send, edit) {
  const rows = make("tbody");
  const table = make("table", { class: "hs-hook-table" }, [
    make("thead", {}, [make("tr", {}, ["cell", "kind", "function", ""].map((text) => make(text ? "th" : "td", { scope: text ? "col" : null, text })))]),
    rows,
  ]);
  const count = make("h4", { text: "Hooks" });
  const none = make("p", { class: "hs-empty", text: "No cell has a hook. Write one here, or attach one in the Cells tab." });
  const note = make("p", { class: "hs-count hs-hook-note", hidden: "" });
  const list = make("div", { class: "hs-hook-list", role: "region", "aria-label": "Hooks on cells", tabindex: "0" }, [table, none]);

  /** @param {HookEntry} row */
  function drawRow(row) {
    const name = `${row.kind} hook ${row.function} of ${row.label}`;
    /** @param {string} text @param {() => void} onclick */
    const button = (text, onclick) => make("button", { type: "button", class: "hs-button", text, "aria-label": `${text} ${name}`, onclick });
    const buttons = [
      ...(row.source ? [button("Edit", () => edit(row))] : []),
      ...(row.by_session ? [button("Detach", () => send({ type: "hook", path: row.path, kind: row.kind, on: false }))] : []),
    ];
    return make("tr", {}, [
      ...[row.label, row.kind].map((text) => make("td", { text, title: text })),
      make("td", { title: `${row.function} ${row.where}`.trim() }, [row.function, ...(row.where ? [make("div", { class: "hs-count", text: row.where })] : [])]),
      make("td", { class: "hs-hook-actions" }, buttons.length ? buttons : [make("span", { class: "hs-count", text: "by your code" })]),
    ]);
  }

  return {
    elements: [make("div", { class: "hs-side-head" }, [count]), note, list],
    /** @param {import("../../static/python.js").Hooks} hooks */
    update(hooks) {
      const more = hooks.count > hooks.rows.length ? `, the first ${hooks.rows.length} shown` : "";
      setText(count, `Hooks (${hooks.count}${more})`);
      setText(note, hooks.note);
      note.hidden = !hooks.note;
      table.hidden = !hooks.rows.length;
      none.hidden = !table.hidden;
      const { activeElement } = rows.ownerDocument;
      const focused = rows.contains(activeElement) ? activeElement?.getAttribute("aria-label") : null;
      rows.replaceChildren(...hooks.rows.map(drawRow));
      if (!focused) return;
      const again = [...rows.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === focused);
      (again ?? list).focus({ preventScroll: true });
    },
  };
}
