// The buttons that resume the run, and separate ones that only change the shown operator; each has a key.

import { make } from "../../static/dom.js";
import { COMMANDS } from "../../static/python.js";
import { createIcon } from "./icons.js";
import { createTooltip } from "./tooltip.js";

/** @typedef {typeof COMMANDS[number]} Command What a paused run can do next. */
/** @typedef {"step_back" | "step_forward"} HistoryMessage These change the shown stop and leave the run paused. */

/** Name, key, and the word beside the icon: the same keys as in JupyterLab's debugger, as far as it has them. @type {Record<Command | HistoryMessage, [string, string, string]>} */
const BUTTONS = {
  over: ["Step over", "F10", "Over"],
  into: ["Step into", "F11", "Into"],
  out: ["Step out", "Shift+F11", "Out"],
  operator: ["Next operator", "F8", "Operator"],
  cell: ["Next cell", "Shift+F8", "Cell"],
  continue: ["Continue", "F9", "Continue"],
  abort: ["Abort", "Shift+F9", "Abort"],
  step_back: ["Step back", "F4", "Back"],
  step_forward: ["Step forward", "Shift+F4", "Forward"],
};
/** @type {HistoryMessage[]} */
const HISTORY = ["step_back", "step_forward"];

/** Return the key of a command or message. @param {Command | HistoryMessage} what */
export const keyFor = (what) => BUTTONS[what][1];

/** Return the name of a key, as the buttons show it. @param {KeyboardEvent} event */
function keyOf(event) {
  return event.ctrlKey || event.altKey || event.metaKey ? "" : (event.shiftKey ? "Shift+" : "") + event.key;
}

/** @param {KeyboardEvent} event */
const commandOf = (event) => COMMANDS.find((command) => keyFor(command) === keyOf(event));

/** Return whether a key's command allows no further stop. @param {KeyboardEvent} event */
export const ends = (event) => ["continue", "abort"].includes(commandOf(event) ?? "");

/** @param {import("../../static/types.js").Send} send */
export function createCommands(send) {
  const tooltip = createTooltip();
  let paused = false;

  /** Resume the run; the panel then counts as not paused, so no further command follows until the next stop. @param {Command} command */
  function resume(command) {
    if (paused) send({ type: "resume", command });
  }
  /** @param {HistoryMessage} type */
  function look(type) {
    if (paused) send({ type });
  }
  /** @param {Command | HistoryMessage} shape @param {string} kind @param {() => void} onclick */
  function keyed(shape, kind, onclick) {
    const [name, key, word] = BUTTONS[shape];
    const button = make("button", { type: "button", class: `hs-button hs-command ${kind}`, "aria-label": name, "aria-keyshortcuts": key, disabled: "", onclick }, [
      createIcon(shape),
      make("span", { class: "hs-command-name", text: word }),
      make("kbd", { class: "hs-key", "aria-hidden": "true", text: key.replace("Shift+", "⇧") }),
    ]);
    tooltip.explain(button, name, key);
    return button;
  }
  const steps = COMMANDS.map((command) => keyed(command, `hs-step hs-step-${command}`, () => resume(command)));
  const looks = HISTORY.map((type) => keyed(type, "hs-look", () => look(type)));
  const proceed = make("button", { type: "button", class: "hs-button hs-primary", text: "Continue", "aria-label": "Continue the run", title: `Let the run go on to the next breakpoint, or to its end (${keyFor("continue")})`, hidden: "", onclick: () => resume("continue") });
  const mine = make("input", { type: "checkbox", onchange: () => send({ type: "set_just_my_code", on: mine.checked }) });
  const mineLabel = make("label", { class: "hs-mine", title: "Step through your own lines alone, not through those of layers and installed packages" }, [mine, "Just my code"]);
  /** @param {string} name @param {string} kind @param {HTMLElement[]} buttons */
  const group = (name, kind, buttons) =>
    make("div", { class: `hs-commands ${kind}`, role: "group", "aria-label": name }, [make("span", { class: "hs-commands-name", "aria-hidden": "true", text: name }), ...buttons]);

  return {
    element: make("div", { class: "hs-bar hs-steps", role: "toolbar", "aria-label": "Stepping" }, [
      group("Go on", "hs-going-on", steps),
      group("Look back", "hs-looking-back", looks),
      mineLabel,
      tooltip.element,
    ]),
    controls: [...steps, ...looks],
    /** @param {import("../../static/python.js").SteppingOptions} options */
    setOptions(options) {
      mine.checked = options.just_my_code;
    },
    /** The button for the heading above the views. */
    proceed,
    /** @param {boolean} now */
    setPaused(now) {
      paused = now;
      proceed.hidden = !now;
    },
    /** Press the button of a key, if there is one. @param {KeyboardEvent} event */
    key(event) {
      const command = commandOf(event);
      const type = HISTORY.find((message) => keyFor(message) === keyOf(event));
      if (command) resume(command);
      else if (type) look(type);
      return Boolean(command || type);
    },
  };
}
