// The panel: its views, as tabs below a common heading or a single one, and the messages between them and Python. All
// state is in the model; a newly drawn view sends "hello" and receives the data that is too large for the model.

import { LACKS, watchConnection } from "./connection.js";
import { make, setAttribute, setText } from "./dom.js";
import { createExport } from "./download.js";
import { createFoot } from "./footer.js";
import { createHead } from "./header.js";
import { createKeys } from "./keys.js";
import { createProgress } from "./progress.js";
import { whetherSeen } from "./visibility.js";
import { createStatus } from "./status.js";
import { Tabs } from "./tabs.js";
import { PANEL, VIEWS } from "./views.js";
import { Wires } from "./trait_bindings.js";

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
    this.alone = this.names.length === 1;
    const kinds = [PANEL, ...this.names.map((name) => VIEWS[name])];
    /** Requests that the page sends by itself, without a user who waits for the reply. */
    this.background = new Set(kinds.flatMap((kind) => kind.background));
    this.choosing = 0; // selections that Python has not confirmed; until then the model's view is outdated
    this.goesOn = false; // a command that resumes the run is pending, so the pause in the model is outdated
    this.later = 0;
    this.send = /** @type {Send} */ ((message) => this.#send(message));
    this.connection = watchConnection(model, (now) => this.#drawConnection(now));
    this.wires = new Wires(model, kinds.flatMap((kind) => kind.live), () => this.#runs());
    this.tabs = new Tabs(this.names.map((name) => [name, VIEWS[name].title]), (name) => this.choose(name));
    this.parts = this.#makeParts();
    const parts = Object.values(this.parts);
    const quiet = this.alone && !parts[0].setPaused; // the status is shown where a user waits for the run
    this.status = createStatus();
    this.exporting = createExport(this.send);
    this.again = make("button", { type: "button", class: "hs-button hs-primary", text: "Watch again", title: "Follow what later cells do with this network", hidden: "", onclick: () => this.send({ type: "watch_again" }) });
    this.head = createHead(this.status.element, [...parts.flatMap((part) => part.next ?? []), this.again], this.exporting.button);
    this.foot = createFoot(this.alone && !quiet ? [this.status.element] : []);
    this.progress = createProgress(this.send);
    this.lack = make("div", { class: "hs-lack", role: "alert", hidden: "" });
    // Without a kernel all controls are disabled; the tabs still show their content.
    this.controls = make("fieldset", { class: "hs-controls", role: "none" }, [
      make("div", { class: "hs-panels" }, this.tabs.panels),
      ...(quiet ? [] : [this.progress.element]),
      this.foot.element,
    ]);
    this.top = make("fieldset", { class: "hs-controls", role: "none" }, [this.head.element]);
    this.root = make("div", { class: "hs", role: "group", "data-alone": this.alone ? "" : null }, [
      ...(this.alone ? [] : [this.top, make("div", { class: "hs-top" }, [this.tabs.element])]),
      this.lack,
      this.controls,
    ]);
    this.keys = createKeys(this.root, Object.values(this.parts).find((part) => part.keys)?.keys);
    this.#wire();
  }

  /** @returns {Record<string, ViewPart>} */
  #makeParts() {
    /** Links to a view are offered only if the panel contains it. @type {Go} */
    const go = {};
    for (const name of [...this.names].reverse()) {
      const what = VIEWS[name].leads_to;
      if (what) go[what] = (there) => (this.choose(name), this.parts[name].reveal?.(there));
    }
    return Object.fromEntries(
      this.names.map((name) => {
        const part = VIEWS[name].create({
          send: this.send,
          go,
          open: () => this.choose(name),
          count: (found) => this.#count(name, found),
          keep: (trait, value) => this.model.set(trait, value),
        });
        this.tabs.fill(name, part.element);
        return [name, part];
      }),
    );
  }

  /** Show the number of findings on the view's tab, and above all views. @param {string} name @param {number} found */
  #count(name, found) {
    this.tabs.count(name, found);
    this.head.count(found, () => this.choose(name));
  }

  #wire() {
    this.wires.add(["title"], (title) => this.#drawTitle(title));
    this.wires.add(["status"], () => this.#drawStatus());
    this.wires.add(["heading"], (now) => this.head.update(now));
    this.wires.add(["progress"], () => this.#drawWork());
    this.wires.add(["view"], () => this.#drawView());
    for (const part of Object.values(this.parts)) for (const [traits, draw] of part.traits ?? []) this.wires.add(traits, draw);
    this.wires.connect("msg:custom", (message, buffers) => this.#receive(message, buffers));
  }

  /** Draw everything after the panel was added to the page. */
  begin() {
    this.wires.begin();
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
    if (!this.background.has(message.type)) this.connection.asked();
  }

  /** Disable the commands until Python reports the next stop. */
  #resumes() {
    this.goesOn = true;
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
    this.choosing += 1;
    this.send({ type: "show", view: name });
  }

  #greet() {
    this.choosing = 0;
    this.#drawView();
    this.send({ type: "hello" });
  }

  #drawView() {
    if (!this.choosing) this.#show(this.model.get("view"));
  }

  /** @param {string} title */
  #drawTitle(title) {
    this.head.setTitle(title);
    setAttribute(this.root, "aria-label", `${this.alone ? VIEWS[this.names[0]].title : "Debugger"} of ${title}`);
  }

  #drawStatus() {
    const now = this.model.get("status");
    this.status.update(this.#isLost() ? LACKS[this.connection.now][0] : (now.text ?? ""));
    this.foot.update(this.#isLost() ? "" : (now.error ?? ""));
    this.again.hidden = now.state !== "finished" || Boolean(now.watching);
    if (now.state !== "paused" || this.#isLost()) this.goesOn = false;
    setAttribute(this.root, "data-state", this.#isLost() ? "lost" : now.state);
    this.#drawPaused();
    if (!this.#runs()) this.wires.pace.flush();
  }

  #drawPaused() {
    const paused = !this.#isLost() && this.model.get("status").state === "paused" && !this.goesOn;
    for (const part of Object.values(this.parts)) part.setPaused?.(paused);
    this.keys.setPaused(paused);
  }

  #drawWork() {
    this.progress.update(this.#isLost() ? {} : this.model.get("progress"));
  }

  /** Show a lost connection at once; when it is restored, request the current state. @param {import("./connection.js").Connection} now */
  #drawConnection(now) {
    this.lack.hidden = now === "live";
    setText(this.lack, LACKS[now][1]);
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
    this.connection.heard();
    const awaited = message.type !== "later" && !this.background.has(message.action);
    this.wires.receive(message.type, awaited, () => this.#give(message, buffers));
  }

  /** @param {import("./types.js").Sent} message @param {DataView[]} buffers */
  #give(message, buffers) {
    for (const part of Object.values(this.parts)) {
      const act = /** @type {((message: unknown, buffers: DataView[]) => void) | undefined} */ (part.messages?.[message.type]);
      act?.(message, buffers);
    }
    if (message.type === "look") whetherSeen(this.root, (visible) => this.send({ type: "seen", visible }));
    else if (message.type === "export") this.exporting.save(message, buffers);
    else if (message.type === "done") this.#answered(message.action);
    else if (message.type === "later") {
      clearTimeout(this.later);
      this.later = window.setTimeout(() => this.send({ type: "sync" }), QUIET);
    }
  }

  /** Handle Python's confirmation of a message. @param {string} action */
  #answered(action) {
    if (action === "export") this.exporting.answered();
    if (action === "look_at_work") this.progress.answered();
    if (action === "show") this.choosing = Math.max(0, this.choosing - 1);
    if (action === "resume") this.goesOn = false;
    this.#setIdle();
    for (const part of Object.values(this.parts)) part.answered?.(action);
    this.#drawPaused();
  }

  destroy() {
    this.send({ type: "gone" });
    this.wires.destroy();
    this.connection.destroy();
    this.keys.destroy();
    clearTimeout(this.later);
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
