// The notice of a pause whose panel is out of sight, at the edge of the page, with a button that goes there.

import { make, setText } from "../dom.js";
import { pagePauses } from "./page_marks.js";

/** @typedef {import("./page_marks.js").Pause} Pause */

/** Return the latest pause that no panel of its document shows in sight. @returns {Pause | undefined} */
function unseenPause() {
  const { pauses } = pagePauses();
  const seen = new Set(pauses.filter(({ isSeen }) => isSeen !== false).map(({ home }) => home));
  return pauses.filter(({ home, isDismissed }) => !seen.has(home) && !isDismissed).at(-1);
}

/** Show the notice if a pause is out of sight, else remove it. */
export function drawNotice() {
  const page = pagePauses();
  const pause = unseenPause();
  if (!pause) {
    page.notice?.remove();
    page.notice = page.noticed = undefined;
    return;
  }
  page.noticed = pause;
  const notice = (page.notice ??= createNotice());
  if (!notice.isConnected) document.body.append(notice);
  const text = notice.querySelector(".hs-notice-text");
  // A live region that exists already is read aloud when its text changes.
  if (text instanceof HTMLElement) window.setTimeout(() => setText(text, pause.text));
}

function createNotice() {
  const close = () => {
    const { noticed, pauses } = pagePauses();
    for (const pause of pauses) if (pause.home === noticed?.home) pause.isDismissed = true;
    drawNotice();
  };
  return make("div", {
    class: "hs hs-notice", "data-alone": "", "data-state": "paused", role: "region", "aria-label": "Paused run",
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      close();
    },
  }, [
    make("span", { class: "hs-dot", "aria-hidden": "true" }),
    make("span", { class: "hs-notice-text", role: "status", "aria-live": "polite" }),
    make("button", { type: "button", class: "hs-button hs-primary", text: "Go to", title: "Show the panel of the paused run", onclick: () => pagePauses().noticed?.goTo() }),
    make("button", { type: "button", class: "hs-button", "aria-label": "Close", title: "Close this notice; the run stays paused", text: "×", onclick: close }),
  ]);
}
