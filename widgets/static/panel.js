// The panel: tabs over the views, the status line, and the wiring between them and the model. All state is the
// model's; a view that is drawn anew says "hello" and gets the captures, which are too many for the model to hold.

import { createCaptures } from "./captures.js";
import { createConditions } from "./conditions.js";
import { make, setAttribute, setText } from "./dom.js";
import { createExport } from "./download.js";
import { createHooks } from "./hooks.js";
import { createParameters } from "./parameters.js";
import { createStepper } from "./stepper.js";
import { createTree } from "./tree.js";

/** @typedef {import("./types.js").Model} Model */

/** Ask Python for the rest when it has been silent for this long, in milliseconds. */
const QUIET = 400;
let panelCount = 0;

/**
 * @param {{model: Model, el: HTMLElement}} context
 * @returns {() => void}
 */
function render({ model, el }) {
  const id = `hs-panel-${++panelCount}`;
  const send = (/** @type {unknown} */ message) => model.send(message);
  /** @type {import("./types.js").Go} */
  const go = {
    cell(path) {
      choose("cells");
      tree.reveal(path);
    },
    capture(index) {
      choose("captures");
      captures.reveal(index);
    },
    findings(path) {
      choose("conditions");
      conditions.filter(path);
    },
  };
  const tree = createTree(send, go);
  const captures = createCaptures(send, go);
  const parameters = createParameters(send);
  const stepper = createStepper(send);
  const conditions = createConditions(send, go);
  const hooks = createHooks(send);
  /** @type {[string, string, {element: HTMLElement, draw?: () => void}][]} */
  const views = [
    ["cells", "Cells", tree],
    ["captures", "Captures", captures],
    ["parameters", "Parameters", parameters],
    ["stepper", "Stepper", stepper],
    ["conditions", "Conditions", conditions],
    ["hooks", "Hooks", hooks],
  ];
  const tabs = views.map(([key, title]) =>
    make("button", { type: "button", class: "hs-tab", role: "tab", id: `${id}-tab-${key}`, "aria-controls": `${id}-${key}`, text: title, onclick: () => choose(key) }),
  );
  const panels = views.map(([key, , view]) =>
    make("div", { class: "hs-panel", role: "tabpanel", id: `${id}-${key}`, "aria-labelledby": `${id}-tab-${key}`, hidden: "" }, [view.element]),
  );
  const dot = make("span", { class: "hs-dot", "aria-hidden": "true" });
  const statusText = make("span", { class: "hs-status-text" });
  const status = make("div", { class: "hs-status", role: "status", "aria-live": "polite" }, [dot, statusText]);
  const problem = make("div", { class: "hs-problem", role: "alert", hidden: "" });
  const tablist = make("div", { class: "hs-tabs", role: "tablist", "aria-label": "Debugger" }, tabs);
  const name = make("span", { class: "hs-title" });
  const exporting = createExport(send);
  const root = make("div", { class: "hs", role: "group" }, [
    make("div", { class: "hs-top" }, [tablist, make("span", { class: "hs-spring" }), name]),
    make("div", { class: "hs-panels" }, panels),
    make("div", { class: "hs-foot" }, [status, problem, exporting.button]),
  ]);
  el.append(root);

  /** @param {string} key */
  function show(key) {
    setAttribute(root, "data-view", key);
    views.forEach(([each, , view], k) => {
      const chosen = each === key;
      setAttribute(tabs[k], "aria-selected", chosen);
      setAttribute(tabs[k], "tabindex", chosen ? 0 : -1);
      panels[k].hidden = !chosen;
      if (chosen) view.draw?.();
    });
  }

  /** A person chose a tab: the model remembers it for the next time it is drawn. @param {string} key */
  function choose(key) {
    show(key);
    model.set("view", key);
    send({ type: "show", view: key });
  }

  tablist.addEventListener("keydown", (event) => {
    const now = tabs.findIndex((tab) => tab === event.target);
    /** @type {Record<string, number>} */
    const targets = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 };
    if (now < 0 || !(event.key in targets)) return;
    event.preventDefault();
    const next = (targets[event.key] + tabs.length) % tabs.length;
    choose(views[next][0]);
    tabs[next].focus();
  });
  root.addEventListener("keydown", (event) => {
    if (!stepper.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });

  /**
   * JupyterLab takes plain keys (arrows, b, x, ...) for commands on the notebook, in a listener on the document that
   * asks the focused element for this attribute. Keys with Ctrl or Command, such as saving, stay JupyterLab's.
   * @param {KeyboardEvent} event
   */
  function keepPlainKeys(event) {
    if (!(event.target instanceof Element) || !root.contains(event.target)) return;
    setAttribute(event.target, "data-lm-suppress-shortcuts", event.ctrlKey || event.metaKey ? null : "true");
  }
  window.addEventListener("keydown", keepPlainKeys, { capture: true });

  let asking = false;
  let quiet = 0;
  let state = "";
  /** While code runs, the last updates may be held back by the throttle: fetch them once it is quiet. */
  function watch() {
    clearTimeout(quiet);
    if ((state !== "running" && state !== "watching") || asking) return;
    quiet = window.setTimeout(() => {
      asking = true;
      send({ type: "sync" });
    }, QUIET);
  }

  function drawStatus() {
    const now = model.get("status");
    setText(statusText, now.text ?? "");
    setText(problem, now.error ?? "");
    problem.hidden = !now.error;
    setAttribute(root, "data-state", now.state);
    if (now.state === "paused" && state !== "paused") show("stepper");
    state = now.state;
    stepper.setPaused(state === "paused");
    watch();
  }
  function drawTitle() {
    const title = model.get("title");
    setText(name, title);
    setAttribute(root, "aria-label", `Debugger of ${title}`);
  }
  function drawTree() {
    tree.update(model.get("tree"));
    hooks.setCells(model.get("tree"));
  }
  const drawHooks = () => hooks.update(model.get("hooks"));
  const drawHookAnswer = () => hooks.setAnswer(model.get("hook_answer"));
  const drawHookLog = () => hooks.updateLog(model.get("hook_log"));
  const drawGradient = () => stepper.updateGradient(model.get("gradient"));
  function drawFound() {
    conditions.update(model.get("conditions"));
    tree.setHits(model.get("conditions").cells ?? {});
  }
  const drawParameters = () => parameters.update(model.get("parameters"), model.get("parameter_numbers"));
  const drawSelection = () => captures.select(model.get("selection"), model.get("histogram"));
  const drawStop = () => stepper.update(model.get("stop"));
  const drawAnswers = () => stepper.updateAnswers(model.get("evaluations"));

  /** @param {any} message @param {DataView[]} buffers */
  function receive(message, buffers) {
    if (parameters.receive(message, buffers)) return;
    if (message.type === "captures") {
      captures.add(message, buffers);
      watch();
    } else if (message.type === "statistics") captures.addStatistics(buffers);
    else if (message.type === "tensor") captures.drawTensor(message, buffers);
    else if (message.type === "source") captures.drawSource(message);
    else if (message.type === "export") exporting.save(message, buffers);
    else if (message.type === "done") {
      if (message.action === "export") exporting.answered();
      if (message.action === "sync") asking = false;
      captures.answered(message.action);
      for (const element of root.querySelectorAll(".hs-pending")) element.classList.remove("hs-pending");
      conditions.answered();
      tree.draw();
      stepper.setPaused(state === "paused");
    }
  }

  /** @type {[string, (...args: any[]) => void][]} */
  const wires = [
    ["change:title", drawTitle],
    ["change:tree", drawTree],
    ["change:parameters", drawParameters],
    ["change:parameter_numbers", drawParameters],
    ["change:selection", drawSelection],
    ["change:histogram", drawSelection],
    ["change:stop", drawStop],
    ["change:evaluations", drawAnswers],
    ["change:gradient", drawGradient],
    ["change:hooks", drawHooks],
    ["change:hook_answer", drawHookAnswer],
    ["change:hook_log", drawHookLog],
    ["change:conditions", drawFound],
    ["change:status", drawStatus],
    ["msg:custom", receive],
  ];
  for (const [event, callback] of wires) model.on(event, callback);
  show(model.get("view"));
  for (const draw of [drawTitle, drawTree, drawFound, drawParameters, drawSelection, drawStop, drawAnswers, drawGradient, drawHooks, drawHookAnswer, drawHookLog, drawStatus]) draw();
  send({ type: "hello" });

  return () => {
    for (const [event, callback] of wires) model.off(event, callback);
    window.removeEventListener("keydown", keepPlainKeys, { capture: true });
    clearTimeout(quiet);
    tree.destroy();
    captures.destroy();
    parameters.destroy();
    hooks.destroy();
  };
}

export default { render };
