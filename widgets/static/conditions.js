// The conditions: what was found, with ways to go there; and below it what the session looks for and pauses at.

import { make, setAttribute, setText } from "./dom.js";

/** @typedef {import("./types.js").ConditionRow} ConditionRow */
/** @typedef {import("./types.js").FindingRow} FindingRow */
/** @typedef {{element: HTMLTableRowElement, update: (row: ConditionRow) => void, answered: () => void}} ConditionItem */

/**
 * @param {import("./types.js").Send} send
 * @param {import("./types.js").Go} go
 */
export function createConditions(send, go) {
  /** @type {Map<string, ConditionItem>} */
  const items = new Map();
  /** @type {ConditionRow[]} */
  let rows = [];
  /** @type {FindingRow[]} */
  let findings = [];
  /** @type {string | null} */
  let onlyPath = null;
  let drawnFindings = "";
  let drawnMuted = "";
  let verdict = "";

  const body = make("tbody");
  const table = make("table", { class: "hs-table hs-conditions" }, [
    make("caption", { class: "hs-unseen", text: "Conditions" }),
    tableHead(["look", "pause", "condition", "threshold", "holds if"]),
    body,
  ]);
  const expression = make("input", {
    class: "hs-input",
    type: "text",
    "aria-label": "Your own condition",
    placeholder: "your own, for example: direction == 'backward' and norm > 100",
    spellcheck: "false",
    autocomplete: "off",
  });
  const add = make("form", { class: "hs-bar hs-own", onsubmit: submit }, [
    make("span", { class: "hs-prompt", text: "if", "aria-hidden": "true" }),
    expression,
    make("button", { type: "submit", class: "hs-button", text: "Add" }),
  ]);
  const summary = make("span", { class: "hs-count" });
  const bar = make("div", { class: "hs-bar" }, [
    make("h3", { class: "hs-heading", text: "Look for" }),
    summary,
    make("span", { class: "hs-spring" }),
    make("button", { type: "button", class: "hs-button", text: "Look for all", onclick: () => send({ type: "all_conditions", on: true }) }),
    make("button", { type: "button", class: "hs-button", text: "Look for none", onclick: () => send({ type: "all_conditions", on: false }) }),
  ]);

  const noPauses = make("p", { class: "hs-notes", role: "note", hidden: "" });
  const foundBody = make("tbody");
  const foundTable = make("table", { class: "hs-table hs-findings" }, [
    make("caption", { class: "hs-unseen", text: "Findings" }),
    tableHead(["condition", "where", "steps", "times", "what was seen, and what to do"]),
    foundBody,
  ]);
  const nothingText = make("p");
  const begin = make("button", { type: "button", class: "hs-button hs-primary", text: "Look for everything", onclick: () => send({ type: "all_conditions", on: true }) });
  const nothing = make("div", { class: "hs-empty" }, [nothingText, begin]);
  const foundCount = make("span", { class: "hs-count", "aria-live": "polite" });
  const every = make("button", { type: "button", class: "hs-button", hidden: "", text: "All cells", onclick: () => filter(null) });
  const clear = make("button", { type: "button", class: "hs-button", hidden: "", text: "Clear", title: "Forget what was found so far; what still holds is found again", onclick: () => send({ type: "clear_findings" }) });
  const mutedList = make("ul", { class: "hs-muted", "aria-label": "Muted" });
  const mutedBox = make("div", { class: "hs-muted-box", hidden: "" }, [make("h4", { text: "Muted: neither found nor paused at" }), mutedList]);
  const foundHeading = make("h3", { class: "hs-heading", tabindex: "-1", text: "Found" });
  const foundBar = make("div", { class: "hs-bar" }, [foundHeading, foundCount, make("span", { class: "hs-spring" }), every, clear]);

  // Where nothing is watched, to look for something does nothing.
  const switches = make("fieldset", { class: "hs-controls", role: "none" }, [bar, noPauses, add, table]);
  const element = make("div", { class: "hs-view hs-scroll" }, [
    make("section", { "aria-label": "What was found" }, [foundBar, foundTable, nothing, mutedBox]),
    make("section", { class: "hs-wanted", "aria-label": "Conditions looked for" }, [switches]),
  ]);

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    if (expression.value.trim()) send({ type: "own_condition", expression: expression.value });
  }

  /** @param {ConditionRow} first @returns {ConditionItem} */
  function build(first) {
    let row = first;
    const { name, own } = first;
    const on = make("input", { type: "checkbox", class: "hs-check", "aria-label": `look for ${name}`, onchange: () => tell(on.checked, on.checked && pause.checked) });
    const pause = make("input", { type: "checkbox", class: "hs-check", "aria-label": `pause at ${name}`, onchange: () => tell(pause.checked || on.checked, pause.checked) });
    const threshold = first.threshold === "" ? null : make("input", {
      type: "text",
      inputmode: "decimal",
      class: "hs-input hs-threshold",
      "aria-label": `threshold of ${name}`,
      // A condition that is off takes it along when it is switched on.
      onchange: () => on.checked && tell(true, pause.checked),
    });
    const remove = make("button", { type: "button", class: "hs-button hs-small", text: "Remove", "aria-label": `remove ${name}`, onclick: () => tell(false, false) });
    const meaning = make("td", {}, [
      make("span", { class: "hs-meaning", text: first.meaning }),
      own ? remove : make("span", { class: "hs-advice", text: first.advice }),
    ]);
    const element = make("tr", {}, [
      make("td", {}, own ? [] : [on]),
      make("td", {}, [pause]),
      make("th", { scope: "row", text: name }),
      make("td", {}, threshold ? [threshold, make("span", { class: "hs-unit", text: first.unit })] : []),
      meaning,
    ]);

    /** @param {boolean} look @param {boolean} stop */
    function tell(look, stop) {
      element.classList.add("hs-pending");
      send({ type: "condition", name, on: look, pause: stop, threshold: look ? threshold?.value ?? "" : "" });
    }
    let drawn = "";
    /** @param {ConditionRow} now */
    function update(now) {
      row = now;
      on.checked = now.on;
      pause.checked = now.pause;
      element.classList.toggle("hs-off", !now.on);
      // What a person typed and the session refused stays, to be mended; so does it while the condition is off.
      const change = `${now.on} ${now.threshold}`;
      if (threshold && change !== drawn && (now.on || !drawn)) threshold.value = now.threshold;
      if (change !== drawn) drawn = change;
    }
    /** The session has done what was asked, or refused it. */
    function answered() {
      on.checked = row.on;
      pause.checked = row.pause;
      const refused = threshold && row.on && Number(threshold.value) !== Number(row.threshold);
      if (threshold) setAttribute(threshold, "aria-invalid", refused ? "true" : null);
    }
    update(first);
    return { element, update, answered };
  }

  function drawConditions() {
    const names = new Set(rows.map((row) => row.name));
    for (const [name, item] of items) {
      if (names.has(name)) continue;
      item.element.remove();
      items.delete(name);
    }
    for (const row of rows) {
      const item = items.get(row.name);
      if (item) item.update(row);
      else {
        const fresh = build(row);
        items.set(row.name, fresh);
        body.append(fresh.element);
      }
    }
    const looked = rows.filter((row) => row.on).length;
    const pausing = rows.filter((row) => row.pause).length;
    setText(summary, `${looked} of ${rows.length}${pausing ? `, ${pausing} of them pause the run` : ""}`);
  }

  /** @param {FindingRow} finding */
  function findingRow(finding) {
    const { condition, label, path, capture } = finding;
    const what = [
      make("span", { class: "hs-what", text: finding.message }),
      make("span", { class: "hs-advice", text: finding.advice }),
    ];
    // The sentence about a producer ends with its line of source; elsewhere it stands by itself.
    if (finding.source && !finding.message.includes(finding.source)) what.push(make("code", { class: "hs-made", text: finding.source }));
    const { capture: show } = go;
    if (capture >= 0 && show) {
      what.push(make("button", { type: "button", class: "hs-button hs-small", text: "Show capture", "aria-label": `show the capture of ${condition} in ${label}`, onclick: () => show(capture) }));
    }
    what.push(make("button", { type: "button", class: "hs-button hs-small", text: "Mute here", title: `Neither find nor pause at ${condition} in ${label}: it is meant so`, "aria-label": `mute here: ${condition} in ${label}`, onclick: () => send({ type: "mute", condition, path, on: true }) }));
    const { cell: showCell } = go;
    const where = finding.in_cell && showCell
      ? make("button", { type: "button", class: "hs-link", text: label, "aria-label": `show cell ${label}`, onclick: () => showCell(path) })
      : make("span", { text: label });
    return make("tr", {}, [
      make("th", { scope: "row", text: condition }),
      make("td", {}, [where]),
      make("td", { text: finding.steps }),
      make("td", { class: "hs-number", text: finding.times }),
      make("td", {}, what),
    ]);
  }

  function drawFindings() {
    const chosen = onlyPath === null ? findings : findings.filter((finding) => finding.path === onlyPath);
    const now = JSON.stringify([onlyPath, chosen]);
    if (now !== drawnFindings) {
      drawnFindings = now;
      const focused = [...foundBody.querySelectorAll("button")].findIndex((button) => button === document.activeElement);
      foundBody.replaceChildren(...chosen.map(findingRow));
      if (focused >= 0) foundBody.querySelectorAll("button")[focused]?.focus();
    }
    const among = onlyPath === null ? "" : ` of ${findings.length}, in ${onlyPath || "(root)"}`;
    setText(foundCount, findings.length ? `${chosen.length}${among}` : "");
    every.hidden = onlyPath === null;
    clear.hidden = !findings.length;
    foundTable.hidden = !chosen.length;
    nothing.hidden = chosen.length > 0;
    const looking = rows.some((row) => row.on);
    setText(nothingText, verdict);
    begin.hidden = looking || switches.disabled;
  }

  /** @param {import("./types.js").MutedRow[]} muted */
  function drawMuted(muted) {
    const now = JSON.stringify(muted);
    if (now === drawnMuted) return;
    drawnMuted = now;
    mutedBox.hidden = !muted.length;
    mutedList.replaceChildren(
      ...muted.map(({ condition, path, label }) =>
        make("li", {}, [
          make("span", { text: `${condition} in ${label}` }),
          make("button", { type: "button", class: "hs-button hs-small", text: "Unmute", "aria-label": `unmute ${condition} in ${label}`, onclick: () => send({ type: "mute", condition, path, on: false }) }),
        ]),
      ),
    );
  }

  /** Show only what was found in one cell, or with null everything. @param {string | null} path */
  function filter(path) {
    onlyPath = path;
    drawFindings();
    foundHeading.scrollIntoView({ block: "nearest" });
    foundHeading.focus();
  }

  /** @param {Partial<import("./types.js").Conditions>} now */
  function update(now) {
    const before = rows.filter((row) => row.own).length;
    rows = now.rows ?? [];
    findings = now.findings ?? [];
    verdict = now.verdict ?? "";
    if (rows.filter((row) => row.own).length > before) expression.value = "";
    drawConditions();
    drawFindings();
    drawMuted(now.muted ?? []);
    setText(noPauses, now.no_pauses ? `No pauses here: ${now.no_pauses}.` : "");
    noPauses.hidden = !now.no_pauses;
  }

  /** Whether the session watches, or is about to. @param {boolean} now */
  function setWatching(now) {
    switches.disabled = !now;
    drawFindings();
  }

  return { element, update, setWatching, filter, answered: () => items.forEach((item) => item.answered()) };
}

/** @param {string[]} titles */
function tableHead(titles) {
  return make("thead", {}, [make("tr", {}, titles.map((title) => make("th", { class: title === "times" ? "hs-number" : "", scope: "col", text: title })))]);
}
