// Tooltips of icons, with their keys: below an icon that is pointed at or focused. A browser's own titles appear late,
// and never for keyboard users.

import { make, setText } from "../../static/dom.js";

export function createTooltip() {
  const name = make("span");
  const key = make("kbd", { class: "hs-key" });
  const element = make("div", { class: "hs-tooltip", "aria-hidden": "true", hidden: "" }, [name, key]);

  /** @param {HTMLElement} button @param {string} text @param {string} keys */
  function show(button, text, keys) {
    setText(name, text);
    setText(key, keys);
    element.hidden = false;
    const middle = button.offsetLeft + button.offsetWidth / 2;
    const room = (element.parentElement?.clientWidth ?? 0) - element.offsetWidth - 4;
    element.style.left = `${Math.max(4, Math.min(middle - element.offsetWidth / 2, room))}px`;
    element.style.top = `${button.offsetTop + button.offsetHeight + 4}px`;
  }

  return {
    element,
    /** @param {HTMLElement} button @param {string} text @param {string} keys */
    explain(button, text, keys) {
      const hide = () => (element.hidden = true);
      button.addEventListener("pointerenter", () => show(button, text, keys));
      button.addEventListener("focus", () => button.matches(":focus-visible") && show(button, text, keys));
      for (const event of ["pointerleave", "blur", "click"]) button.addEventListener(event, hide);
    },
  };
}
