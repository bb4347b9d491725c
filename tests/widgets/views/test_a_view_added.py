"""A view is one module in the folder of the views: it becomes a tab, has its state, and is in every static form.

Nothing else is changed: the package is copied, one file is put into it, and a new process draws the panel.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hookscope
from tests.browser.chromium import find_chromium, how_to, missing_packages

LOSSES = '''
"""The losses of the steps, as a list."""

from typing import TypedDict

from hookscope.widgets.static_html.markup import text
from hookscope.widgets.messages import Action
from hookscope.widgets.view import Section, Static, View, state


class Loss(TypedDict):
    """The loss of one step."""

    step: int
    loss: str


def publish(panel, budget):
    panel.losses = [{"step": step, "loss": f"{loss:g}"} for step, loss in panel.session.history.losses]


def forget(panel, step):
    losses = panel.session.history.losses
    kept = [one for one in losses if one[0] != step]
    losses.clear()
    losses.extend(kept)
    publish(panel, 0.0)


def html(session):
    return "".join(f"<p>{text(f'loss {loss:g} in step {step}')}</p>" for step, loss in session.history.losses)


VIEW = View(
    name="losses",
    title="Losses",
    position=25,
    traits={"losses": state(list[Loss], live=True)},
    actions={"forget_loss": Action({"step": int}, forget)},
    publish=publish,
    static=Static(35, lambda session: [html(session)]),
    sections=(Section(45, "Losses", html),),
    script="""
import { make } from "../static/dom.js";

/**
 * @param {import("../static/types.js").ViewContext} context
 * @returns {import("../static/types.js").ViewPart}
 */
export function create({ send, count }) {
  const list = make("ul", { class: "hs-losses", "aria-label": "Losses" });
  /** @param {import("../static/python.js").Loss[]} losses */
  function draw(losses) {
    count(losses.length);
    list.replaceChildren(...losses.map(({ step, loss }) => {
      const forget = () => send({ type: "forget_loss", step });
      return make("li", {}, [`step ${step}: ${loss} `, make("button", { text: `Forget ${step}`, onclick: forget })]);
    }));
  }
  return { element: list, traits: [[["losses"], draw]] };
}
""",
    style=".hs-losses { font-style: italic; }",
)
'''
DRIVER = """
import json, sys
import comm
from playwright.sync_api import sync_playwright
from conftest import CHROMIUM_ARGUMENTS, RecordingComm
from panel_page import PanelPage
from plain_session import PlainSession
from hookscope import widgets
from hookscope.widgets.static_html import export, snapshot

RecordingComm.log = sent = []
comm.create_comm = lambda *args, **keys: RecordingComm(*args, **keys)
session = PlainSession()
session.history.losses.extend([(1, 4.0), (2, 0.5)])
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=sys.argv[1], args=CHROMIUM_ARGUMENTS)
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    shown = PanelPage(page, session, sent)
    tabs = page.get_by_role("tab").all_inner_texts()
    page.get_by_role("tab", name="Losses").click()
    items = page.get_by_role("list", name="Losses").get_by_role("listitem")
    shown.until(lambda: items.count() == 2)
    drawn = items.all_inner_texts()
    style = items.first.evaluate("item => getComputedStyle(item).fontStyle")
    page.get_by_role("button", name="Forget 1").click()
    shown.until(lambda: items.count() == 1)
    told = page.get_by_role("tab", name="Losses").get_attribute("aria-description")
    print(json.dumps({
        "home": widgets.__file__, "tabs": tabs, "drawn": drawn, "style": style, "errors": errors,
        "left": items.all_inner_texts(), "told": told,
        "static": snapshot.panel_html(session), "export": export.export_page(session),
    }))
"""


def test_one_module_adds_a_view_to_the_page_the_static_form_and_the_export(tmp_path: Path) -> None:
    path, missing = find_chromium(), missing_packages()
    if path is None or missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(how_to(missing))
    home = Path(hookscope.__file__).parent
    package = tmp_path / "hookscope"
    shutil.copytree(home, package, symlinks=True, ignore=shutil.ignore_patterns("widgets", "__pycache__"))
    for link in ("engine", "kernel", "triton_kernels"):
        (package / link).unlink()
        (package / link).symlink_to((home / link).resolve())
    shutil.copytree((home / "widgets").resolve(), package / "widgets", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "widgets" / "views" / "losses.py").write_text(LOSSES, encoding="utf-8")
    tests = Path(__file__).parents[1]
    search = os.pathsep.join([str(tmp_path), str(tests), str(tests.parents[1])])
    process = subprocess.run(
        [sys.executable, "-P", "-c", DRIVER, str(path)],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    forms = json.loads(process.stdout)
    assert Path(forms["home"]).is_relative_to(tmp_path)
    assert forms["tabs"] == ["Findings", "Cells", "Captures", "Losses", "Curves", "Parameters", "Stepper", "Hooks"]
    assert forms["drawn"] == ["step 1: 4 Forget 1", "step 2: 0.5 Forget 2"]
    assert (forms["left"], forms["told"]) == (["step 2: 0.5 Forget 2"], "1 found")
    assert forms["style"] == "italic"
    assert forms["errors"] == []
    for form in ("static", "export"):
        assert "<p>loss 0.5 in step 2</p>" in forms[form]
    assert '<h2 id="losses">Losses</h2>' in forms["export"]
