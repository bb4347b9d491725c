// Python source as numbered lines; Python has split each line into pieces (highlighting.py), which become spans.

import { make } from "./dom.js";

/** @typedef {[string, string]} Piece a kind of token, or "", and the text */

/** Return the list items of source lines: a number and the line. @param {Piece[][]} lines @param {number} first the number of the first line */
export function numberedLines(lines, first) {
  return lines.map((line, k) =>
    make("li", { "data-line": first + k }, [
      make("span", { class: "hs-line-number", text: String(first + k) }),
      make("code", {}, line.map(([kind, text]) => (kind ? make("span", { class: `hs-${kind}`, text }) : text))),
    ]),
  );
}
