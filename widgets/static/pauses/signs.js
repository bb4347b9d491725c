// Signs of a panel's pause outside the panel: marks, a notice while the panel is out of sight, and scrolling to it for
// a user who waits. Only in JupyterLab and Notebook 7; other front ends have no document in which to look for these.

import { watchMoves } from "./moves.js";
import { drawNotice } from "./notice.js";
import { DOCUMENT, drawMarks, pagePauses, tabOf } from "./page_marks.js";

/** @typedef {import("./page_marks.js").Pause} Pause */

/** Milliseconds without a pause after which its signs go: a step ends one pause and begins the next. */
const BETWEEN_STOPS = 400;
/** Milliseconds after which a panel counts as out of sight: the kernel may still open another one where the run is. */
const SETTLED = 800;
/** Milliseconds between two looks whether a new panel is on the page. */
const ATTACHING = 50;
/** Height in pixels of a panel of which enough is in sight. */
const READABLE = 80;
const STEPS = Array.from({ length: 21 }, (_, k) => k / 20);

/**
 * @param {HTMLElement} root the panel
 * @param {import("../types.js").Model} model
 * @param {() => void} open selects the stepper
 */
export function createSigns(root, model, open) {
  const moves = watchMoves(model);
  let endTimer = 0;
  let settleTimer = 0;
  /** Where the document was scrolled when the panel was in sight: a cell far away may be off the page. @type {[Element, number] | null} */
  let lastSeen = null;
  const observer = new IntersectionObserver((entries) => measure(entries[entries.length - 1]), { threshold: STEPS });
  /** @type {Pause} */
  const pause = { root, home: root, prompt: null, text: "", isSeen: undefined, isDismissed: false, goTo };

  /** @param {IntersectionObserverEntry} entry */
  function measure({ boundingClientRect: box, intersectionRect: part }) {
    const isSeen = root.isConnected && box.height > 0 && part.height >= Math.min(READABLE, box.height);
    const scroller = isSeen ? scrollerOf(root) : null;
    if (scroller) lastSeen = [scroller, scroller.scrollTop];
    if (isSeen) {
      pause.isSeen = true;
      pause.isDismissed = false;
      clearTimeout(settleTimer);
      settleTimer = 0;
      drawNotice();
    } else if (!settleTimer) settleTimer = window.setTimeout(settle, pause.isSeen ? 0 : SETTLED);
  }

  /** The panel stayed out of sight. */
  function settle() {
    settleTimer = 0;
    const wasSeen = pause.isSeen;
    pause.isSeen = false;
    const others = pagePauses().pauses.filter((other) => other.home === pause.home && other !== pause);
    const isAnswered = others.some(({ isSeen }) => isSeen) || (!isInPausedCell(pause) && others.some(isInPausedCell));
    if (wasSeen === undefined && !isAnswered && pause.home.getClientRects().length && !moves.hasMoved()) scrollTo();
    drawNotice();
  }

  function scrollTo() {
    if (!root.isConnected && lastSeen) lastSeen[0].scrollTop = lastSeen[1];
    root.scrollIntoView({ block: "start" });
  }

  function goTo() {
    if (!pause.home.getClientRects().length) press(tabOf(pause.home));
    open();
    requestAnimationFrame(() => {
      scrollTo();
      const button = root.querySelector(".hs-steps button:not(:disabled)");
      if (button instanceof HTMLElement) button.focus({ preventScroll: true });
    });
  }

  /** @param {boolean} isPaused @param {Partial<import("../python.js").Status>} status @param {string} title */
  function setPaused(isPaused, status, title) {
    clearTimeout(endTimer);
    const { pauses } = pagePauses();
    if (!isPaused) {
      if (pauses.includes(pause)) endTimer = window.setTimeout(end, BETWEEN_STOPS);
      return;
    }
    const home = root.closest(DOCUMENT) ?? (pause.home === root ? null : pause.home);
    if (!home) {
      // A widget is drawn before it is put on the page.
      if (!root.isConnected) endTimer = window.setTimeout(() => setPaused(true, status, title), ATTACHING);
      return;
    }
    Object.assign(pause, { home, prompt: promptOf(model, home, status.cell ?? ""), text: `${title}: ${status.text ?? ""}` });
    if (!pauses.includes(pause)) {
      Object.assign(pause, { isSeen: undefined, isDismissed: false });
      pauses.push(pause);
      observer.observe(root);
    }
    drawMarks();
    drawNotice();
  }

  function end() {
    clearTimeout(endTimer);
    clearTimeout(settleTimer);
    settleTimer = 0;
    observer.disconnect();
    const { pauses } = pagePauses();
    if (!pauses.includes(pause)) return;
    pauses.splice(pauses.indexOf(pause), 1);
    drawMarks();
    drawNotice();
  }

  // JupyterLab sets the title when another document is chosen.
  const titles = new MutationObserver(() => pagePauses().pauses.length && drawMarks());
  const element = document.querySelector("title");
  if (element) titles.observe(element, { childList: true, characterData: true, subtree: true });

  return {
    setPaused,
    destroy() {
      end();
      titles.disconnect();
      moves.destroy();
    },
  };
}

/** @param {Pause} pause */
function isInPausedCell({ root, prompt }) {
  return Boolean(prompt?.closest(".jp-Cell")?.contains(root));
}

/** Return the prompt of the cell with this identifier, or of none. @param {import("../types.js").Model} model @param {Element} home @param {string} cell */
function promptOf(model, home, cell) {
  const cells = model.widget_manager?.context?.model?.cells;
  const length = cells?.length ?? 0;
  for (let index = 0; cell && index < length; index += 1) {
    if (cells?.get(index)?.id === cell) return home.querySelector(`.jp-Cell[data-windowed-list-index="${index}"] .jp-InputPrompt`);
  }
  return null;
}

/** @param {Element} element @returns {Element | null} */
function scrollerOf(element) {
  for (let parent = element.parentElement; parent; parent = parent.parentElement) {
    if (parent.scrollHeight > parent.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(parent).overflowY)) return parent;
  }
  return null;
}

/** Choose a document's tab, as a click does. @param {Element | undefined} tab */
function press(tab) {
  if (!tab) return;
  const { left, top, width, height } = tab.getBoundingClientRect();
  const at = { bubbles: true, cancelable: true, button: 0, clientX: left + width / 4, clientY: top + height / 2 };
  tab.dispatchEvent(new PointerEvent("pointerdown", at));
  tab.dispatchEvent(new PointerEvent("pointerup", at));
}
