// Python source as numbered lines with colours, token by token; a line is never markup, only spans with text.

import { make } from "./dom.js";

const PYTHON_TOKEN =
  /(?<comment>#.*)|(?<string>[rbfuRBFU]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))|(?<number>\b\d[\w.]*)|(?<word>[A-Za-z_]\w*)/g;
const PYTHON_KEYWORDS = new Set(
  "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield".split(" "),
);

/** The items of a list of source: a number and the line. @param {string[]} lines @param {number} first its number */
export function numberedLines(lines, first) {
  return highlight(lines).map((part, k) =>
    make("li", { "data-line": first + k }, [make("span", { class: "hs-line-number", text: String(first + k) }), make("code", {}, part)]),
  );
}

/**
 * Split a function's source into lines of nodes. Triple-quoted strings are followed from line to line.
 * @param {string[]} lines
 * @returns {(Node | string)[][]}
 */
function highlight(lines) {
  let quote = "";
  return lines.map((line) => {
    /** @type {(Node | string)[]} */
    const parts = [];
    let rest = line;
    while (rest) {
      if (quote) {
        const end = rest.indexOf(quote);
        const length = end < 0 ? rest.length : end + 3;
        parts.push(make("span", { class: "hs-string", text: rest.slice(0, length) }));
        rest = rest.slice(length);
        if (end >= 0) quote = "";
        continue;
      }
      const opening = /"""|'''/.exec(rest);
      const comment = rest.indexOf("#");
      if (opening && (comment < 0 || opening.index < comment)) {
        parts.push(...highlightLine(rest.slice(0, opening.index)), make("span", { class: "hs-string", text: opening[0] }));
        quote = opening[0];
        rest = rest.slice(opening.index + 3);
      } else {
        parts.push(...highlightLine(rest));
        rest = "";
      }
    }
    return parts;
  });
}

/** @param {string} text @returns {(Node | string)[]} */
function highlightLine(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(PYTHON_TOKEN)) {
    const groups = match.groups ?? {};
    const kind = groups.comment ? "comment" : groups.string ? "string" : groups.number ? "literal" : PYTHON_KEYWORDS.has(match[0]) ? "keyword" : "";
    if (!kind) continue;
    parts.push(text.slice(done, match.index), make("span", { class: `hs-${kind}`, text: match[0] }));
    done = match.index + match[0].length;
  }
  parts.push(text.slice(done));
  return parts;
}
