// The heading: the running program, the status of all ranks, and buttons that resume all paused ranks or end the run.

import { make, setAttribute, setText } from "../static/dom.js";
import { createStatus } from "../static/status.js";

/** Command, button, and description. */
const BUTTONS = [
  ["continue", "Continue", "Let all paused ranks go on"],
  ["over", "Over", "Step over on all paused ranks"],
  ["into", "Into", "Step into on all paused ranks"],
  ["out", "Out", "Step out on all paused ranks"],
  ["cell", "Cell", "Go on to the next cell on all paused ranks"],
  ["abort", "Abort", "End the run on all ranks, at each rank's next cell"],
  ["interrupt", "Interrupt", "Interrupt all ranks, as Ctrl-C does"],
];

/** @param {(message: import("../static/ranks.js").Asked) => void} send */
export function createHead(send) {
  const title = make("span", { class: "hs-title" });
  const status = createStatus();
  const buttons = new Map(BUTTONS.map(([command, text, what]) => [
    command,
    make("button", { type: "button", class: `hs-button${command === "continue" ? " hs-primary" : ""}`, text, title: what, disabled: "", onclick: () => send({ type: "command", command }) }),
  ]));
  return {
    element: make("div", { class: "hs-head" }, [
      title,
      status.element,
      make("div", { class: "hs-ranks-commands", role: "group", "aria-label": "All ranks" }, [...buttons.values()]),
    ]),
    /** @param {string} name */
    setTitle(name) {
      setText(title, name);
      setAttribute(title, "title", name);
    },
    /** @param {import("../static/ranks.js").RanksStatus} now */
    draw(now) {
      status.update(now.text ?? "");
      setAttribute(status.element, "title", now.text ?? "");
      for (const [command, , what] of BUTTONS) {
        const why = now.why_not?.[command] ?? "nothing runs";
        const button = buttons.get(command);
        if (!button) continue;
        button.disabled = Boolean(why);
        setAttribute(button, "title", why ? `${what}: ${why}` : what);
      }
    },
  };
}
