// The panel: its views, as tabs below a common heading or a single one, and the messages between them and Python. All
// state is in the model; a newly drawn view sends "hello" and receives the data that is too large for the model.

import { NOTES, watchConnection } from "./connection.js";
import { make, setAttribute, setText } from "./dom.js";
import { createExport } from "./download.js";
import { createFooter } from "./footer.js";
import { createHeader } from "./header.js";
import { createRetained } from "./retained.js";
import { createKeys } from "./keys.js";
import { createSigns } from "./pauses/signs.js";
import { createProgress } from "./progress.js";
import { reportVisibility } from "./visibility.js";
import { createStatus } from "./status.js";
import { Tabs } from "./tabs.js";
import { PANEL, VIEWS } from "./views.js";
import { TraitBindings } from "./trait_bindings.js";

/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Go} Go */
/** @typedef {import("./types.js").Send} Send */
/** @typedef {import("./types.js").ViewPart} ViewPart */

/** Milliseconds of silence after Python's notice of more data, before the page requests it. */
const QUIET = 1000;

class Panel {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {string[]} */
    this.names = model.get("views");
    this.isSingle = this.names.length === 1;
    const kinds = [PANEL, ...this.names.map((name) => VIEWS[name])];
    /** Requests that the page sends by itself, without a user who waits for the reply. */
    this.background = new Set(kinds.flatMap((kind) => kind.background));
    this.pendingChoices = 0; // selections that Python has not confirmed; until then the model's view is outdated
    this.isResuming = false; // a command that resumes the run is pending, so the pause in the model is outdated
    this.syncTimer = 0;
    this.send = /** @type {Send} */ ((message) => this.#send(message));
    this.connection = watchConnection(model, (now) => this.#drawConnection(now));
    this.bindings = new TraitBindings(model, kinds.flatMap((kind) => kind.live), () => this.#runs());
    this.tabs = new Tabs(this.names.map((name) => [name, VIEWS[name].title]), (name) => this.choose(name));
    this.parts = this.#makeParts();
    const parts = Object.values(this.parts);
    const quiet = this.isSingle && !parts[0].setPaused; // the status is shown where a user waits for the run
    this.status = createStatus();
    this.exporting = createExport(this.send);
    this.watchButton = make("button", { type: "button", class: "hs-button hs-primary", text: "Watch again", title: "Follow this network in later cells", hidden: "", onclick: () => this.send({ type: "watch_again" }) });
    this.header = createHeader(this.status.element, [...parts.flatMap((part) => part.next ?? []), this.watchButton], this.exporting.button);
    this.retained = createRetained(this.send);
    this.footer = createFooter(this.isSingle && !quiet ? [this.status.element] : []);
    this.progress = createProgress(this.send);
    this.connectionNote = make("div", { class: "hs-lack", role: "alert", hidden: "" });
    // Without a kernel all controls are disabled; the tabs still show their content.
    this.controls = make("fieldset", { class: "hs-controls", role: "none" }, [
      make("div", { class: "hs-panels" }, this.tabs.panels),
      ...(quiet ? [] : [this.progress.element]),
      this.footer.element,
    ]);
    this.top = make("fieldset", { class: "hs-controls", role: "none" }, [this.header.element, this.retained.element]);
    this.root = make("div", { class: "hs", role: "group", "data-alone": this.isSingle ? "" : null }, [
      ...(this.isSingle ? [] : [this.top, make("div", { class: "hs-top" }, [this.tabs.element])]),
      this.connectionNote,
      this.controls,
    ]);
    this.keys = createKeys(this.root, Object.values(this.parts).find((part) => part.keys)?.keys);
    const stepper = this.names.find((name) => this.parts[name].keys);
    this.signs = stepper ? createSigns(this.root, model, () => this.choose(stepper)) : null;
    this.#wire();
  }

  /** @returns {Record<string, ViewPart>} */
  #makeParts() {
    /** Links to a view are offered only if the panel contains it. @type {Go} */
    const go = {};
    for (const name of [...this.names].reverse()) {
      const kind = VIEWS[name].leads_to;
      if (kind) go[kind] = (target) => (this.choose(name), this.parts[name].reveal?.(target));
    }
    return Object.fromEntries(
      this.names.map((name) => {
        const part = VIEWS[name].create({
          send: this.send,
          go,
          open: () => this.choose(name),
          count: (count) => this.#count(name, count),
          keep: (trait, value) => this.model.set(trait, value),
        });
        this.tabs.fill(name, part.element);
        return [name, part];
      }),
    );
  }

  /** Show the number of findings on the view's tab, and above all views. @param {string} name @param {number} count */
  #count(name, count) {
    this.tabs.count(name, count);
    this.header.count(count, () => this.choose(name));
  }

  #wire() {
    this.bindings.add(["title"], (title) => this.#drawTitle(title));
    this.bindings.add(["status"], () => this.#drawStatus());
    this.bindings.add(["heading"], (now) => this.header.update(now));
    this.bindings.add(["retained"], (now) => this.retained.update(now));
    this.bindings.add(["progress"], () => this.#drawWork());
    this.bindings.add(["view"], () => this.#drawView());
    for (const part of Object.values(this.parts)) for (const [traits, draw] of part.traits ?? []) this.bindings.add(traits, draw);
    this.bindings.connect("msg:custom", (message, buffers) => this.#receive(message, buffers));
  }

  /** Draw everything after the panel was added to the page. */
  begin() {
    this.bindings.begin();
    this.connection.look();
    this.#greet();
  }

  #isLost() {
    return this.connection.now === "away" || this.connection.now === "gone";
  }

  #runs() {
    return !this.#isLost() && ["running", "watching"].includes(this.model.get("status").state);
  }

  /** @param {Parameters<Send>[0]} message */
  #send(message) {
    if (this.#isLost()) return; // a timer may still be running
    try {
      this.model.send(message);
    } catch {
      this.connection.end(); // a restart closes the comm before the page reports it
      return;
    }
    if (message.type === "resume") this.#resumes();
    if (!this.background.has(message.type)) this.connection.requestSent();
  }

  /** Disable the commands until Python reports the next stop. */
  #resumes() {
    this.isResuming = true;
    for (const part of Object.values(this.parts)) part.setPaused?.(false);
  }

  /** @param {string} name */
  #show(name) {
    setAttribute(this.root, "data-view", name);
    this.tabs.show(name);
    this.parts[name]?.draw?.();
  }

  /** Handle the user's selection of a tab: Python updates the view, and remembers it for the next drawing. @param {string} name */
  choose(name) {
    this.#show(name);
    if (this.#isLost()) return;
    this.pendingChoices += 1;
    this.send({ type: "show", view: name });
  }

  #greet() {
    this.pendingChoices = 0;
    this.#drawView();
    this.send({ type: "hello" });
  }

  #drawView() {
    if (!this.pendingChoices) this.#show(this.model.get("view"));
  }

  /** @param {string} title */
  #drawTitle(title) {
    this.header.setTitle(title);
    setAttribute(this.root, "aria-label", `${this.isSingle ? VIEWS[this.names[0]].title : "Debugger"} of ${title}`);
  }

  #drawStatus() {
    const now = this.model.get("status");
    if (this.#isLost()) this.status.update(NOTES[this.connection.now][0], NOTES[this.connection.now][0]);
    else this.status.update(now.text ?? "", now.full ?? "");
    this.footer.update(this.#isLost() ? "" : (now.error ?? ""));
    this.watchButton.hidden = now.state !== "finished" || Boolean(now.watching);
    if (now.state !== "paused" || this.#isLost()) this.isResuming = false;
    setAttribute(this.root, "data-state", this.#isLost() ? "lost" : now.state);
    setAttribute(this.root, "data-failed", now.failed && !this.#isLost() ? "" : null);
    this.#drawPaused();
    if (!this.#runs()) this.bindings.pace.flush();
  }

  #drawPaused() {
    const paused = !this.#isLost() && this.model.get("status").state === "paused" && !this.isResuming;
    for (const part of Object.values(this.parts)) part.setPaused?.(paused);
    this.keys.setPaused(paused);
    this.signs?.setPaused(paused, this.model.get("status"), this.model.get("title"));
  }

  #drawWork() {
    this.progress.update(this.#isLost() ? {} : this.model.get("progress"));
  }

  /** Show a lost connection at once; when it is restored, request the current state. @param {import("./connection.js").Connection} now */
  #drawConnection(now) {
    this.connectionNote.hidden = now === "live";
    setText(this.connectionNote, NOTES[now][1]);
    const back = this.controls.disabled && !this.#isLost();
    this.controls.disabled = this.top.disabled = this.#isLost();
    this.#drawStatus();
    this.#drawWork();
    if (this.#isLost()) this.#setIdle();
    if (back) this.#greet();
  }

  /** Clear the marks of pending requests. */
  #setIdle() {
    for (const element of this.root.querySelectorAll(".hs-pending")) element.classList.remove("hs-pending");
  }

  /** @param {any} message @param {DataView[]} buffers */
  #receive(message, buffers) {
    this.connection.messageReceived();
    const isReply = message.type !== "backlog" && !this.background.has(message.action);
    this.bindings.receive(message.type, isReply, () => this.#give(message, buffers));
  }

  /** @param {import("./types.js").Sent} message @param {DataView[]} buffers */
  #give(message, buffers) {
    for (const part of Object.values(this.parts)) {
      const act = /** @type {((message: unknown, buffers: DataView[]) => void) | undefined} */ (part.messages?.[message.type]);
      act?.(message, buffers);
    }
    if (message.type === "look") reportVisibility(this.root, (visible) => this.send({ type: "seen", visible }));
    else if (message.type === "export") this.exporting.save(message, buffers);
    else if (message.type === "done") this.#confirmed(message.action);
    else if (message.type === "backlog") {
      clearTimeout(this.syncTimer);
      this.syncTimer = window.setTimeout(() => this.send({ type: "sync" }), QUIET);
    }
  }

  /** Handle Python's confirmation of a message. @param {string} action */
  #confirmed(action) {
    if (action === "export") this.exporting.confirmed();
    if (action === "look_at_work") this.progress.confirmed();
    if (action === "show") this.pendingChoices = Math.max(0, this.pendingChoices - 1);
    if (action === "resume") this.isResuming = false;
    this.#setIdle();
    for (const part of Object.values(this.parts)) part.confirmed?.(action);
    this.#drawPaused();
  }

  destroy() {
    this.send({ type: "gone" });
    this.bindings.destroy();
    this.connection.destroy();
    this.keys.destroy();
    this.signs?.destroy();
    clearTimeout(this.syncTimer);
    this.progress.destroy();
    for (const part of Object.values(this.parts)) part.destroy?.();
  }
}

/**
 * @param {{model: Model, el: HTMLElement}} context
 * @returns {() => void}
 */
function render({ model, el }) {
  const panel = new Panel(model);
  el.append(panel.root);
  panel.begin();
  return () => panel.destroy();
}

export default { render };
