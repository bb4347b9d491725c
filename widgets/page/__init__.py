"""The page's script and style: the files in static/, those of the views, and shared constants.

The constants are generated from Python as two modules that the others import: `static/views.js`, the list of the views,
and `static/python.js`, constants such as column names. The type checker reads them, with the types of all messages,
from the folder that `python -m hookscope.widgets.page FOLDER` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from hookscope.widgets.page.bundle import bundle
from hookscope.widgets.page.message_types import Types
from hookscope.widgets.panel_view import PANEL_VIEW
from hookscope.widgets.view import View
from hookscope.widgets.views import VIEWS

WIDGETS = Path(__file__).resolve().parents[1]
ENTRY = "static/panel.js"


def script() -> str:
    """Return the page's script as one module."""
    generated = _generated_modules()
    return bundle(ENTRY, lambda name: generated.get(name) or (WIDGETS / name).read_text(encoding="utf-8"))


def style() -> str:
    """Return one style sheet: the palette and shared styles, in order of file names, then each view's own style."""
    return style_of(VIEWS.values())


def style_of(views: Iterable[View]) -> str:
    """Return one style sheet for these views."""
    shared = sorted((WIDGETS / "static").glob("*.css"))
    return "\n".join(_text(part) for part in (*shared, *(view.style for view in views if view.style)))


def _text(part: Path | str) -> str:
    return part if isinstance(part, str) else part.read_text(encoding="utf-8")


def _script_name(view: View) -> str:
    if isinstance(view.script, str):
        return f"views/{view.name}.js"
    return view.script.resolve().relative_to(WIDGETS).as_posix()


def _generated_modules() -> dict[str, str]:
    """Return modules without a file, by name: generated modules, and scripts that are Python strings."""
    texts = {_script_name(view): view.script for view in VIEWS.values() if isinstance(view.script, str)}
    return {"static/views.js": _views_module(), "static/python.js": constants_module(VIEWS.values()), **texts}


def _views_module() -> str:
    """Return the module that lists the views for the page."""
    imports, entries = [], []
    for index, view in enumerate(VIEWS.values()):
        imports.append(f'import {{ create as create{index} }} from "../{_script_name(view)}";')
        entries.append(f"  {json.dumps(view.name)}: {{ ...{json.dumps(_facts(view))}, create: create{index} }},")
    kind = '/** @type {Record<string, import("./types.js").ViewKind>} */'
    panel_entry = f"export const PANEL = {json.dumps(_facts(PANEL_VIEW))};"
    return "\n".join([*imports, panel_entry, kind, "export const VIEWS = {", *entries, "};", ""])


def _facts(view: View) -> dict[str, object]:
    live = [name for name, trait in view.traits.items() if trait.metadata.get("live")]
    return {
        "title": view.title,
        "leads_to": view.leads_to,
        "live": [*live, *(name for name, message in view.messages.items() if message.live)],
        "background": [name for name, action in view.actions.items() if action.background],
    }


def constants_module(views: Iterable[View]) -> str:
    """Return the module of constants that Python and the page share."""
    constants = {name: json.dumps(values) for view in views for name, values in view.constants.items()}
    return "".join(f"export const {name} = /** @type {{const}} */ ({values});\n" for name, values in constants.items())


def write_for_checks(folder: Path) -> None:
    """Write generated modules and types to a folder for a type checker, removing those of earlier runs."""
    for stale in folder.rglob("*.js"):
        stale.unlink()
    types = Types()
    types.add((PANEL_VIEW, *VIEWS.values()))
    modules = _generated_modules()
    modules["static/python.js"] += types.text()
    from hookscope.widgets.ranks.declaration import RANKS_VIEW  # imported here, since its panel depends on this module

    of_ranks = Types()
    of_ranks.add([RANKS_VIEW])
    modules["static/ranks.js"] = constants_module([RANKS_VIEW]) + of_ranks.text()
    for name, text in modules.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
