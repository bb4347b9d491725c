// Long names of cells and captures: where there is no room for all of one, its end stays, by which it differs from others.

import { make, plain, setAttribute } from "../../static/dom.js";

/** Behind these a name may go on in the next line, and behind the others where a word is long. */
const SEAM = /(?<=[./\\:])(?=[^\s./\\:])/u;
const SEAM_IN_WORD = /(?<=[_,#])(?=[^\s_,#])/u;
const LONG_WORD = /\S{25}/u;
/** A heading is no longer than these characters. */
const MOST_TITLE = 160;

/** A text that breaks behind a dot or an underscore, never in a word. @param {string} text */
export function breakable(text) {
  const pieces = plain(text).split(SEAM).flatMap((piece) => (LONG_WORD.test(piece) ? piece.split(SEAM_IN_WORD) : [piece]));
  return pieces.flatMap((piece, k) => (k ? [make("wbr"), piece] : [piece]));
}

/** A text without its middle, where it is very long. @param {string} text @param {number} [most] */
export function withoutMiddle(text, most = MOST_TITLE) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const start = Math.floor(most / 4);
  return `${characters.slice(0, start).join("")}…${characters.slice(start + 1 - most).join("")}`;
}

/** Put a title into an element, with all of it to be read where the pointer rests. @param {HTMLElement} element @param {string} text */
export function setTitle(element, text) {
  if (element.dataset.full === text) return;
  element.dataset.full = text;
  element.replaceChildren(...breakable(withoutMiddle(text)));
  setAttribute(element, "title", text);
}

/** Titles that stand beside each other, without the front that they share. @param {string[]} titles */
export function besideEachOther(titles) {
  const parts = titles.map((title) => title.split("."));
  let shared = 0;
  while (parts.every((one) => shared < one.length - 1 && one[shared] === parts[0][shared])) shared += 1;
  return shared ? parts.map((one) => `…${one.slice(shared).join(".")}`) : titles;
}

/** A name in one line: of a long one the end is seen. @param {string} text */
export function makeName(text) {
  return make("span", { class: "hs-ended", title: text }, [make("bdi", { dir: "ltr", text })]);
}
