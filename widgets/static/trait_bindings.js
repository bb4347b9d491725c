// Drawing functions of the model's traits; traits that a run changes repeatedly are drawn at a limited rate.

import { createPace } from "./pace.js";

/** @typedef {import("./types.js").Model} Model */

export class TraitBindings {
  /**
   * @param {Model} model
   * @param {string[]} live traits and messages that a run sends repeatedly
   * @param {() => boolean} runs returns whether a run does so now
   */
  constructor(model, live, runs) {
    this.model = model;
    this.live = new Set(live);
    this.runs = runs;
    this.pace = createPace();
    /** @type {(() => void)[]} */
    this.draws = [];
    /** @type {[string, (...args: any[]) => void][]} */
    this.listeners = [];
  }

  /** Draw from these traits when `begin` is called and at each change. @param {string[]} traits @param {(...values: any[]) => void} draw */
  add(traits, draw) {
    const key = String(this.draws.length);
    const drawNow = () => draw(...traits.map((trait) => this.model.get(trait)));
    const isPaced = traits.some((trait) => this.live.has(trait));
    this.draws.push(drawNow);
    for (const trait of traits) this.connect(`change:${trait}`, () => (isPaced && this.runs() ? this.pace.draw(key, drawNow) : drawNow()));
  }

  /** @param {string} event @param {(...args: any[]) => void} callback */
  connect(event, callback) {
    this.model.on(event, callback);
    this.listeners.push([event, callback]);
  }

  begin() {
    for (const draw of this.draws) draw();
  }

  /** Handle a message: after deferred drawings, or together with them if it is one of many. @param {string} type @param {boolean} isReply @param {() => void} act */
  receive(type, isReply, act) {
    if (this.runs() && this.live.has(type)) return this.pace.draw("", act);
    if (isReply) this.pace.flush();
    act();
  }

  destroy() {
    for (const [event, callback] of this.listeners) this.model.off(event, callback);
    this.pace.destroy();
  }
}
