// The panel of ranks: their status, findings across ranks, their values in one table, and one rank's own panel. All
// state is in the model.

import { NOTES, watchConnection } from "../static/connection.js";
import { make, setAttribute, setText } from "../static/dom.js";
import { createFooter } from "../static/footer.js";
import { createKeys } from "../static/keys.js";
import { Tabs } from "../static/tabs.js";
import { TraitBindings } from "../static/trait_bindings.js";
import { createRankPanel } from "./rank_panel.js";
import { createEvaluation } from "./evaluation.js";
import { createFindings } from "./findings.js";
import { createHeader } from "./header.js";
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
    this.bindings = new TraitBindings(model, [], () => false);
    this.header = createHeader(send);
    this.rows = createRows();
    this.findings = createFindings(send);
    this.captures = createTable("captures", send);
    this.parameters = createTable("parameters", send);
    this.rankPanel = createRankPanel(model, send);
    this.evaluation = createEvaluation(send);
    this.tabs = new Tabs([["captures", "Captures"], ["parameters", "Parameters"], ["rank", "Rank"]], (tab) => this.#choose(tab));
    setAttribute(this.tabs.strip, "aria-label", "Views of the ranks");
    this.tabs.fill("captures", this.captures.element);
    this.tabs.fill("parameters", this.parameters.element);
    this.tabs.fill("rank", this.rankPanel.element);
    this.footer = createFooter([]);
    this.connectionNote = make("div", { class: "hs-lack", role: "alert", hidden: "" });
    // Without a kernel all controls are disabled; the tabs still show their content.
    this.top = make("fieldset", { class: "hs-controls", role: "none" }, [this.header.element, this.rows.element, this.findings.element]);
    this.controls = make("fieldset", { class: "hs-controls", role: "none" }, [
      make("div", { class: "hs-ranks-panels" }, this.tabs.panels),
      this.evaluation.element,
      this.footer.element,
    ]);
    this.root = make("div", { class: "hs hs-ranks", role: "group", "data-alone": "" }, [
      this.connectionNote,
      this.top,
      make("div", { class: "hs-top" }, [this.tabs.element]),
      this.controls,
    ]);
    this.keys = createKeys(this.root, undefined);
    this.#wire();
  }

  #wire() {
    const { bindings } = this;
    bindings.add(["title"], (title) => {
      this.header.setTitle(title);
      setAttribute(this.root, "aria-label", `Ranks of ${title}`);
    });
    bindings.add(["status"], () => this.#drawStatus());
    bindings.add(["ranks"], (rows) => {
      this.rows.draw(rows);
      this.rankPanel.drawRanks(rows);
      this.evaluation.drawRanks(rows);
    });
    bindings.add(["findings"], (findings) => this.findings.draw(findings));
    bindings.add(["captures"], (table) => this.captures.draw(table));
    bindings.add(["parameters"], (table) => this.parameters.draw(table));
    bindings.add(["chosen"], (rankPanel) => this.rankPanel.draw(rankPanel));
    bindings.add(["answers"], (answers) => this.evaluation.draw(answers));
    bindings.add(["tab"], (tab) => this.tabs.show(tab));
    bindings.connect("msg:custom", () => this.connection.messageReceived());
  }

  /** Draw everything after the panel was added to the page. */
  begin() {
    this.bindings.begin();
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
    this.connection.requestSent();
  }

  /** @param {string} tab */
  #choose(tab) {
    this.tabs.show(tab);
    this.#send({ type: "show", tab });
  }

  #drawStatus() {
    const now = this.model.get("status");
    const lost = this.#isLost();
    this.header.draw(lost ? { ...now, text: NOTES[this.connection.now][0] } : now);
    this.footer.update(lost ? "" : (now.error ?? ""));
    setAttribute(this.root, "data-stands", lost ? "lost" : now.state);
  }

  #drawConnection() {
    const { now } = this.connection;
    this.connectionNote.hidden = now === "live";
    setText(this.connectionNote, NOTES[now][1]);
    const back = this.controls.disabled && !this.#isLost();
    this.controls.disabled = this.top.disabled = this.#isLost();
    this.#drawStatus();
    if (back) this.#send({ type: "hello" });
  }

  destroy() {
    this.bindings.destroy();
    this.connection.destroy();
    this.keys.destroy();
    this.rankPanel.destroy();
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
