// Marks of paused runs on a page of JupyterLab or Notebook 7: on the document's tab, in the browser's title and at the
// prompt of the paused cell. Several panels share them. Elements get only an attribute, which the page's own drawing
// leaves alone; pauses.css draws the mark. So removing the attribute puts everything back as it was.

import { setAttribute } from "../dom.js";

/**
 * @typedef {object} Pause A panel whose run is paused.
 * @property {HTMLElement} root the panel
 * @property {Element} home the document that contains it
 * @property {Element | null} prompt the prompt of the paused cell
 * @property {string} text the place of the pause
 * @property {boolean | undefined} isSeen whether the panel is in sight; undefined before the first measurement
 * @property {boolean} isDismissed whether the user has closed the notice of this pause
 * @property {() => void} goTo shows the panel, and moves the focus to its stepper
 *
 * @typedef {object} PagePauses The pauses of all panels on this page; panels do not share modules.
 * @property {Pause[]} pauses the latest last
 * @property {string | undefined} title the browser's title without the mark
 * @property {string | undefined} shownTitle the title with it
 * @property {HTMLElement | undefined} notice the notice of a pause out of sight
 * @property {Pause | undefined} noticed the pause that it is about
 * @property {number} lastMove when the user last moved in a document
 * @property {boolean} follows whether listeners for moves are attached
 * @property {number} timer repeats the drawing, since a tab that is dragged elsewhere is a new element
 */

export const DOCUMENT = ".jp-MainAreaWidget, .jp-NotebookPanel";
const ATTRIBUTE = "data-hookscope-paused";
const TITLE_MARK = "⏸ ";
const REPEAT = 1000;

/** Return the pauses on this page. @returns {PagePauses} */
export function pagePauses() {
  const page = /** @type {any} */ (window);
  return (page[Symbol.for("hookscope.pauses")] ??= { pauses: [], lastMove: 0, follows: false, timer: 0 });
}

/** Return the tab of a document in JupyterLab; Notebook 7 has none. @param {Element} home */
export function tabOf(home) {
  return home.id ? [...document.querySelectorAll(".lm-TabBar-tab[data-id]")].find((tab) => tab.getAttribute("data-id") === home.id) : undefined;
}

/** Draw the marks of all pauses, and remove those of pauses that are over. */
export function drawMarks() {
  const page = pagePauses();
  const wanted = new Set(page.pauses.flatMap(({ home, prompt }) => [home, tabOf(home), prompt]));
  for (const element of document.querySelectorAll(`[${ATTRIBUTE}]`)) if (!wanted.has(element)) element.removeAttribute(ATTRIBUTE);
  for (const element of wanted) if (element) setAttribute(element, ATTRIBUTE, "");
  drawTitle(page);
  clearTimeout(page.timer);
  if (page.pauses.length) page.timer = window.setTimeout(drawMarks, REPEAT);
}

/** Another title that the page sets meanwhile is marked too, and is the one that is put back. @param {PagePauses} page */
function drawTitle(page) {
  if (page.pauses.length) {
    if (document.title === page.shownTitle) return;
    page.title = document.title;
    page.shownTitle = document.title = TITLE_MARK + page.title;
  } else if (page.shownTitle !== undefined) {
    if (document.title === page.shownTitle) document.title = page.title ?? "";
    page.title = page.shownTitle = undefined;
  }
}
