// One rank's own panel: a widget of that rank's process, whose messages the notebook's kernel relays.

import { make, newId, setText } from "../static/dom.js";

/** @typedef {import("../static/ranks.js").RankRow} RankRow */
/** @typedef {import("../static/ranks.js").ChosenRank} Chosen */
/** @typedef {{el: HTMLElement, remove: () => void}} View */
/** @typedef {{has_model?: (id: string) => boolean, get_model: (id: string) => Promise<unknown>, create_view: (model: unknown) => Promise<View>}} Manager */

/** The message that opens a widget arrives by itself: maximum number of polls, and the milliseconds between them. */
const LOOKS = 50;
const APART = 100;

/**
 * @param {import("../static/types.js").Model} model
 * @param {(message: import("../static/ranks.js").Asked) => void} send
 */
export function createRankPanel(model, send) {
  const name = newId("hs-ranks");
  const radios = make("div", { class: "hs-bar", role: "radiogroup", "aria-label": "Rank" });
  const note = make("p", { class: "hs-empty", role: "status", text: "Choose a rank." });
  const host = make("div", { class: "hs-ranks-own" });
  /** @type {Map<number, HTMLInputElement>} */
  const inputs = new Map();
  let modelId = "";
  let chosenRank = -1;
  /** @type {View | null} */
  let view = null;

  /** @param {string} text */
  function say(text) {
    setText(note, text);
    note.hidden = !text;
  }

  function leave() {
    view?.remove();
    view = null;
    host.replaceChildren();
  }

  /** @param {string} id */
  async function open(id) {
    const manager = /** @type {Manager | undefined} */ (/** @type {unknown} */ (model.widget_manager));
    if (!manager?.get_model) return say("This page shows no panel of another process.");
    for (let look = 0; look < LOOKS && manager.has_model && !manager.has_model(id); look++) await new Promise((done) => setTimeout(done, APART));
    if (modelId !== id) return;
    try {
      const created = await manager.create_view(await manager.get_model(id));
      if (modelId !== id) return created.remove(); // another rank has been chosen meanwhile
      view = created;
      host.replaceChildren(created.el);
      say("");
    } catch (error) {
      if (modelId === id) say(`This rank's panel cannot be shown: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    element: make("div", { class: "hs-view" }, [radios, note, host]),
    /** @param {RankRow[]} rows */
    drawRanks(rows) {
      if (rows.length === inputs.size) return;
      inputs.clear();
      radios.replaceChildren(...rows.map(({ rank }) => {
        const input = make("input", { type: "radio", name, value: String(rank), onchange: () => send({ type: "rank", rank }) });
        input.checked = rank === chosenRank;
        inputs.set(rank, input);
        return make("label", { class: "hs-ranks-check" }, [input, `rank ${rank}`]);
      }));
    },
    /** @param {Chosen} now */
    draw(now) {
      chosenRank = now.rank ?? -1;
      const input = inputs.get(chosenRank);
      if (input) input.checked = true;
      const id = now.model ?? "";
      if (id !== modelId) {
        leave();
        modelId = id;
        if (id) {
          say("Opening this rank's panel…");
          void open(id);
        }
      }
      if (!id) say(now.note || (chosenRank < 0 ? "Choose a rank." : "This rank has not answered yet."));
    },
    destroy() {
      modelId = "";
      leave();
    },
  };
}
