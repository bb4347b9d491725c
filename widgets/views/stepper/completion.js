// Completing a name in a line that is typed: Tab adds what the names that begin so have in common. Where that is
// nothing, Tab goes on to the next control as ever, so that no keyboard is caught here.

/** What Tab adds to a text: the rest of a name, or "". @param {string} text @param {string[]} names */
function restOfName(text, names) {
  const begun = /(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*$/u.exec(text)?.[0];
  const meant = begun ? names.filter((name) => name.startsWith(begun)) : [];
  if (!begun || !meant.length) return "";
  let common = meant[0];
  for (const name of meant) while (!name.startsWith(common)) common = common.slice(0, -1);
  return common.slice(begun.length);
}

/** @param {HTMLInputElement} input @param {() => string[]} names that may stand there now */
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
