"""pytest's `--alias-mindspore`: tests written against MindSpore run on Hookscope's engine.

Registered as the entry point `hookscope`; without the option it does nothing.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("hookscope").addoption(
        "--alias-mindspore",
        action="store_true",
        help="let `import mindspore` give Hookscope's engine, even where MindSpore is installed",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before the first conftest.py, which may import mindspore."""
    if early_config.known_args_namespace.alias_mindspore:
        from .alias import install_as_mindspore

        install_as_mindspore()
