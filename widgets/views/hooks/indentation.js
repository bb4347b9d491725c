// Indentation of Python code while it is typed: the effect of Enter, Tab, Shift+Tab and Backspace. Each function
// returns a change, which is a range, its new text and the new selection; or null for the default behavior.

const WIDTH = 4;
/** Statements that end a block: the next line is dedented. */
const ENDS_BLOCK = /^\s*(return|pass|break|continue|raise)\b/;
/** Characters that continue a statement: a bracket, a comma, an operator. */
const GOES_ON = /[([{,\\+\-*/%=&|^<>]$/;

/** @typedef {{from: number, to: number, text: string, start: number, end: number}} Change */

/** @param {string} text @param {number} at */
const lineStart = (text, at) => text.lastIndexOf("\n", at - 1) + 1;
/** @param {string} line */
const indentOf = (line) => /^[ \t]*/.exec(line)?.[0] ?? "";

/** Start a new line with the indentation of the previous one, deeper behind a colon or a bracket, less deep at the end of a block. @param {string} text @param {number} start @param {number} end @returns {Change} */
export function newLine(text, start, end) {
  const line = text.slice(lineStart(text, start), start);
  const code = line.replace(/#[^'"]*$/, "").trimEnd();
  let indent = indentOf(line);
  if (/[:([{]$/.test(code)) indent += " ".repeat(WIDTH);
  else if (ENDS_BLOCK.test(code) && !GOES_ON.test(code)) indent = indent.slice(0, -WIDTH);
  const at = start + 1 + indent.length;
  return { from: start, to: end, text: `\n${indent}`, start: at, end: at };
}

/** Insert spaces up to the next tab stop; with a selection over several lines, indent each of them. @param {string} text @param {number} start @param {number} end @returns {Change} */
export function indent(text, start, end) {
  if (text.slice(start, end).includes("\n")) return changeLines(text, start, end, (line) => (line.trim() ? " ".repeat(WIDTH) + line : line));
  const spaces = " ".repeat(WIDTH - ((start - lineStart(text, start)) % WIDTH));
  return { from: start, to: end, text: spaces, start: start + spaces.length, end: start + spaces.length };
}

/** Dedent the selected lines, or the line with the cursor. @param {string} text @param {number} start @param {number} end */
export function dedent(text, start, end) {
  return changeLines(text, start, end, (line) => line.replace(/^( {1,4}|\t)/, ""));
}

/** Within indentation, delete back to the previous tab stop. @param {string} text @param {number} start @param {number} end @returns {Change | null} */
export function back(text, start, end) {
  const before = text.slice(lineStart(text, start), start);
  if (start !== end || !/^ +$/.test(before)) return null;
  const from = start - (before.length % WIDTH || WIDTH);
  return { from, to: start, text: "", start: from, end: from };
}

/** @param {string} text @param {number} start @param {number} end @param {(line: string) => string} change @returns {Change} */
function changeLines(text, start, end, change) {
  const from = lineStart(text, start);
  // A selection that ends at the beginning of a line excludes that line.
  const last = end > start && text[end - 1] === "\n" ? end - 1 : end;
  const lineBreak = text.indexOf("\n", last);
  const to = lineBreak < 0 ? text.length : lineBreak;
  const lines = text.slice(from, to).split("\n");
  const changed = lines.map(change);
  const [first, all] = [changed[0].length - lines[0].length, changed.join("\n").length - (to - from)];
  const begin = Math.max(from, start + first);
  return { from, to, text: changed.join("\n"), start: start === from && end > start ? from : begin, end: Math.max(begin, end + all) };
}
