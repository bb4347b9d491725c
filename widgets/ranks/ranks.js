// The panel of ranks: their status, findings across ranks, their values in one table, and one rank's own panel. All
// state is in the model.

import { LACKS, watchConnection } from "../static/connection.js";
import { make, setAttribute, setText } from "../static/dom.js";
import { createFoot } from "../static/footer.js";
import { createKeys } from "../static/keys.js";
import { Tabs } from "../static/tabs.js";
import { Wires } from "../static/trait_bindings.js";
import { createChosen } from "./rank_panel.js";
import { createEvaluating } from "./evaluation.js";
import { createFindings } from "./findings.js";
import { createHead } from "./header.js";
import { createRows } from "./rows.js";
import { createTable } from "./table.js";

/** @typedef {import("../static/types.js").Model} Model */
/** @typedef {import("../static/ranks.js").Asked} Asked */

class Ranks {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    const send = (/** @type {Asked} */ message) => this.#send(message);
    this.connection = watchConnection(model, () => this.#drawConnection());
    this.wires = new Wires(model, [], () => false);
    this.head = createHead(send);
    this.rows = createRows();
    this.findings = createFindings(send);
    this.captures = createTable("captures", send);
    this.parameters = createTable("parameters", send);
    this.chosen = createChosen(model, send);
    this.evaluating = createEvaluating(send);
    this.tabs = new Tabs([["captures", "Captures"], ["parameters", "Parameters"], ["rank", "Rank"]], (tab) => this.#choose(tab));
    setAttribute(this.tabs.element, "aria-label", "Views of the ranks");
    this.tabs.fill("captures", this.captures.element);
    this.tabs.fill("parameters", this.parameters.element);
    this.tabs.fill("rank", this.chosen.element);
    this.foot = createFoot([]);
    this.lack = make("div", { class: "hs-lack", role: "alert", hidden: "" });
    // Without a kernel all controls are disabled; the tabs still show their content.
    this.top = make("fieldset", { class: "hs-controls", role: "none" }, [this.head.element, this.rows.element, this.findings.element]);
    this.controls = make("fieldset", { class: "hs-controls", role: "none" }, [
      make("div", { class: "hs-ranks-panels" }, this.tabs.panels),
      this.evaluating.element,
      this.foot.element,
    ]);
    this.root = make("div", { class: "hs hs-ranks", role: "group", "data-alone": "" }, [
      this.lack,
      this.top,
      make("div", { class: "hs-top" }, [this.tabs.element]),
      this.controls,
    ]);
    this.keys = createKeys(this.root, undefined);
    this.#wire();
  }

  #wire() {
    const { wires } = this;
    wires.add(["title"], (title) => {
      this.head.setTitle(title);
      setAttribute(this.root, "aria-label", `Ranks of ${title}`);
    });
    wires.add(["status"], () => this.#drawStatus());
    wires.add(["ranks"], (rows) => {
      this.rows.draw(rows);
      this.chosen.drawRanks(rows);
      this.evaluating.drawRanks(rows);
    });
    wires.add(["findings"], (found) => this.findings.draw(found));
    wires.add(["captures"], (table) => this.captures.draw(table));
    wires.add(["parameters"], (table) => this.parameters.draw(table));
    wires.add(["chosen"], (chosen) => this.chosen.draw(chosen));
    wires.add(["answers"], (answers) => this.evaluating.draw(answers));
    wires.add(["tab"], (tab) => this.tabs.show(tab));
    wires.connect("msg:custom", () => this.connection.heard());
  }

  /** Draw everything after the panel was added to the page. */
  begin() {
    this.wires.begin();
    this.connection.look();
    this.#send({ type: "hello" });
  }

  #isLost() {
    return this.connection.now === "away" || this.connection.now === "gone";
  }

  /** @param {Asked} message */
  #send(message) {
    if (this.#isLost()) return;
    try {
      this.model.send(message);
    } catch {
      this.connection.end(); // a restart closes the comm before the page reports it
      return;
    }
    this.connection.asked();
  }

  /** @param {string} tab */
  #choose(tab) {
    this.tabs.show(tab);
    this.#send({ type: "show", tab });
  }

  #drawStatus() {
    const now = this.model.get("status");
    const lost = this.#isLost();
    this.head.draw(lost ? { ...now, text: LACKS[this.connection.now][0] } : now);
    this.foot.update(lost ? "" : (now.error ?? ""));
    setAttribute(this.root, "data-stands", lost ? "lost" : now.state);
  }

  #drawConnection() {
    const { now } = this.connection;
    this.lack.hidden = now === "live";
    setText(this.lack, LACKS[now][1]);
    const back = this.controls.disabled && !this.#isLost();
    this.controls.disabled = this.top.disabled = this.#isLost();
    this.#drawStatus();
    if (back) this.#send({ type: "hello" });
  }

  destroy() {
    this.wires.destroy();
    this.connection.destroy();
    this.keys.destroy();
    this.chosen.destroy();
    this.captures.destroy();
    this.parameters.destroy();
  }
}

/**
 * @param {{model: Model, el: HTMLElement}} context
 * @returns {() => void}
 */
function render({ model, el }) {
  const ranks = new Ranks(model);
  el.append(ranks.root);
  ranks.begin();
  return () => ranks.destroy();
}

export default { render };
