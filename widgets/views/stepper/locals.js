// The local variables of a stop, one of which can be selected; changes since the previous stop are marked.

import { make } from "../../static/dom.js";

/** @param {(name: string) => void} select */
export function createLocals(select) {
  const rows = make("tbody");
  let selected = "";
  /** @type {import("../../static/python.js").Local[]} */
  let locals = [];

  function draw() {
    const { activeElement } = rows.ownerDocument;
    const focused = rows.contains(activeElement) ? activeElement?.getAttribute("data-local") : null;
    rows.replaceChildren(...locals.map((local) => row(local, local.name === selected, select)));
    if (focused) [...rows.querySelectorAll("button")].find((one) => one.dataset.local === focused)?.focus({ preventScroll: true });
  }

  return {
    // A long table scrolls separately, so that the parts below stay in reach.
    element: make("div", { class: "hs-locals-room" }, [
      make("table", { class: "hs-locals" }, [
        make("caption", { text: "Locals" }),
        make("colgroup", {}, [make("col", { class: "hs-locals-names" }), make("col")]),
        make("thead", {}, [make("tr", {}, [make("th", { scope: "col", text: "name" }), make("th", { scope: "col", text: "value" })])]),
        rows,
      ]),
    ]),
    /** @param {import("../../static/python.js").Local[]} now */
    update(now) {
      locals = now;
      draw();
    },
    /** @param {string} name */
    setSelected(name) {
      if (name === selected) return;
      selected = name;
      draw();
    },
  };
}

/** @param {import("../../static/python.js").Local} local @param {boolean} isSelected @param {(name: string) => void} select */
function row({ name, value, changed }, isSelected, select) {
  const button = make("button", { type: "button", class: "hs-local-name", "aria-pressed": isSelected, "data-local": name, text: name, title: `${name}: show it as a picture`, onclick: () => select(isSelected ? "" : name) });
  const nameLine = make("div", { class: "hs-local" }, [button]);
  if (changed) nameLine.append(" ", make("span", { class: "hs-changed", role: "img", "aria-label": "changed", title: "changed since the last stop", text: "●" }));
  const kind = [changed ? "hs-is-changed" : "", isSelected ? "hs-is-selected" : ""].join(" ").trim();
  return make("tr", { class: kind }, [make("th", { scope: "row" }, [nameLine]), make("td", { text: value, title: value, onclick: () => select(isSelected ? "" : name) })]);
}
