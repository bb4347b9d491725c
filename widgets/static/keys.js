// Keyboard handling of a panel: the stepper's keys anywhere in the notebook, Escape to return to the notebook, and keys
// that JupyterLab would otherwise handle.

import { setAttribute } from "./dom.js";

/** @typedef {{root: HTMLElement, reaches: (target: Element) => boolean}} Paused */

/** Selectors of JupyterLab and Notebook 7 for a document, a notebook cell, and modal elements. */
const DOCUMENT = ".jp-MainAreaWidget, .jp-NotebookPanel";
const NOTEBOOK_CELL = ".jp-Cell";
const IN_FRONT = ".jp-Dialog, .jp-ModalCommandPalette, .lm-Menu, dialog[open], [aria-modal=true]";
/** Milliseconds for which keys stay captured after a step, so that fast stepping does not trigger the browser's F11. */
const BETWEEN_STOPS = 1000;

/** Return all paused panels on this page, the latest last. They are stored on the page, since panels do not share modules. @returns {Paused[]} */
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
  /** The document that contains the panel; kept, since JupyterLab removes distant cells from the page. @type {Element | null} */
  let home = null;
  let releaseTimer = 0;

  /** Return whether a key pressed at this target is for this panel. @param {Element} target */
  function reaches(target) {
    home = root.closest(DOCUMENT) ?? home;
    const documentElement = target.closest(DOCUMENT);
    if (documentElement) return home ? documentElement === home : documentElement.matches(".jp-NotebookPanel");
    // Outside every document: not a Jupyter page, or nothing has the focus.
    return target === document.body ? !home || isSeen(home) : !home && !document.querySelector(DOCUMENT);
  }
  /** @type {Paused} */
  const entry = { root, reaches };

  /** @param {boolean} paused */
  function setPaused(paused) {
    if (!stepper) return;
    clearTimeout(releaseTimer);
    const panels = pausedPanels();
    if (paused && !panels.includes(entry)) panels.push(entry);
    else if (!paused) releaseTimer = window.setTimeout(forget, BETWEEN_STOPS);
  }
  function forget() {
    clearTimeout(releaseTimer);
    const panels = pausedPanels();
    if (panels.includes(entry)) panels.splice(panels.indexOf(entry), 1);
  }

  /** Return whether this panel handles the key: the paused panel with the focus, else the one that was paused last. @param {Element} target */
  function isResponsible(target) {
    const candidates = pausedPanels().filter((panel) => panel.reaches(target));
    return (candidates.find((panel) => panel.root.contains(target)) ?? candidates.at(-1)) === entry;
  }

  /** Handle keys in the window's capture phase, before JupyterLab and the browser, which use the same keys. @param {KeyboardEvent} event */
  function onKeydown(event) {
    if (!(event.target instanceof Element)) return;
    if (root.contains(event.target)) keepPlainKeys(event.target, event);
    if (!stepper || !pausedPanels().includes(entry) || [...document.querySelectorAll(IN_FRONT)].some(isSeen)) return;
    if (!isResponsible(event.target)) return;
    const isLast = stepper.ends(event);
    if (!stepper.key(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (isLast) forget();
  }

  /**
   * JupyterLab treats plain keys (arrows, b, x, ...) as notebook commands, in a document listener that checks the
   * focused element for this attribute. Keys with Ctrl or Command, such as saving, stay JupyterLab's, except undo and
   * redo in a text field, which would apply to the notebook.
   * @param {Element} target
   * @param {KeyboardEvent} event
   */
  function keepPlainKeys(target, event) {
    const isUndo = target.matches("input, textarea") && /^[zy]$/i.test(event.key);
    setAttribute(target, "data-lm-suppress-shortcuts", (event.ctrlKey || event.metaKey) && !isUndo ? null : "true");
  }

  // JupyterLab also blocks undo and redo by input events in every field of a notebook.
  root.addEventListener("beforeinput", (event) => {
    if (event.inputType === "historyUndo" || event.inputType === "historyRedo") event.stopPropagation();
  }, true);

  // JupyterLab prevents Enter in a field of an output from submitting its form or change, so the panel does it.
  root.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key !== "Enter" || event.isComposing || event.defaultPrevented) return;
    if (!(field instanceof HTMLInputElement) || field.type !== "text" || field.list) return;
    event.preventDefault();
    if (field.form) field.form.requestSubmit();
    else field.dispatchEvent(new Event("change", { bubbles: true }));
  });

  // Elements with their own use of Escape have handled it before.
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

  /** Move the focus to the notebook: to the cell of this panel, or to the active cell if the panel is elsewhere. */
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
