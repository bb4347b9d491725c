// The tabs of a panel and their contents; a single view has no tab.

import { make, newId, setAttribute, setText } from "./dom.js";

export class Tabs {
  /** @param {[string, string][]} views names and titles @param {(name: string) => void} choose */
  constructor(views, choose) {
    this.names = views.map(([name]) => name);
    this.isSingle = views.length === 1;
    this.choose = choose;
    const id = newId("hs-panel");
    this.tabs = this.isSingle ? [] : views.map(([name, text]) =>
      make("button", { type: "button", class: "hs-tab", role: "tab", id: `${id}-tab-${name}`, "aria-controls": `${id}-${name}`, text, onclick: () => choose(name) }),
    );
    this.panels = this.names.map((name) => {
      const tab = this.isSingle ? {} : { role: "tabpanel", id: `${id}-${name}`, "aria-labelledby": `${id}-tab-${name}`, hidden: "" };
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
      const isSelected = this.names[k] === name;
      setAttribute(tab, "aria-selected", isSelected);
      setAttribute(tab, "tabindex", isSelected ? 0 : -1);
      this.panels[k].hidden = !isSelected;
    });
  }

  /** Show on a tab the number of findings in its view; screen readers get it as the tab's description. @param {string} name @param {number} count */
  count(name, count) {
    const tab = this.tabs[this.names.indexOf(name)];
    if (!tab) return;
    let badge = tab.querySelector("span");
    if (!badge) tab.append((badge = make("span", { class: "hs-tab-count", "aria-hidden": "true" })));
    setText(badge, String(count));
    badge.hidden = !count;
    setAttribute(tab, "aria-description", count ? `${count} found` : null);
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    const position = this.tabs.findIndex((tab) => tab === event.target);
    /** @type {Record<string, number>} */
    const targets = { ArrowRight: position + 1, ArrowLeft: position - 1, Home: 0, End: this.tabs.length - 1 };
    if (position < 0 || !(event.key in targets)) return;
    event.preventDefault();
    const next = (targets[event.key] + this.tabs.length) % this.tabs.length;
    this.choose(this.names[next]);
    this.tabs[next].focus();
  }
}
