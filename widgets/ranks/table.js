// A page of values with a column for each rank: the captures of a step, or the parameters. Differences are marked by
// style and described in words.

import { make, setAttribute, setText } from "../static/dom.js";
import { FIGURES } from "../static/ranks.js";

/** @typedef {import("../static/ranks.js").RanksTable} Table */
/** @typedef {import("../static/ranks.js").RanksTableRow} Row */

/** Labels of figures that differ from their names. @type {Record<string, string>} */
const LABELS = { nan: "NaN count", shape: "shape and dtype" };
/** Delay in milliseconds before a typed filter is sent. */
const TYPING = 250;
const EMPTY = { captures: "No captures of this step.", parameters: "No parameters." };

/**
 * @param {"captures" | "parameters"} tab
 * @param {(message: import("../static/ranks.js").Asked) => void} send
 */
export function createTable(tab, send) {
  let typing = 0;
  let written = "";
  /** @param {string} text @param {string} label @param {() => void} onclick */
  const button = (text, label, onclick) => make("button", { type: "button", class: "hs-button", text, "aria-label": label, title: label, disabled: "", onclick });
  const figure = make("select", { class: "hs-ranks-select", "aria-label": "Figure", onchange: () => send({ type: "figure", figure: figure.value }) },
    FIGURES.map((name) => make("option", { value: name, text: LABELS[name] ?? name })));
  const filter = make("input", { type: "search", class: "hs-filter", placeholder: "Filter", "aria-label": `Filter ${tab} of all ranks`, spellcheck: "false", oninput: () => {
    clearTimeout(typing);
    typing = window.setTimeout(find, TYPING);
  } });
  const step = make("span", { class: "hs-count" });
  const previousStep = button("‹", "Earlier step", () => send({ type: "step", by: -1 }));
  const nextStep = button("›", "Later step", () => send({ type: "step", by: 1 }));
  const newest = button("Newest", "Newest step of all ranks", () => send({ type: "step", by: 0 }));
  const steps = make("div", { class: "hs-ranks-steps", role: "group", "aria-label": "Step" }, [previousStep, step, nextStep, newest]);
  const check = make("input", { type: "checkbox", class: "hs-check", onchange: () => send({ type: "bits", on: check.checked }) });
  const bits = make("label", { class: "hs-ranks-check", title: "Compare the bits of the parameters on this page; those that differ come first" }, [check, "Compare bits"]);
  const refresh = make("button", { type: "button", class: "hs-button", text: "Refresh", title: "Ask the ranks again", onclick: () => send({ type: "refresh" }) });
  const back = button("‹", "Previous page", () => send({ type: "turn", tab, by: -1 }));
  const forth = button("›", "Next page", () => send({ type: "turn", tab, by: 1 }));
  const where = make("span", { class: "hs-count" });
  const pages = make("div", { class: "hs-ranks-steps", role: "group", "aria-label": "Page", hidden: "" }, [back, where, forth]);
  const columns = make("tr");
  const body = make("tbody");
  const table = make("table", { class: "hs-ranks-table", "aria-label": `${tab === "captures" ? "Captures" : "Parameters"} of all ranks` }, [make("thead", {}, [columns]), body]);
  const empty = make("p", { class: "hs-empty", text: "The ranks have not answered yet." });
  const note = make("p", { class: "hs-ranks-note", role: "status", hidden: "" });

  function find() {
    written = filter.value;
    send({ type: "find", tab, text: filter.value });
  }

  /** @param {Row} row */
  function drawn(row) {
    const same = row.same ? [make("span", { class: "hs-ranks-same", text: "=", title: "The bits are the same on all ranks", role: "img", "aria-label": "the same bits on all ranks" })] : [];
    return make("tr", { "data-marked": row.marked ? "" : null }, [
      make("th", { scope: "row", title: row.name }, [make("span", { class: "hs-ranks-name" }, [make("bdi", { dir: "ltr", text: row.name })]), ...same]),
      ...row.cells.map((cell) => make("td", { class: "hs-number", "data-mark": cell.mark || null, title: cell.note || null, "aria-description": cell.note || null, text: cell.text })),
      make("td", { class: "hs-ranks-detail", text: row.detail }),
    ]);
  }

  /** @param {Table} now */
  function drawPages(now) {
    const first = now.first ?? 0;
    const count = now.rows?.length ?? 0;
    back.disabled = !first;
    forth.disabled = !now.more;
    pages.hidden = !first && !now.more;
    setText(where, count ? `${first + 1}–${first + count} of ${now.total}` : "");
  }

  /** @param {Table} now */
  function drawSteps(now) {
    const [oldest, last] = now.steps ?? [0, 0];
    setText(step, now.step ? `step ${now.step}` : "no step");
    previousStep.disabled = !now.step || now.step <= oldest;
    nextStep.disabled = !now.step || now.step >= last;
    newest.disabled = !now.step || Boolean(now.newest);
  }

  return {
    element: make("div", { class: "hs-view" }, [
      make("div", { class: "hs-bar" }, [...(tab === "captures" ? [steps] : []), figure, filter, ...(tab === "parameters" ? [bits] : []), refresh, make("span", { class: "hs-spring" }), pages]),
      note,
      make("div", { class: "hs-scroll hs-ranks-values", role: "region", "aria-label": `Values: ${tab}`, tabindex: "0" }, [table, empty]),
    ]),
    /** @param {Table} now */
    draw(now) {
      if (!now.ranks) return;
      setText(note, now.note ?? "");
      note.hidden = !now.note;
      figure.value = now.figure ?? "mean";
      if (now.filter !== written && document.activeElement !== filter) filter.value = written = now.filter ?? "";
      check.checked = Boolean(now.bits);
      drawPages(now);
      drawSteps(now);
      columns.replaceChildren(
        make("th", { scope: "col", text: "Name" }),
        ...now.ranks.map((rank) => make("th", { scope: "col", class: "hs-number", text: `rank ${rank}` })),
        make("th", { scope: "col", text: "Shape" }),
      );
      body.replaceChildren(...(now.rows ?? []).map(drawn));
      table.hidden = !now.rows?.length;
      empty.hidden = Boolean(now.rows?.length);
      setText(empty, now.filter ? "Nothing has these words in its name." : EMPTY[tab]);
      setAttribute(table, "data-figure", now.figure);
    },
    destroy: () => clearTimeout(typing),
  };
}
