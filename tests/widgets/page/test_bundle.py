"""Modules are joined into one without imports: each keeps its scope, and modules that cannot be joined are refused."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from hookscope.widgets.page.bundle import bundle


def joined(**modules: str) -> str:
    return bundle("main.js", lambda name: modules[name.removesuffix(".js").replace("/", "_")])


def result(page: Page, script: str) -> object:
    """Return the default export of a module as a browser evaluates it."""
    load = """async (text) => {
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      return (await import(address)).default;
    }"""
    return page.evaluate(load, script)


def test_two_modules_may_use_one_name_for_different_things(page: Page) -> None:
    script = joined(
        a="const size = 1;\nexport function one() {\n  return size;\n}\n",
        b='import { one } from "./a.js";\nconst size = 10;\nexport const both = () => [one(), size];\n',
        main='import { both } from "./b.js";\nconst size = both();\nexport default { size };\n',
    )
    assert result(page, script) == {"size": [1, 10]}


def test_a_module_is_there_once_and_is_found_from_any_folder(page: Page) -> None:
    script = joined(
        shared_count="let count = 0;\nexport const next = () => ++count;\n",
        views_a='import { next as another } from "../shared/count.js";\nexport class A {\n  now = another();\n}\n',
        views_b='import {\n  next,\n} from "../shared/count.js";\nexport async function b() {\n  return next();\n}\n',
        main='import { A } from "./views/a.js";\nimport { b } from "./views/b.js";\nvoid b();\n'
        "const now = new A().now;\nexport default { now };\n",
    )
    assert result(page, script) == {"now": 2}


def test_lines_that_are_comments_stay_behind_and_what_looks_like_one_does_not(page: Page) -> None:
    script = joined(
        main="// a file\n\n/**\n * @param {string} x\n */\nconst f = (x) => x; // what it is\n"
        '  // more\nconst address = f("http://a/**b*/"); /** @type {number} */\nexport default { address };\n'
    )
    assert not [word for word in ("a file", "@param", "more") if word in script]
    assert result(page, script) == {"address": "http://a/**b*/"}


@pytest.mark.parametrize(
    "line",
    [
        'import everything from "https://example.org/x.js";',
        'import "./a.js";',
        "export let count = 1;",
        'export { a } from "./a.js";',
    ],
)
def test_a_line_that_cannot_be_joined_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"main\.js: cannot bundle the line '(import|export)"):
        joined(main=line + "\n", a="export const a = 1;\n")


def test_modules_that_import_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match=r"modules import each other: main\.js -> a\.js -> main\.js"):
        joined(main='import { a } from "./a.js";\n', a='import { b } from "./main.js";\n')
