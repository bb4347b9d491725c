// Whether the user has scrolled, clicked or typed in a document since a run began. Only the user who just waits is
// taken to the pause.

import { DOCUMENT, pagePauses } from "./page_marks.js";

/** Milliseconds that a kernel is idle between two runs of the user's; between the cells of "Run All" it is shorter. */
const IDLE = 500;
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];

/** Note the user's moves on this page; panels share the listeners. */
function follow() {
  const page = pagePauses();
  if (page.follows) return;
  page.follows = true;
  const moved = () => (page.lastMove = performance.now());
  for (const type of ["wheel", "touchmove"]) window.addEventListener(type, moved, { capture: true, passive: true });
  // A menu and a toolbar start a run, and so does Enter with another key.
  window.addEventListener("pointerdown", ({ target }) => target instanceof Element && target.closest(DOCUMENT) && !target.closest(".jp-Toolbar") && moved(), { capture: true, passive: true });
  window.addEventListener("keydown", (event) => {
    const runs = event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.altKey || event.metaKey);
    if (!runs && !MODIFIERS.includes(event.key)) moved();
  }, { capture: true, passive: true });
}

/** @param {import("../types.js").Model} model */
export function watchMoves(model) {
  follow();
  let runBegan = performance.now();
  let idleSince = -Infinity;
  const signal = model.widget_manager?.kernel?.statusChanged;
  function look() {
    const status = model.widget_manager?.kernel?.status;
    if (status === "idle") idleSince = performance.now();
    else if (status === "busy" && performance.now() - idleSince > IDLE && idleSince > runBegan) runBegan = performance.now();
  }
  signal?.connect?.(look);
  return {
    /** Return whether the user has moved since the run began, or has the cursor in a text. */
    hasMoved: () => pagePauses().lastMove > runBegan || Boolean(document.activeElement?.matches("input, textarea, [contenteditable=true]")),
    destroy: () => signal?.disconnect?.(look),
  };
}
