// The tabs of a panel and their contents; a single view has no tab.

import { make, newId, setAttribute, setText } from "./dom.js";

export class Tabs {
  /** @param {[string, string][]} views names and titles @param {(name: string) => void} choose */
  constructor(views, choose) {
    this.names = views.map(([name]) => name);
    this.alone = views.length === 1;
    this.choose = choose;
    const id = newId("hs-panel");
    this.tabs = this.alone ? [] : views.map(([name, text]) =>
      make("button", { type: "button", class: "hs-tab", role: "tab", id: `${id}-tab-${name}`, "aria-controls": `${id}-${name}`, text, onclick: () => choose(name) }),
    );
    this.panels = this.names.map((name) => {
      const tab = this.alone ? {} : { role: "tabpanel", id: `${id}-${name}`, "aria-labelledby": `${id}-tab-${name}`, hidden: "" };
      return make("div", { class: "hs-panel", ...tab });
    });
    this.element = make("div", { class: "hs-tabs", role: "tablist", "aria-label": "Debugger", onkeydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event) }, this.tabs);
  }

  /** @param {string} name @param {HTMLElement} element */
  fill(name, element) {
    this.panels[this.names.indexOf(name)].append(element);
  }

  /** @param {string} name */
  show(name) {
    this.tabs.forEach((tab, k) => {
      const chosen = this.names[k] === name;
      setAttribute(tab, "aria-selected", chosen);
      setAttribute(tab, "tabindex", chosen ? 0 : -1);
      this.panels[k].hidden = !chosen;
    });
  }

  /** Show on a tab the number of findings in its view; screen readers get it as the tab's description. @param {string} name @param {number} found */
  count(name, found) {
    const tab = this.tabs[this.names.indexOf(name)];
    if (!tab) return;
    let count = tab.querySelector("span");
    if (!count) tab.append((count = make("span", { class: "hs-tab-count", "aria-hidden": "true" })));
    setText(count, String(found));
    count.hidden = !found;
    setAttribute(tab, "aria-description", found ? `${found} found` : null);
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    const now = this.tabs.findIndex((tab) => tab === event.target);
    /** @type {Record<string, number>} */
    const targets = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: this.tabs.length - 1 };
    if (now < 0 || !(event.key in targets)) return;
    event.preventDefault();
    const next = (targets[event.key] + this.tabs.length) % this.tabs.length;
    this.choose(this.names[next]);
    this.tabs[next].focus();
  }
}
