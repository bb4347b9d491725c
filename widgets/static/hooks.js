// The hooks: every one that is on a cell, an editor in which one is written, and what the written ones print.

import { make, setAttribute, setText } from "./dom.js";

/** @typedef {import("./types.js").HookRow} HookRow */
/** @typedef {import("./types.js").HookKind} HookKind */

const WRITTEN_KINDS = ["forward_pre", "forward", "backward_pre", "backward"];
/** Ask for the rest of what hooks printed when none of it came for this long, in milliseconds. */
const LOG_QUIET = 400;
/** Tell Python what was typed when nothing was typed for this long, in milliseconds. */
const TYPING = 300;
let hookViewCount = 0;

/**
 * @param {import("./types.js").Send} send
 * @param {(draft: import("./types.js").HookDraft) => void} keep what is written here for other displays of this panel
 */
export function createHooks(send, keep) {
  const id = `hs-hooks-${++hookViewCount}`;
  /** @type {Record<string, string>} */
  let templates = {};

  const rows = make("tbody");
  const table = make("table", { class: "hs-hook-table" }, [
    make("thead", {}, [make("tr", {}, ["cell", "kind", "function", ""].map((text) => make(text ? "th" : "td", { scope: text ? "col" : null, text })))]),
    rows,
  ]);
  const count = make("h4", { text: "Hooks" });
  const none = make("p", { class: "hs-empty", text: "No cell has a hook. Write one here, or attach one in the Cells tab." });
  const list = make("div", { class: "hs-hook-list", role: "region", "aria-label": "Hooks on cells", tabindex: "0" }, [table, none]);

  const log = make("div", { class: "hs-hook-log", role: "log", "aria-label": "Printed by hooks", tabindex: "0" });
  const clear = make("button", { type: "button", class: "hs-button", text: "Clear", "aria-label": "Clear what hooks printed", disabled: "", onclick: () => send({ type: "clear_hook_log" }) });

  const cells = make("datalist", { id: `${id}-cells` });
  const cell = make("input", { type: "text", class: "hs-input", id: `${id}-cell`, list: `${id}-cells`, placeholder: "conv1; . is the network", spellcheck: "false", autocomplete: "off" });
  const kind = make("select", { class: "hs-select", id: `${id}-kind` }, WRITTEN_KINDS.map((text) => make("option", { value: text, text })));
  kind.value = "forward";
  const text = make("textarea", {
    class: "hs-code",
    id: `${id}-code`,
    "aria-describedby": `${id}-help`,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    wrap: "off",
    rows: "8",
  });
  const help = make("p", { class: "hs-help", id: `${id}-help`, text: "Runs among the notebook's names. Tab indents; Escape, then Tab leaves. Shift+Enter attaches." });
  const attach = make("button", { type: "submit", class: "hs-button hs-primary", text: "Attach" });
  const reset = make("button", { type: "button", class: "hs-button", text: "Template", title: "Begin again with the template of this kind", onclick: () => replaceText(templates[kind.value] ?? "") });
  const answer = make("p", { class: "hs-hook-answer", "aria-live": "polite", hidden: "" });
  const form = make("form", { class: "hs-hook-form", "aria-label": "Write a hook" }, [
    make("div", { class: "hs-hook-fields" }, [
      make("label", { for: `${id}-cell`, text: "Cell" }),
      cell,
      cells,
      make("label", { for: `${id}-kind`, text: "Kind" }),
      kind,
    ]),
    make("label", { class: "hs-hidden", for: `${id}-code`, text: "Hook function" }),
    text,
    help,
    make("div", { class: "hs-hook-fields" }, [attach, reset]),
    answer,
  ]);
  const element = make("div", { class: "hs-view hs-hooks" }, [
    make("div", { class: "hs-hook-part" }, [
      make("div", { class: "hs-side-head" }, [count]),
      list,
      make("div", { class: "hs-side-head" }, [make("h4", { text: "Printed" }), clear]),
      log,
    ]),
    make("div", { class: "hs-hook-part hs-hook-edit" }, [make("div", { class: "hs-side-head" }, [make("h4", { text: "Write a hook" })]), form]),
  ]);

  kind.addEventListener("change", () => {
    // What a person wrote stays; an untouched template gives way to the next one.
    if (!text.value.trim() || Object.values(templates).includes(text.value)) text.value = templates[kind.value] ?? "";
    changed();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attach.classList.add("hs-pending");
    send({ type: "attach_hook", path: cell.value.trim(), kind: kind.value, source: text.value });
  });
  let typing = 0;
  const draft = () => ({ path: cell.value, kind: kind.value, source: text.value });
  /** What is written outlives this display: other displays of the panel show it, and a page that is loaded anew. */
  function changed() {
    keep(draft());
    clearTimeout(typing);
    typing = window.setTimeout(tellDraft, TYPING);
  }
  function tellDraft() {
    clearTimeout(typing);
    typing = 0;
    send({ type: "hook_draft", ...draft() });
  }
  form.addEventListener("input", changed);

  /** Show what was written, here before or in another display; who writes here is not disturbed. @param {Partial<import("./types.js").HookDraft>} kept */
  function setDraft(kept) {
    if (kept.source === undefined || form.contains(element.ownerDocument.activeElement)) return;
    cell.value = kept.path ?? "";
    kind.value = kept.kind ?? "forward";
    text.value = kept.source;
  }

  /** Put another text into the editor, as if it were typed, so that undo brings the old one back. @param {string} source */
  function replaceText(source) {
    text.focus();
    text.select();
    typeInto(text, source);
    changed();
  }

  let leaving = false;
  text.addEventListener("blur", () => (leaving = false));
  text.addEventListener("keydown", (event) => {
    const leaves = leaving;
    leaving = event.key === "Escape";
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && event.shiftKey) form.requestSubmit();
    else if (event.key === "Enter") typeInto(text, "\n" + indentAfter(text));
    else if (event.key === "Tab" && !event.shiftKey && !leaves) typeInto(text, "    ");
    else if (event.key !== "Escape" || leaves) return; // the second Escape leaves the panel
    event.preventDefault();
  });

  /** The cells of the network, to be offered. @param {string[]} paths */
  function setCells(paths) {
    if (cells.childElementCount === paths.length && [...cells.children].every((one, k) => one.getAttribute("value") === paths[k])) return;
    cells.replaceChildren(...paths.map((path) => make("option", { value: path })));
  }

  /** @param {import("./types.js").Hooks} hooks */
  function update(hooks) {
    if (!hooks.rows) return;
    if (!text.value && !Object.keys(templates).length) text.value = hooks.templates[/** @type {HookKind} */ (kind.value)];
    templates = hooks.templates;
    setCells(hooks.cells);
    const more = hooks.count > hooks.rows.length ? `, the first ${hooks.rows.length} shown` : "";
    setText(count, `Hooks (${hooks.count}${more})`);
    table.hidden = !hooks.rows.length;
    none.hidden = !table.hidden;
    const active = element.ownerDocument.activeElement;
    const focused = rows.contains(active) ? active?.getAttribute("aria-label") : null;
    rows.replaceChildren(...hooks.rows.map(drawRow));
    if (!focused) return;
    const again = [...rows.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === focused);
    (again ?? list).focus({ preventScroll: true });
  }

  /** @param {HookRow} row */
  function drawRow(row) {
    const name = `${row.kind} hook ${row.function} of ${row.label}`;
    const buttons = [];
    if (row.source) buttons.push(make("button", { type: "button", class: "hs-button hs-small", text: "Edit", "aria-label": `Edit ${name}`, onclick: () => edit(row) }));
    if (row.own) {
      const detach = () => send({ type: "hook", path: row.path, kind: row.kind, on: false });
      buttons.push(make("button", { type: "button", class: "hs-button hs-small", text: "Detach", "aria-label": `Detach ${name}`, onclick: detach }));
    }
    return make("tr", {}, [
      ...[row.label, row.kind].map((text) => make("td", { text, title: text })),
      make("td", { title: `${row.function} ${row.where}`.trim() }, [row.function, ...(row.where ? [make("div", { class: "hs-count", text: row.where })] : [])]),
      make("td", { class: "hs-hook-actions" }, buttons.length ? buttons : [make("span", { class: "hs-count", text: "by your code" })]),
    ]);
  }

  /** @param {HookRow} row */
  function edit(row) {
    cell.value = row.path || ".";
    kind.value = row.kind;
    replaceText(row.source);
  }

  /** @param {{text?: string, failed?: boolean}} given */
  function setAnswer(given) {
    attach.classList.remove("hs-pending");
    answer.hidden = !given.text;
    setText(answer, given.text ?? "");
    answer.classList.toggle("hs-fault", Boolean(given.failed));
    setAttribute(text, "aria-invalid", given.failed ? "true" : null);
  }

  let quiet = 0;
  /** @param {import("./types.js").HookLog} printed */
  function updateLog(printed) {
    const entries = printed.entries ?? [];
    clear.disabled = !entries.length;
    const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    log.replaceChildren(
      ...(printed.dropped ? [make("p", { class: "hs-question", text: `${printed.dropped} older ones dropped` })] : []),
      ...entries.map((one) =>
        make("div", { class: one.failed ? "hs-answer hs-failed" : "hs-answer" }, [make("div", { class: "hs-question", text: one.times > 1 ? `${one.where}, ${one.times} times` : one.where }), make("pre", { text: one.text })]),
      ),
    );
    if (!entries.length) log.replaceChildren(make("p", { class: "hs-question", text: "Nothing yet: what written hooks print comes here, and the errors in them." }));
    if (atEnd) log.scrollTop = log.scrollHeight;
    // Python tells only so often, and nothing follows the last line: ask once it is quiet.
    clearTimeout(quiet);
    if (entries.length) quiet = window.setTimeout(() => send({ type: "hook_log" }), LOG_QUIET);
  }

  return {
    element,
    update,
    setAnswer,
    updateLog,
    setDraft,
    destroy() {
      clearTimeout(quiet);
      if (typing) tellDraft();
    },
  };
}

/** Insert text as if it were typed, so that it can be undone. @param {HTMLTextAreaElement} area @param {string} text */
function typeInto(area, text) {
  if (!document.execCommand("insertText", false, text)) area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
}

/** The indentation of the line that the cursor is in, and four spaces more behind a colon. @param {HTMLTextAreaElement} area */
function indentAfter(area) {
  const before = area.value.slice(0, area.selectionStart);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  return (/^ */.exec(line)?.[0] ?? "") + (/:\s*$/.test(line) ? "    " : "");
}
