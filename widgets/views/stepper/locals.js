// The local variables of a stop; those that changed since the last one are marked.

import { make } from "../../static/dom.js";

export function createLocals() {
  const rows = make("tbody");
  return {
    element: make("table", { class: "hs-locals" }, [
      make("caption", { text: "Locals" }),
      make("colgroup", {}, [make("col", { class: "hs-locals-names" }), make("col")]),
      make("thead", {}, [make("tr", {}, [make("th", { scope: "col", text: "name" }), make("th", { scope: "col", text: "value" })])]),
      rows,
    ]),
    /** @param {import("../../static/python.js").Local[]} locals */
    update: (locals) => rows.replaceChildren(...locals.map(row)),
  };
}

/** @param {import("../../static/python.js").Local} local */
function row({ name, value, changed }) {
  const shown = make("div", { class: "hs-local" }, [make("span", { class: "hs-local-name", text: name, title: name })]);
  if (changed) shown.append(" ", make("span", { class: "hs-changed", role: "img", "aria-label": "changed", title: "changed since the last stop", text: "●" }));
  return make("tr", { class: changed ? "hs-is-changed" : "" }, [make("th", { scope: "row" }, [shown]), make("td", { text: value, title: value })]);
}
