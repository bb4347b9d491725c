// The editor in which a hook is written: for which cell, of which kind, and its text.

import { make, setAttribute, setText } from "../../static/dom.js";
import { HOOK_KINDS } from "../../static/python.js";

/** @typedef {import("../../static/python.js").Draft} Draft */

/** Tell Python what was typed when nothing was typed for this long, in milliseconds. */
const TYPING = 300;
const NO_HELP = { spellcheck: "false", autocomplete: "off" };
let editorCount = 0;

export class HookEditor {
  /** @param {import("../../static/types.js").Send} send @param {(draft: Draft) => void} keep shows it in the other displays of this panel */
  constructor(send, keep) {
    this.send = send;
    this.keep = keep;
    const id = `hs-hooks-${++editorCount}`;
    /** @type {Record<string, string>} */
    this.templates = {};
    this.typing = 0;
    this.cells = make("datalist", { id: `${id}-cells` });
    this.cell = make("input", { type: "text", class: "hs-input", id: `${id}-cell`, list: `${id}-cells`, placeholder: "conv1; . is the network", ...NO_HELP });
    this.kind = make("select", { class: "hs-select", id: `${id}-kind`, onchange: () => this.#kindChosen() }, HOOK_KINDS.map((text) => make("option", { value: text, text })));
    this.kind.value = "forward";
    this.text = make("textarea", { class: "hs-code", id: `${id}-code`, "aria-describedby": `${id}-help`, autocapitalize: "off", wrap: "off", rows: "8", ...NO_HELP });
    this.attach = make("button", { type: "submit", class: "hs-button hs-primary", text: "Attach" });
    const reset = make("button", { type: "button", class: "hs-button", text: "Template", title: "Begin again with the template of this kind", onclick: () => this.#replaceText(this.templates[this.kind.value] ?? "") });
    this.answer = make("p", { class: "hs-hook-answer", "aria-live": "polite", hidden: "" });
    this.form = make("form", { class: "hs-hook-form", "aria-label": "Write a hook", onsubmit: (/** @type {Event} */ event) => this.#submit(event), oninput: () => this.#changed() }, [
      make("div", { class: "hs-hook-fields" }, [
        make("label", { for: `${id}-cell`, text: "Cell" }),
        this.cell,
        this.cells,
        make("label", { for: `${id}-kind`, text: "Kind" }),
        this.kind,
      ]),
      make("label", { class: "hs-hidden", for: `${id}-code`, text: "Hook function" }),
      this.text,
      make("p", { class: "hs-help", id: `${id}-help`, text: "Runs among the notebook's names. Tab indents; Escape, then Tab leaves. Shift+Enter attaches." }),
      make("div", { class: "hs-hook-fields" }, [this.attach, reset]),
      this.answer,
    ]);
    this.elements = [make("div", { class: "hs-side-head" }, [make("h4", { text: "Write a hook" })]), this.form];
    indentWithTab(this.text, () => this.form.requestSubmit());
  }

  /** @param {import("../../static/python.js").Hooks} hooks */
  update({ templates, cells }) {
    if (!this.text.value && !Object.keys(this.templates).length) this.text.value = templates[this.kind.value];
    this.templates = templates;
    const offered = [...this.cells.children];
    if (offered.length === cells.length && offered.every((one, k) => one.getAttribute("value") === cells[k])) return;
    this.cells.replaceChildren(...cells.map((path) => make("option", { value: path })));
  }

  #kindChosen() {
    // What a person wrote stays; an untouched template gives way to the next one.
    if (!this.text.value.trim() || Object.values(this.templates).includes(this.text.value)) this.text.value = this.templates[this.kind.value] ?? "";
    this.#changed();
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    this.attach.classList.add("hs-pending");
    this.send({ type: "attach_hook", path: this.cell.value.trim(), kind: this.kind.value, source: this.text.value });
  }

  #draft() {
    return { path: this.cell.value, kind: this.kind.value, source: this.text.value };
  }

  /** What is written outlives this display: other displays of the panel show it, and a page that is loaded anew. */
  #changed() {
    this.keep(this.#draft());
    clearTimeout(this.typing);
    this.typing = window.setTimeout(() => this.#tellDraft(), TYPING);
  }

  #tellDraft() {
    clearTimeout(this.typing);
    this.typing = 0;
    this.send({ type: "hook_draft", ...this.#draft() });
  }

  /** Show what was written, here before or in another display; who writes here is not disturbed. @param {Partial<Draft>} kept */
  setDraft(kept) {
    if (kept.source === undefined || this.form.contains(this.form.ownerDocument.activeElement)) return;
    this.cell.value = kept.path ?? "";
    this.kind.value = kept.kind ?? "forward";
    this.text.value = kept.source;
  }

  /** @param {import("../../static/python.js").ListedHook} row */
  edit(row) {
    this.cell.value = row.path || ".";
    this.kind.value = row.kind;
    this.#replaceText(row.source);
  }

  /** Put another text into the editor, as if it were typed, so that undo brings the old one back. @param {string} source */
  #replaceText(source) {
    this.text.focus();
    this.text.select();
    typeInto(this.text, source);
    this.#changed();
  }

  /** @param {Partial<import("../../static/python.js").Answer>} given */
  setAnswer(given) {
    this.attach.classList.remove("hs-pending");
    this.answer.hidden = !given.text;
    setText(this.answer, given.text ?? "");
    this.answer.classList.toggle("hs-fault", Boolean(given.failed));
    setAttribute(this.text, "aria-invalid", given.failed ? "true" : null);
  }

  destroy() {
    if (this.typing) this.#tellDraft();
  }
}

/** Tab indents and Shift+Enter submits; Escape, then Tab leaves, so that no keyboard is caught. @param {HTMLTextAreaElement} area @param {() => void} submit */
function indentWithTab(area, submit) {
  let leaving = false;
  area.addEventListener("blur", () => (leaving = false));
  area.addEventListener("keydown", (event) => {
    const leaves = leaving;
    leaving = event.key === "Escape";
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && event.shiftKey) submit();
    else if (event.key === "Enter") typeInto(area, "\n" + indentAfter(area));
    else if (event.key === "Tab" && !event.shiftKey && !leaves) typeInto(area, "    ");
    else if (event.key !== "Escape" || leaves) return; // the second Escape leaves the panel
    event.preventDefault();
  });
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
