// The hook editor: the hook's cell, kind and source, with the fault in it.

import { make, newId, setText } from "../../static/dom.js";
import { HOOK_KINDS } from "../../static/python.js";
import { CodeArea } from "./code_area.js";
import { NamesList } from "./names_list.js";

/** @typedef {import("../../static/python.js").Draft} Draft */
/** @typedef {import("../../static/python.js").Answer} Answer */
/** @typedef {{line: number, text: string, source: string}} Fault an error in a line of a hook's source, attached or rejected */

/** Delay in milliseconds between the last key press and the report to Python. */
const TYPING = 300;
const HELP = "Runs among the notebook's names. Tab completes a name, or indents; Shift+Tab takes indentation back; Escape, then Tab leaves. Shift+Enter attaches.";
const NO_HELP = { spellcheck: "false", autocomplete: "off" };
export class HookEditor {
  /** @param {import("../../static/types.js").Send} send @param {(draft: Draft) => void} keep shows a draft in the other displays of this panel */
  constructor(send, keep) {
    this.send = send;
    this.keep = keep;
    const id = newId("hs-hooks");
    /** @type {Record<string, string>} */
    this.templates = {};
    /** @type {import("../../static/python.js").HookEntry[]} */
    this.hooks = [];
    /** @type {import("../../static/python.js").Entry[]} */
    this.printed = [];
    /** @type {Partial<Answer>} */
    this.lastAnswer = {};
    this.typing = 0;
    this.cells = make("datalist", { id: `${id}-cells` });
    this.cell = make("input", { type: "text", class: "hs-input", id: `${id}-cell`, list: `${id}-cells`, placeholder: "conv1; . is the network", ...NO_HELP });
    this.kind = make("select", { class: "hs-select", id: `${id}-kind`, onchange: () => this.#kindChosen() }, HOOK_KINDS.map((text) => make("option", { value: text, text })));
    this.kind.value = "forward";
    this.names = new NamesList((number, before) => send({ type: "complete_hook", number, path: this.cell.value.trim(), kind: this.kind.value, before }));
    this.area = new CodeArea(
      { id: `${id}-code`, "aria-describedby": `${id}-answer ${id}-help` },
      { submit: () => this.form.requestSubmit(), complete: () => this.names.complete(), first: (event) => this.names.keyed(event) },
    );
    this.names.belongTo(this.area);
    this.attach = make("button", { type: "submit", class: "hs-button hs-primary", text: "Attach" });
    const reset = make("button", { type: "button", class: "hs-button", text: "Template", title: "Begin again with the template of this kind", onclick: () => this.#replaceText(this.templates[this.kind.value] ?? "") });
    this.answerText = make("span", { id: `${id}-answer` });
    this.goTo = make("button", { type: "button", class: "hs-button", hidden: "", onclick: () => this.area.goTo(this.area.line) });
    this.answer = make("p", { class: "hs-hook-answer", "aria-live": "polite", hidden: "" }, [this.answerText, this.goTo]);
    this.form = make("form", { class: "hs-hook-form", "aria-label": "Write a hook", onsubmit: (/** @type {Event} */ event) => this.#submit(event), oninput: () => this.#changed() }, [
      make("div", { class: "hs-hook-fields" }, [
        make("label", { for: `${id}-cell`, text: "Cell" }),
        this.cell,
        this.cells,
        make("label", { for: `${id}-kind`, text: "Kind" }),
        this.kind,
      ]),
      make("label", { class: "hs-hidden", for: `${id}-code`, text: "Hook function" }),
      this.area.element,
      this.answer,
      make("p", { class: "hs-help", id: `${id}-help`, text: HELP }),
      make("div", { class: "hs-hook-fields" }, [this.attach, reset]),
    ]);
    this.elements = [make("div", { class: "hs-side-head" }, [make("h4", { text: "Write a hook" })]), this.form];
  }

  /** @param {import("../../static/python.js").Hooks} hooks */
  update({ rows, templates, cells }) {
    if (!this.area.value && !Object.keys(this.templates).length) this.area.value = templates[this.kind.value];
    this.templates = templates;
    this.hooks = rows;
    this.#showFault();
    const offered = [...this.cells.children];
    if (offered.length === cells.length && offered.every((one, k) => one.getAttribute("value") === cells[k])) return;
    this.cells.replaceChildren(...cells.map((path) => make("option", { value: path })));
  }

  /** Handle new output and errors of hooks. @param {Partial<import("../../static/python.js").Printed>} printed */
  setPrinted({ entries = [] }) {
    this.printed = entries;
    this.#showFault();
  }

  #kindChosen() {
    // The user's text stays; an unmodified template is replaced by that of the new kind.
    if (!this.area.value.trim() || Object.values(this.templates).includes(this.area.value)) this.area.value = this.templates[this.kind.value] ?? "";
    this.#changed();
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    this.attach.classList.add("hs-pending");
    this.names.close();
    this.send({ type: "attach_hook", path: this.cell.value.trim(), kind: this.kind.value, source: this.area.value });
  }

  #draft() {
    return { path: this.cell.value, kind: this.kind.value, source: this.area.value };
  }

  /** Save the draft for other displays of the panel and for a reloaded page. */
  #changed() {
    this.#showFault();
    this.keep(this.#draft());
    clearTimeout(this.typing);
    this.typing = window.setTimeout(() => this.#tellDraft(), TYPING);
  }

  #tellDraft() {
    clearTimeout(this.typing);
    this.typing = 0;
    this.send({ type: "hook_draft", ...this.#draft() });
  }

  /** Show a draft, saved here or in another display, unless the user types here or has unsent text. @param {Partial<Draft>} kept */
  setDraft(kept) {
    const writes = this.typing || this.form.contains(this.form.ownerDocument.activeElement);
    if (kept.source === undefined || writes) return;
    this.cell.value = kept.path ?? "";
    this.kind.value = kept.kind ?? "forward";
    this.area.value = kept.source;
    this.#showFault();
  }

  /** @param {import("../../static/python.js").HookEntry} row */
  edit(row) {
    this.cell.value = row.path || ".";
    this.kind.value = row.kind;
    this.#replaceText(row.source);
  }

  /** Replace the full text as if by typing, so that undo restores the old one. @param {string} source */
  #replaceText(source) {
    this.area.replace(source);
    this.#changed();
  }

  /** @param {Partial<Answer>} given */
  setAnswer(given) {
    this.attach.classList.remove("hs-pending");
    this.lastAnswer = given;
    this.#showFault();
    // After Attach, scroll the answer into view, which a low window would hide.
    if (given.failed && this.form.contains(this.form.ownerDocument.activeElement)) this.answer.scrollIntoView({ block: "nearest" });
  }

  /** @param {import("../../static/python.js").HookNames} message */
  setNames(message) {
    this.names.update(message);
  }

  /** Describe the fault in the text, and mark its line as long as that line is unmodified. */
  #showFault() {
    const refused = this.lastAnswer.failed ? this.#standing({ line: this.lastAnswer.line ?? 0, text: this.lastAnswer.text ?? "", source: this.lastAnswer.source ?? "" }) : null;
    const fault = refused ?? this.#raised();
    const text = fault?.text ?? this.lastAnswer.text ?? "";
    this.area.mark(fault?.line ?? 0, fault?.text.replace(/^line \d+: /, "") ?? "");
    this.area.setInvalid(Boolean(fault ?? this.lastAnswer.failed));
    setText(this.answerText, text);
    this.answerText.classList.toggle("hs-fault", Boolean(fault ?? this.lastAnswer.failed));
    this.answer.hidden = !text;
    this.goTo.hidden = !fault;
    setText(this.goTo, fault ? `Go to line ${fault.line}` : "");
  }

  /** Return the last error of this text's hook, if its line is unmodified. @returns {Fault | null} */
  #raised() {
    const path = this.cell.value.trim();
    const hook = this.hooks.find((row) => row.source && row.kind === this.kind.value && (row.path || ".") === path);
    const entry = hook && this.printed.filter((one) => one.failed && one.number === hook.number).at(-1);
    return hook && entry ? this.#standing({ line: entry.line, text: `line ${entry.line}: ${entry.text.split("\n")[0]}`, source: hook.source }) : null;
  }

  /** Return the fault if its line exists and is unmodified, or else null. @param {Fault} fault @returns {Fault | null} */
  #standing(fault) {
    const [then, now] = [fault.source, this.area.value].map((text) => text.split("\n")[fault.line - 1]);
    return fault.line > 0 && now !== undefined && then === now ? fault : null;
  }

  destroy() {
    if (this.typing) this.#tellDraft();
    this.area.destroy();
  }
}
