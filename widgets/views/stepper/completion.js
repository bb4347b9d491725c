// Completion of a name in an input: Tab adds the common prefix of the matching names. If there is none, Tab moves to
// the next control as usual, so that the keyboard is never trapped.

/** Return the completion by Tab: the rest of a name, or "". @param {string} text @param {string[]} names */
function restOfName(text, names) {
  const begun = /(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*$/u.exec(text)?.[0];
  const candidates = begun ? names.filter((name) => name.startsWith(begun)) : [];
  if (!begun || !candidates.length) return "";
  let common = candidates[0];
  for (const name of candidates) while (!name.startsWith(common)) common = common.slice(0, -1);
  return common.slice(begun.length);
}

/** @param {HTMLInputElement} input @param {() => string[]} names returns the names that are valid there */
export function completeWithTab(input, names) {
  input.addEventListener("keydown", (event) => {
    const at = input.selectionStart ?? 0;
    if (event.key !== "Tab" || event.shiftKey || at !== input.selectionEnd) return;
    const rest = restOfName(input.value.slice(0, at), names());
    if (!rest) return;
    event.preventDefault();
    input.setRangeText(rest, at, at, "end");
    input.dispatchEvent(new Event("input"));
  });
}
