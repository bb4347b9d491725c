// The tabs of a panel and their contents; a single view has no tab. Where there is no room for all tabs the strip
// scrolls, and an arrow at either end shows that there are more.

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
    this.strip = make("div", { class: "hs-tabs", role: "tablist", "aria-label": "Debugger", onscroll: () => this.#drawArrows(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event) }, this.tabs);
    this.arrows = [-1, 1].map((side) =>
      make("button", { type: "button", class: "hs-tabs-more", tabindex: "-1", "aria-hidden": "true", hidden: "", text: side < 0 ? "‹" : "›", onclick: () => this.strip.scrollBy({ left: side * this.strip.clientWidth * 0.6 }) }),
    );
    this.element = make("div", { class: "hs-tabs-frame" }, [this.arrows[0], this.strip, this.arrows[1]]);
    new ResizeObserver(() => {
      this.#drawArrows();
      this.#reveal(this.tabs.find((tab) => tab.getAttribute("aria-selected") === "true"));
    }).observe(this.strip);
  }

  #drawArrows() {
    const { scrollLeft, scrollWidth, clientWidth } = this.strip;
    // The widths are rounded, each by itself: together by less than 2 pixels.
    this.arrows[0].hidden = scrollLeft < 2;
    this.arrows[1].hidden = scrollLeft + clientWidth > scrollWidth - 2;
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
      if (isSelected) this.#reveal(tab);
    });
  }

  /** Scroll the strip, and nothing else, so that a tab is in it. @param {HTMLElement} [tab] */
  #reveal(tab) {
    if (!tab) return;
    const start = tab.offsetLeft - this.strip.offsetLeft;
    const { scrollLeft, clientWidth } = this.strip;
    if (start < scrollLeft) this.strip.scrollLeft = start;
    else if (start + tab.offsetWidth > scrollLeft + clientWidth) this.strip.scrollLeft = start + tab.offsetWidth - clientWidth;
  }

  /** Show on a tab the number of findings in its view; screen readers get it as the tab's description. @param {string} name @param {number} count */
  count(name, count) {
    const tab = this.tabs[this.names.indexOf(name)];
    if (!tab) return;
    let badge = tab.querySelector("span");
    if (!badge) tab.append((badge = make("span", { class: "hs-tab-count", "aria-hidden": "true" })));
    setText(badge, String(count));
    badge.hidden = !count;
    this.#drawArrows();
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
