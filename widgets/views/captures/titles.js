// Long names of cells and captures: if space is limited, the distinguishing end of a name stays visible.

import { make, plain, setAttribute } from "../../static/dom.js";

/** Positions for line breaks in a name, and additional ones in long words. */
const SEAM = /(?<=[./\\:])(?=[^\s./\\:])/u;
const SEAM_IN_WORD = /(?<=[_,#])(?=[^\s_,#])/u;
const LONG_WORD = /\S{25}/u;
/** Maximum characters of a heading. */
const MOST_TITLE = 160;

/** Return a text that may break after separators, but not within words. @param {string} text */
export function breakable(text) {
  const pieces = plain(text).split(SEAM).flatMap((piece) => (LONG_WORD.test(piece) ? piece.split(SEAM_IN_WORD) : [piece]));
  return pieces.flatMap((piece, k) => (k ? [make("wbr"), piece] : [piece]));
}

/** Return a text with its middle omitted if it is very long. @param {string} text @param {number} [most] */
function withoutMiddle(text, most = MOST_TITLE) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const start = Math.floor(most / 4);
  return `${characters.slice(0, start).join("")}…${characters.slice(start + 1 - most).join("")}`;
}

/** Set an element's title, with the full text as its tooltip. @param {HTMLElement} element @param {string} text */
export function setTitle(element, text) {
  if (element.dataset.full === text) return;
  element.dataset.full = text;
  element.replaceChildren(...breakable(withoutMiddle(text)));
  setAttribute(element, "title", text);
}

/** Return titles without their common prefix. @param {string[]} titles */
export function besideEachOther(titles) {
  const parts = titles.map((title) => title.split("."));
  let shared = 0;
  while (parts.every((one) => shared < one.length - 1 && one[shared] === parts[0][shared])) shared += 1;
  return shared ? parts.map((one) => `…${one.slice(shared).join(".")}`) : titles;
}

/** Create a name in one line that shows its end if it is long. @param {string} text */
export function makeName(text) {
  return make("span", { class: "hs-ended", title: text }, [make("bdi", { dir: "ltr", text })]);
}
