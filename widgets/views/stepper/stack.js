// The user's functions on the stack, outermost first. The selected one is shown, and names are looked up in it.

import { make } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").Stop} Stop */

/** @param {(index: number) => void} show */
export function createStack(show) {
  /** @type {Stop | null} */
  let stop = null;
  let isEnabled = false;
  const list = make("ol", { class: "hs-stack", "aria-label": "Functions on the stack", onkeydown: keyed });
  const element = make("section", { "aria-label": "Call stack", hidden: "" }, [make("h4", { text: "Call stack" }), list]);

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!step || !stop || !isEnabled || !stop.walks) return;
    event.preventDefault();
    const index = stop.frame + step;
    if (index >= 0 && index < stop.stack.length) show(index);
  }

  function draw() {
    if (!stop) return;
    const { stack, frame, walks } = stop;
    element.hidden = stack.length < 2;
    const hadFocus = list.contains(list.ownerDocument.activeElement);
    const reached = frame < 0 ? stack.length - 1 : frame;
    list.replaceChildren(
      ...stack.map((text, index) => {
        if (!walks || !isEnabled) return make("li", { "aria-current": index === frame && walks ? "location" : null, text });
        const current = index === frame ? "location" : null;
        return make("li", {}, [make("button", { type: "button", class: "hs-operator", "aria-current": current, tabindex: index === reached ? 0 : -1, text, onclick: () => show(index) })]);
      }),
    );
    const current = list.querySelectorAll("button")[reached];
    if (!hadFocus || !current) return;
    current.focus({ preventScroll: true }); // which would scroll the notebook too
    const room = element.parentElement?.getBoundingClientRect();
    const { top, bottom } = current.getBoundingClientRect();
    if (element.parentElement && room) element.parentElement.scrollTop += Math.max(0, bottom - room.bottom + 6) - Math.max(0, room.top - top + 6);
  }

  return {
    element,
    /** @param {Stop} now */
    update(now) {
      stop = now;
      draw();
    },
    /** @param {boolean} now */
    setEnabled(now) {
      if (now === isEnabled) return;
      isEnabled = now;
      draw();
    },
  };
}
