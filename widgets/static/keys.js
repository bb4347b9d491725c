// The keys of a panel: those of the stepper wherever the focus is in the notebook, Escape back to the notebook, and what
// JupyterLab would otherwise take for its own.

import { setAttribute } from "./dom.js";

/** @typedef {{root: HTMLElement, reaches: (target: Element) => boolean}} Paused */

/** What JupyterLab and Notebook 7 call a document, a cell of a notebook, and what stands in front of all of it. */
const DOCUMENT = ".jp-MainAreaWidget, .jp-NotebookPanel";
const NOTEBOOK_CELL = ".jp-Cell";
const IN_FRONT = ".jp-Dialog, .jp-ModalCommandPalette, .lm-Menu, dialog[open], [aria-modal=true]";
/** After a step its keys are kept for so many milliseconds: who steps fast must not get the browser's F11. */
const BETWEEN_STOPS = 1000;

/** Every panel on this page that is paused, the latest last. A panel's module knows of no other's: the page keeps it. @returns {Paused[]} */
function pausedPanels() {
  const page = /** @type {any} */ (window);
  return (page[Symbol.for("hookscope.paused")] ??= []);
}

/** @param {Element} element */
const isSeen = (element) => element.getClientRects().length > 0;

/**
 * @param {HTMLElement} root the panel
 * @param {{key: (event: KeyboardEvent) => boolean, ends: (event: KeyboardEvent) => boolean} | undefined} stepper
 */
export function createKeys(root, stepper) {
  /** The document that the panel is in; JupyterLab takes cells that are far away off the page. @type {Element | null} */
  let home = null;
  let between = 0;

  /** Whether a key that is pressed there is for this panel. @param {Element} target */
  function reaches(target) {
    home = root.closest(DOCUMENT) ?? home;
    const pressed = target.closest(DOCUMENT);
    if (pressed) return home ? pressed === home : pressed.matches(".jp-NotebookPanel");
    // Beside every document: in no Jupyter page, or nothing has the focus.
    return target === document.body ? !home || isSeen(home) : !home && !document.querySelector(DOCUMENT);
  }
  /** @type {Paused} */
  const mine = { root, reaches };

  /** @param {boolean} now */
  function setPaused(now) {
    if (!stepper) return;
    clearTimeout(between);
    const panels = pausedPanels();
    if (now && !panels.includes(mine)) panels.push(mine);
    else if (!now) between = window.setTimeout(forget, BETWEEN_STOPS);
  }
  function forget() {
    clearTimeout(between);
    const panels = pausedPanels();
    if (panels.includes(mine)) panels.splice(panels.indexOf(mine), 1);
  }

  /** Of several paused panels one answers: that with the focus, else the one that was paused last. @param {Element} target */
  function answers(target) {
    const reached = pausedPanels().filter((one) => one.reaches(target));
    return (reached.find((one) => one.root.contains(target)) ?? reached.at(-1)) === mine;
  }

  /** In the window and before all others: JupyterLab and the browser have uses of their own for these keys. @param {KeyboardEvent} event */
  function onKeydown(event) {
    if (!(event.target instanceof Element)) return;
    if (root.contains(event.target)) keepPlainKeys(event.target, event);
    if (!stepper || !pausedPanels().includes(mine) || [...document.querySelectorAll(IN_FRONT)].some(isSeen)) return;
    if (!answers(event.target)) return;
    const ends = stepper.ends(event);
    if (!stepper.key(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (ends) forget();
  }

  /**
   * JupyterLab takes plain keys (arrows, b, x, ...) for commands on the notebook, in a listener on the document that
   * asks the focused element for this attribute. Keys with Ctrl or Command, such as saving, stay JupyterLab's, but for
   * undo and redo in a text, which would be the notebook's.
   * @param {Element} target
   * @param {KeyboardEvent} event
   */
  function keepPlainKeys(target, event) {
    const undoes = target.matches("input, textarea") && /^[zy]$/i.test(event.key);
    setAttribute(target, "data-lm-suppress-shortcuts", (event.ctrlKey || event.metaKey) && !undoes ? null : "true");
  }

  // Undo and redo too, wherever it is asked for by the keys: it lets no field of a notebook do them.
  root.addEventListener("beforeinput", (event) => {
    if (event.inputType === "historyUndo" || event.inputType === "historyRedo") event.stopPropagation();
  }, true);

  // JupyterLab keeps Enter in a field of an output from sending its form or its change: the panel does it.
  root.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key !== "Enter" || event.isComposing || event.defaultPrevented) return;
    if (!(field instanceof HTMLInputElement) || field.type !== "text" || field.list) return;
    event.preventDefault();
    if (field.form) field.form.requestSubmit();
    else field.dispatchEvent(new Event("change", { bubbles: true }));
  });

  // What has a use of its own for Escape has taken it before it comes here.
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const field = event.target;
    if (field instanceof HTMLInputElement && field.type === "search" && field.value) {
      field.value = ""; // not every browser does it
      field.dispatchEvent(new Event("input", { bubbles: true }));
    } else if (!leave()) return;
    event.preventDefault();
    event.stopPropagation();
  });

  /** Give the focus to the notebook: to the cell of this panel, or where it stands elsewhere to the active one. */
  function leave() {
    const active = [...document.querySelectorAll(`.jp-Notebook ${NOTEBOOK_CELL}.jp-mod-active`)].find(isSeen);
    const cell = root.closest(NOTEBOOK_CELL) ?? active;
    if (!(cell instanceof HTMLElement)) return false;
    cell.focus({ preventScroll: true });
    return true;
  }

  window.addEventListener("keydown", onKeydown, { capture: true });
  return {
    setPaused,
    destroy() {
      forget();
      window.removeEventListener("keydown", onKeydown, { capture: true });
    },
  };
}
