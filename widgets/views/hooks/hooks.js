// The hooks: a list of the attached ones, an editor for new ones, and their output.

import { make } from "../../static/dom.js";
import { HookEditor } from "./hook_editor.js";
import { createHookList } from "./hook_list.js";
import { createHookLog } from "./hook_log.js";

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, keep }) {
  const editor = new HookEditor(send, (draft) => keep("hook_draft", draft));
  const list = createHookList(send, (row) => editor.edit(row));
  const log = createHookLog(send);

  /** @param {import("../../static/python.js").Hooks} hooks */
  function update(hooks) {
    if (!hooks.rows) return; // no data yet
    editor.update(hooks);
    list.update(hooks);
  }

  return {
    element: make("div", { class: "hs-view hs-hooks" }, [
      make("div", { class: "hs-hook-part" }, [...list.elements, ...log.elements]),
      make("div", { class: "hs-hook-part hs-hook-edit" }, editor.elements),
    ]),
    traits: [
      [["hooks"], update],
      [["hook_answer"], (answer) => editor.setAnswer(answer)],
      [["hook_log"], (printed) => (log.update(printed), editor.setPrinted(printed))],
      [["hook_draft"], (draft) => editor.setDraft(draft)],
    ],
    messages: { hook_names: (message) => editor.setNames(message) },
    destroy() {
      log.destroy();
      editor.destroy();
    },
  };
}
