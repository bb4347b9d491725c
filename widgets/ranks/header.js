// The heading: the running program, the status of all ranks, and buttons that resume all paused ranks or end the run.

import { make, setAttribute, setText } from "../static/dom.js";
import { COMMANDS } from "../static/ranks.js";
import { createStatus } from "../static/status.js";

/** Button and description. @type {Record<typeof COMMANDS[number], [string, string]>} */
const BUTTONS = {
  continue: ["Continue", "Let all paused ranks go on"],
  over: ["Over", "Step over on all paused ranks"],
  into: ["Into", "Step into on all paused ranks"],
  out: ["Out", "Step out on all paused ranks"],
  cell: ["Cell", "Go on to the next cell on all paused ranks"],
  abort: ["Abort", "End the run on all ranks, at each rank's next cell"],
  interrupt: ["Interrupt", "Interrupt all ranks, as Ctrl-C does"],
};

/** @param {(message: import("../static/ranks.js").Asked) => void} send */
export function createHeader(send) {
  const heading = make("span", { class: "hs-title" });
  const status = createStatus();
  const buttons = COMMANDS.map((command) => {
    const [text, title] = BUTTONS[command];
    return make("button", { type: "button", class: `hs-button${command === "continue" ? " hs-primary" : ""}`, text, title, disabled: "", onclick: () => send({ type: "command", command }) });
  });
  return {
    element: make("div", { class: "hs-head" }, [
      heading,
      status.element,
      make("div", { class: "hs-ranks-commands", role: "group", "aria-label": "All ranks" }, buttons),
    ]),
    /** @param {string} name */
    setTitle(name) {
      setText(heading, name);
      setAttribute(heading, "title", name);
    },
    /** @param {import("../static/ranks.js").RanksStatus} now */
    draw(now) {
      status.update(now.text ?? "", now.text ?? "");
      setAttribute(status.element, "title", now.text ?? "");
      buttons.forEach((button, k) => {
        const reason = now.why_not?.[COMMANDS[k]] ?? "nothing runs";
        const [, description] = BUTTONS[COMMANDS[k]];
        button.disabled = Boolean(reason);
        setAttribute(button, "title", reason ? `${description}: ${reason}` : description);
      });
    },
  };
}
