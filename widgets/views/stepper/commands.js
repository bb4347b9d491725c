// The buttons that resume the run, and separate ones that only change the shown operator; each has a key.

import { make } from "../../static/dom.js";
import { createIcon } from "./icons.js";
import { createTooltip } from "./tooltip.js";

/** Button, command, key: the same keys as in JupyterLab's debugger, as far as it has them. */
const STEPS = [
  ["Step over", "over", "F10"],
  ["Step into", "into", "F11"],
  ["Step out", "out", "Shift+F11"],
  ["Next operator", "operator", "F8"],
  ["Next cell", "cell", "Shift+F8"],
  ["Continue", "continue", "F9"],
  ["Abort", "abort", "Shift+F9"],
];

/** Button, message, key: these change the shown operator and leave the run paused. @type {[string, "step_back" | "step_forward", string][]} */
const LOOKS = [
  ["Step back", "step_back", "F4"],
  ["Step forward", "step_forward", "Shift+F4"],
];

/** Return the key of a command or message. @param {string} what */
export const keyFor = (what) => [...STEPS, ...LOOKS].find(([, command]) => command === what)?.[2] ?? "";

/** Return the name of a key, as the buttons show it. @param {KeyboardEvent} event */
function keyOf(event) {
  return event.ctrlKey || event.altKey || event.metaKey ? "" : (event.shiftKey ? "Shift+" : "") + event.key;
}

/** @param {KeyboardEvent} event */
const commandOf = (event) => STEPS.find(([, , key]) => key === keyOf(event))?.[1];
/** @param {KeyboardEvent} event */
const lookOf = (event) => LOOKS.find(([, , key]) => key === keyOf(event))?.[1];

/** Return whether a key's command allows no further stop. @param {KeyboardEvent} event */
export const ends = (event) => ["continue", "abort"].includes(commandOf(event) ?? "");

/**
 * @param {(command: string) => void} resume
 * @param {(type: "step_back" | "step_forward") => void} look
 */
export function createCommands(resume, look) {
  const tooltip = createTooltip();
  /** @param {string} name @param {string} key @param {string} kind @param {string} shape @param {() => void} onclick */
  function keyed(name, key, kind, shape, onclick) {
    const button = make("button", { type: "button", class: `hs-button hs-command ${kind}`, "aria-label": name, "aria-keyshortcuts": key, disabled: "", onclick }, [
      createIcon(shape),
      make("kbd", { class: "hs-key", "aria-hidden": "true", text: key.replace("Shift+", "⇧") }),
    ]);
    tooltip.explain(button, name, key);
    return button;
  }
  const steps = STEPS.map(([name, command, key]) => keyed(name, key, `hs-step hs-step-${command}`, command, () => resume(command)));
  const looks = LOOKS.map(([name, type, key]) => keyed(name, key, "hs-look", type, () => look(type)));
  /** @param {string} name @param {string} kind @param {HTMLElement[]} buttons */
  const group = (name, kind, buttons) =>
    make("div", { class: `hs-commands ${kind}`, role: "group", "aria-label": name }, [make("span", { class: "hs-commands-name", "aria-hidden": "true", text: name }), ...buttons]);

  return {
    element: make("div", { class: "hs-bar hs-steps", role: "toolbar", "aria-label": "Stepping" }, [
      group("Go on", "hs-going-on", steps),
      group("Look back", "hs-looking-back", looks),
      tooltip.element,
    ]),
    controls: [...steps, ...looks],
    /** Press the button of a key, if there is one. @param {KeyboardEvent} event */
    key(event) {
      const [command, type] = [commandOf(event), lookOf(event)];
      if (command) resume(command);
      else if (type) look(type);
      return Boolean(command || type);
    },
  };
}
