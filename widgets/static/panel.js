// The panel: its views, as tabs or one alone, the status line, and the wiring between them and the model. All state is
// the model's; a view that is drawn anew says "hello" and gets the captures, which are too many for the model to hold.

import { createCaptures } from "./captures.js";
import { createConditions } from "./conditions.js";
import { LACKS, watchConnection } from "./connection.js";
import { make, setAttribute, setText } from "./dom.js";
import { createExport } from "./download.js";
import { createHooks } from "./hooks.js";
import { createKeys } from "./keys.js";
import { createPace } from "./pace.js";
import { createParameters } from "./parameters.js";
import { createProgress } from "./progress.js";
import { whetherSeen } from "./sight.js";
import { createStepper } from "./stepper.js";
import { createTree } from "./tree.js";

/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Send} Send */
/** @typedef {import("./types.js").Go} Go */
/**
 * One view: how it is made, which functions of it are called when which traits of the model change, and which messages
 * are for it.
 * @typedef {{title: string, create: (send: Send, go: Go, model: Model) => any, traits: [(view: any, ...values: any[]) => void, string[]][],
 *   messages?: Record<string, (view: any, message: any, buffers: DataView[]) => void>}} ViewKind
 */

/** Python has said that there is more: ask for it after so many milliseconds without another word. */
const QUIET = 1000;
/** What a run sends again and again; the rest is drawn at once. */
const LIVE = ["tree", "tree_numbers", "tree_states", "parameters", "parameter_numbers", "conditions", "progress", "captures", "parameter_figures"];
/** What the page asks by itself: nobody waits for the answer. */
const ASKED_BY_ITSELF = ["sync", "look_at_work", "look_at_parameters", "statistics"];
let panelCount = 0;

/** @type {ViewKind["messages"]} */
const CAPTURE_MESSAGES = {
  captures: (view, message, buffers) => view.add(message, buffers),
  statistics: (view, _, buffers) => view.addStatistics(buffers),
  tensor: (view, message, buffers) => view.drawTensor(message, buffers),
  code: (view, message) => view.copyCode(message),
  source: (view, message) => view.drawSource(message),
};
/** @type {ViewKind["traits"]} */
const SELECTION = [[(view, selection, histogram) => view.select(selection, histogram), ["selection", "histogram"]]];
/** @type {ViewKind["traits"]} */
const SELECTED = [[(view, index) => view.follow(index), ["selected"]]];
/** A session that has finished is watched no more; one that is ready begins with the run. @type {ViewKind["traits"][number]} */
const WATCHING = [(view, status) => view.setWatching(status.state !== "finished" || status.watching), ["status"]];
/** @type {Record<string, ViewKind>} */
const VIEW_KINDS = {
  cells: {
    title: "Cells",
    create: createTree,
    traits: [
      [(view, texts, numbers, states) => view.update(texts, numbers, states), ["tree", "tree_numbers", "tree_states"]],
      [(view, conditions) => view.setHits(conditions.cells ?? []), ["conditions"]],
      WATCHING,
    ],
  },
  captures: { title: "Captures", create: (send, go) => createCaptures(send, go), traits: [...SELECTED, ...SELECTION], messages: CAPTURE_MESSAGES },
  timeline: { title: "Timeline", create: (send, go) => createCaptures(send, go, "timeline"), traits: SELECTED, messages: CAPTURE_MESSAGES },
  tensor: { title: "Tensor", create: (send, go) => createCaptures(send, go, "tensor"), traits: SELECTION, messages: CAPTURE_MESSAGES },
  parameters: {
    title: "Parameters",
    create: createParameters,
    traits: [[(view, texts, numbers) => view.update(texts, numbers), ["parameters", "parameter_numbers"]]],
    messages: Object.fromEntries(
      ["parameter_figures", "parameter", "edit_answer"].map((type) => [type, (view, message, buffers) => view.receive(message, buffers)]),
    ),
  },
  stepper: {
    title: "Stepper",
    create: createStepper,
    traits: [
      [(view, stop) => view.update(stop), ["stop"]],
      [(view, list) => view.updateAnswers(list), ["evaluations"]],
      [(view, gradient) => view.updateGradient(gradient), ["gradient"]],
    ],
  },
  conditions: { title: "Conditions", create: createConditions, traits: [[(view, conditions) => view.update(conditions), ["conditions"]], WATCHING] },
  hooks: {
    title: "Hooks",
    create: (send, _, model) => createHooks(send, (draft) => model.set("hook_draft", draft)),
    traits: [
      [(view, hooks) => view.update(hooks), ["hooks"]],
      [(view, answer) => view.setAnswer(answer), ["hook_answer"]],
      [(view, log) => view.updateLog(log), ["hook_log"]],
      [(view, draft) => view.setDraft(draft), ["hook_draft"]],
    ],
  },
};

/**
 * @param {{model: Model, el: HTMLElement}} context
 * @returns {() => void}
 */
function render({ model, el }) {
  const id = `hs-panel-${++panelCount}`;
  const connection = watchConnection(model, drawConnection);
  const isLost = () => connection.now === "away" || connection.now === "gone";
  /** @type {Send} */
  function send(message) {
    if (isLost()) return; // a timer may still run
    try {
      model.send(message);
    } catch {
      connection.end(); // a restart closes the comm before the page says anything
      return;
    }
    if (!ASKED_BY_ITSELF.includes(message.type)) connection.asked();
  }
  /** @type {string[]} */
  const names = model.get("views");
  const alone = names.length === 1;
  /** What leads to a view is offered where there is that view. @type {Go} */
  const go = {};
  if (names.includes("cells")) go.cell = (path) => (choose("cells"), views.cells.reveal(path));
  if (names.includes("captures")) go.capture = (index) => (choose("captures"), views.captures.reveal(index));
  else if (names.includes("timeline")) go.capture = (index) => (choose("timeline"), views.timeline.reveal(index));
  if (names.includes("conditions")) go.findings = (path) => (choose("conditions"), views.conditions.filter(path));
  /** @type {Record<string, any>} */
  const views = Object.fromEntries(names.map((name) => [name, VIEW_KINDS[name].create(send, go, model)]));

  const tabs = alone ? [] : names.map((name) =>
    make("button", { type: "button", class: "hs-tab", role: "tab", id: `${id}-tab-${name}`, "aria-controls": `${id}-${name}`, text: VIEW_KINDS[name].title, onclick: () => choose(name) }),
  );
  const panels = names.map((name) => {
    const tab = alone ? {} : { role: "tabpanel", id: `${id}-${name}`, "aria-labelledby": `${id}-tab-${name}`, hidden: "" };
    return make("div", { class: "hs-panel", ...tab }, [views[name].element]);
  });
  // How much was found stands on the tab that says what to do about it, and is said with it.
  const found = make("span", { class: "hs-tab-count", "aria-hidden": "true", hidden: "" });
  const conditionsTab = tabs[names.indexOf("conditions")];
  conditionsTab?.append(found);
  // Who does not know the panel begins here: what is wrong with the network is looked for, and shown.
  const find = make("button", {
    type: "button",
    class: "hs-button",
    text: "Find faults",
    title: "Look for NaN, dead units, vanishing gradients and the like in what runs from now on",
    hidden: "",
    onclick: () => {
      send({ type: "all_conditions", on: true });
      choose("conditions");
    },
  });
  const dot = make("span", { class: "hs-dot", "aria-hidden": "true" });
  const statusText = make("span", { class: "hs-status-text" });
  const status = make("div", { class: "hs-status", role: "status", "aria-live": "polite", hidden: alone && names[0] !== "stepper" ? "" : null }, [dot, statusText]);
  const problem = make("div", { class: "hs-problem", role: "alert", hidden: "" });
  const tablist = make("div", { class: "hs-tabs", role: "tablist", "aria-label": "Debugger" }, tabs);
  const again = make("button", {
    type: "button",
    class: "hs-button",
    text: "Watch again",
    title: "Follow what later cells do with this network",
    hidden: "",
    onclick: () => send({ type: "watch_again" }),
  });
  const name = make("span", { class: "hs-title" });
  const exporting = createExport(send);
  const progress = createProgress(send);
  const lack = make("div", { class: "hs-lack", role: "alert", hidden: "" });
  // Without a kernel nothing in here does anything; the tabs still show what there is.
  const controls = make("fieldset", { class: "hs-controls", role: "none" }, [
    make("div", { class: "hs-panels" }, panels),
    ...(status.hidden ? [] : [progress.element]),
    make("div", { class: "hs-foot" }, [status, problem, ...(alone ? [] : [again, find, exporting.button])]),
  ]);
  const root = make("div", { class: "hs", role: "group", "data-alone": alone ? "" : null }, [
    ...(alone ? [] : [make("div", { class: "hs-top" }, [tablist, make("span", { class: "hs-spring" }), name])]),
    lack,
    controls,
  ]);
  el.append(root);
  const keys = createKeys(root, views.stepper);

  /** @param {string} key */
  function show(key) {
    setAttribute(root, "data-view", key);
    names.forEach((each, k) => {
      const chosen = each === key;
      if (!alone) {
        setAttribute(tabs[k], "aria-selected", chosen);
        setAttribute(tabs[k], "tabindex", chosen ? 0 : -1);
        panels[k].hidden = !chosen;
      }
      if (chosen) views[each].draw?.();
    });
  }

  let choosing = 0; // choices that Python has not answered: until then, its word is older than the person's
  /** A person chose a tab: Python brings it up to date, and remembers it for the next time it is drawn. @param {string} key */
  function choose(key) {
    show(key);
    if (isLost()) return;
    choosing += 1;
    send({ type: "show", view: key });
  }

  tablist.addEventListener("keydown", (event) => {
    const now = tabs.findIndex((tab) => tab === event.target);
    /** @type {Record<string, number>} */
    const targets = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 };
    if (now < 0 || !(event.key in targets)) return;
    event.preventDefault();
    const next = (targets[event.key] + tabs.length) % tabs.length;
    choose(names[next]);
    tabs[next].focus();
  });
  let later = 0;
  const pace = createPace();

  function drawStatus() {
    const now = model.get("status");
    setText(statusText, isLost() ? LACKS[connection.now][0] : (now.text ?? ""));
    setText(problem, now.error ?? "");
    problem.hidden = isLost() || !now.error;
    setAttribute(root, "data-state", isLost() ? "lost" : now.state);
    drawPaused();
    again.hidden = now.state !== "finished" || now.watching;
    drawFound();
    if (!runs()) pace.flush();
  }
  const runs = () => !isLost() && ["running", "watching"].includes(model.get("status").state);
  function drawPaused() {
    const paused = !isLost() && model.get("status").state === "paused";
    views.stepper?.setPaused(paused);
    keys.setPaused(paused);
  }
  /** Say at once that there is no kernel; when there is one again, catch up with it. @param {import("./connection.js").Connection} now */
  function drawConnection(now) {
    lack.hidden = now === "live";
    setText(lack, LACKS[now][1]);
    const back = controls.disabled && !isLost();
    controls.disabled = isLost();
    drawStatus();
    drawWork();
    if (isLost()) setIdle();
    if (back) greet();
  }
  const drawWork = () => progress.update(isLost() ? {} : model.get("progress"));
  /** Nothing is on its way to Python. */
  function setIdle() {
    for (const element of root.querySelectorAll(".hs-pending")) element.classList.remove("hs-pending");
  }
  function greet() {
    choosing = 0;
    drawView();
    send({ type: "hello" });
  }
  function drawTitle() {
    const title = model.get("title");
    setText(name, title);
    setAttribute(root, "aria-label", `${alone ? VIEW_KINDS[names[0]].title : "Debugger"} of ${title}`);
  }
  function drawView() {
    if (!choosing) show(model.get("view"));
  }
  function drawFound() {
    const { rows = [], findings = [] } = model.get("conditions");
    setText(found, String(findings.length));
    found.hidden = !findings.length;
    if (conditionsTab) setAttribute(conditionsTab, "aria-description", findings.length ? `${findings.length} found` : null);
    find.hidden = !conditionsTab || model.get("status").state === "finished" || rows.some((/** @type {{on: boolean}} */ row) => row.on);
  }

  /** @param {any} message @param {DataView[]} buffers */
  function receive(message, buffers) {
    connection.heard();
    if (runs() && LIVE.includes(message.type)) pace.draw("", () => give(message, buffers));
    else {
      if (message.type !== "later" && !ASKED_BY_ITSELF.includes(message.action)) pace.flush();
      give(message, buffers);
    }
  }

  /** @param {any} message @param {DataView[]} buffers */
  function give(message, buffers) {
    for (const each of names) VIEW_KINDS[each].messages?.[message.type]?.(views[each], message, buffers);
    if (message.type === "look") whetherSeen(root, (visible) => send({ type: "seen", visible }));
    else if (message.type === "export") exporting.save(message, buffers);
    else if (message.type === "later") {
      clearTimeout(later);
      later = window.setTimeout(() => send({ type: "sync" }), QUIET);
    } else if (message.type === "done") {
      if (message.action === "export") exporting.answered();
      if (message.action === "look_at_work") progress.answered();
      if (message.action === "show") choosing = Math.max(0, choosing - 1);
      setIdle();
      for (const each of names) views[each].answered?.(message.action);
      drawPaused();
    }
  }

  /** @type {[string[], () => void][]} */
  const draws = [
    [["title"], drawTitle],
    [["conditions"], drawFound],
    [["status"], drawStatus],
    [["progress"], drawWork],
    [["view"], drawView],
    ...names.flatMap((each) =>
      VIEW_KINDS[each].traits.map(([draw, traits]) => /** @type {[string[], () => void]} */ ([traits, () => draw(views[each], ...traits.map((trait) => model.get(trait)))])),
    ),
  ];
  /** @type {[string, (...args: any[]) => void][]} */
  const wires = [
    ...draws.flatMap(([traits, draw], place) => {
      const paced = traits.some((trait) => LIVE.includes(trait));
      const changed = () => (paced && runs() ? pace.draw(`${place}`, draw) : draw());
      return traits.map((trait) => /** @type {[string, () => void]} */ ([`change:${trait}`, changed]));
    }),
    ["msg:custom", receive],
  ];
  for (const [event, callback] of wires) model.on(event, callback);
  for (const [, draw] of draws) draw();
  connection.look();
  greet();

  return () => {
    send({ type: "gone" });
    for (const [event, callback] of wires) model.off(event, callback);
    connection.destroy();
    keys.destroy();
    clearTimeout(later);
    pace.destroy();
    progress.destroy();
    for (const each of names) views[each].destroy?.();
  };
}

export default { render };
