// A text area for Python code: numbered lines, indentation by keys, and a mark on one line with a fault. It is a
// textarea, so that typing, undo, selection and screen readers work as usual.

import { make, setAttribute, setText } from "../../static/dom.js";
import { back, dedent, indent, newLine } from "./indentation.js";

const LINE_HEIGHT = 19;
const PADDING = 6;
/** Minimum room for words behind a line, in CSS pixels. */
const LEAST_ROOM = 90;

export class CodeArea {
  /**
   * @param {Record<string, unknown>} attributes attributes for the textarea
   * @param {{submit: () => void, complete: () => boolean, first: (event: KeyboardEvent) => boolean}} keys handlers of
   *   Shift+Enter, of Tab behind a name (false to indent), and of any key, before the others
   */
  constructor(attributes, keys) {
    this.input = make("textarea", { class: "hs-code", wrap: "off", rows: "8", autocapitalize: "off", spellcheck: "false", autocomplete: "off", ...attributes });
    this.numbers = make("div", { class: "hs-code-numbers" });
    this.gutter = make("div", { class: "hs-code-gutter", "aria-hidden": "true" }, [this.numbers]);
    this.words = make("span", { class: "hs-code-fault" });
    this.marked = make("div", { class: "hs-code-marked", "aria-hidden": "true", hidden: "" }, [this.words]);
    this.element = make("div", { class: "hs-code-area" }, [make("div", { class: "hs-code-inside" }, [this.marked, this.gutter, this.input])]);
    this.line = 0;
    this.lines = 0;
    this.leaving = false;
    this.keys = keys;
    this.pen = document.createElement("canvas").getContext("2d");
    this.input.addEventListener("input", () => this.draw());
    this.input.addEventListener("scroll", () => this.#place());
    this.input.addEventListener("blur", () => (this.leaving = false));
    this.input.addEventListener("keydown", (event) => this.#keyed(event));
    this.resize = new ResizeObserver(() => this.#place());
    this.resize.observe(this.input);
    this.draw();
  }

  get value() {
    return this.input.value;
  }

  /** Set another text, with a new undo history. @param {string} text */
  set value(text) {
    this.input.value = text;
    this.draw();
  }

  /** Replace the full text as if by typing, so that undo restores the old one. @param {string} text */
  replace(text) {
    this.input.focus();
    this.change({ from: 0, to: this.value.length, text, start: text.length, end: text.length });
    this.input.scrollTop = 0;
  }

  /** @param {import("./indentation.js").Change} change */
  change({ from, to, text, start, end }) {
    this.input.setSelectionRange(from, to);
    const command = text ? "insertText" : "delete";
    if ((text || from < to) && !document.execCommand(command, false, text)) {
      this.input.setRangeText(text, from, to, "end");
      this.input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    this.input.setSelectionRange(start, end);
  }

  /** Mark a line; 0 for none. @param {number} line @param {string} told a description of the fault */
  mark(line, told) {
    this.line = line;
    setText(this.words, told);
    this.#place();
  }

  /** Scroll a line into view, with the cursor at its first word. @param {number} line */
  goTo(line) {
    const lines = this.value.split("\n").slice(0, line);
    const at = this.value.length < 1 ? 0 : lines.slice(0, -1).reduce((sum, one) => sum + one.length + 1, 0) + (/^\s*/.exec(lines[line - 1] ?? "")?.[0].length ?? 0);
    this.input.focus();
    this.input.setSelectionRange(at, at);
    this.input.scrollTop = Math.max(0, (line - 1) * LINE_HEIGHT - this.input.clientHeight / 2);
  }

  /** Return the position below a character, from the element's upper left corner. @param {number} at */
  placeBelow(at) {
    const before = this.value.slice(0, at).split("\n");
    const left = this.gutter.offsetWidth + PADDING + this.#widthOf(before[before.length - 1]) - this.input.scrollLeft;
    return { left, top: PADDING + before.length * LINE_HEIGHT - this.input.scrollTop };
  }

  /** Number the lines. */
  draw() {
    const count = this.value.split("\n").length;
    if (count !== this.lines) {
      this.lines = count;
      setText(this.numbers, Array.from({ length: count }, (_, k) => k + 1).join("\n"));
    }
    this.#place();
  }

  #place() {
    this.numbers.style.transform = `translateY(${-this.input.scrollTop}px)`;
    this.marked.hidden = !this.line;
    if (!this.line) return;
    this.marked.style.top = `${PADDING + (this.line - 1) * LINE_HEIGHT - this.input.scrollTop}px`;
    const left = this.gutter.offsetWidth + PADDING + this.#widthOf(`${this.value.split("\n")[this.line - 1] ?? ""}   `) - this.input.scrollLeft;
    this.words.style.marginLeft = `${left}px`;
    this.words.hidden = this.element.clientWidth - left < LEAST_ROOM;
  }

  /** @param {string} text of a line */
  #widthOf(text) {
    if (!this.pen) return 0;
    this.pen.font = getComputedStyle(this.input).font;
    return this.pen.measureText(text.replaceAll("\t", "    ")).width;
  }

  /** Handle Tab, which indents; Escape before it makes it leave the editor. @param {KeyboardEvent} event */
  #keyed(event) {
    if (this.keys.first(event)) return event.preventDefault();
    const leaves = this.leaving;
    this.leaving = event.key === "Escape" || (leaves && event.key === "Shift");
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.key === "Escape" && leaves) return; // the second one leaves the panel
    if (event.key === "Tab" && leaves) return;
    if (event.key === "Enter" && event.shiftKey) this.keys.submit();
    else if (event.key === "Tab" && !event.shiftKey && this.keys.complete()) event.preventDefault();
    else if (event.key !== "Escape" && !this.#typed(event)) return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #typed(event) {
    const { value, selectionStart, selectionEnd } = this.input;
    const act = event.key === "Tab" ? (event.shiftKey ? dedent : indent) : { Enter: newLine, Backspace: back }[event.key];
    const change = act?.(value, selectionStart, selectionEnd);
    if (change) this.change(change);
    return Boolean(change);
  }

  /** @param {boolean} invalid */
  setInvalid(invalid) {
    setAttribute(this.input, "aria-invalid", invalid ? "true" : null);
  }

  destroy() {
    this.resize.disconnect();
  }
}
