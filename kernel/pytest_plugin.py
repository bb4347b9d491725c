"""pytest plugin with the options `--alias-mindspore` and `--check-networks` and the fixture `checked_networks`.

`--alias-mindspore` lets tests written for MindSpore run on Hookscope's engine. `--check-networks` and the fixture fail
a test in which a condition finds a cause. The plugin is registered as the entry point `hookscope`. It does nothing in a
run that uses neither its options nor its fixture.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

_OPTION = "--check-networks"
_SESSION = pytest.StashKey["DebugSession"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hookscope")
    group.addoption(
        "--alias-mindspore",
        action="store_true",
        help="let `import mindspore` give Hookscope's engine, even where MindSpore is installed",
    )
    group.addoption(
        _OPTION,
        nargs="?",
        const="all",
        metavar="NAME,...",
        help="watch the networks of every test, and fail it where one of these conditions finds a cause; alone, all "
        f"conditions (write {_OPTION}=all where a path follows)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the alias before the first conftest.py, which may import mindspore."""
    if early_config.known_args_namespace.alias_mindspore:
        from .alias import install_as_mindspore

        install_as_mindspore()


def pytest_configure(config: pytest.Config) -> None:
    """Raise for an unknown condition before any test runs."""
    if config.getoption(_OPTION) is not None:
        from hookscope.engine.debug.diagnose.conditions import parse_conditions

        try:
            parse_conditions(_conditions(config), _OPTION)
        except ValueError as error:
            raise pytest.UsageError(" ".join(str(error).split())) from None


@pytest.fixture
def checked_networks(request: pytest.FixtureRequest) -> Iterator[DebugSession]:
    """Yield a session over every network that the test calls; the test fails if it finds a cause that is not muted."""
    session = request.node.stash[_SESSION] = _session(request.config)
    with session:
        yield session


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Run a test under its session, if it has one, and report the findings."""
    if _SESSION not in item.stash and item.config.getoption(_OPTION) is not None:
        item.stash[_SESSION] = _session(item.config)
    if _SESSION not in item.stash:
        return (yield)
    session = item.stash[_SESSION]
    try:
        session.attach()
        yield
    except BaseException:
        if report := _report(session):
            item.add_report_section("call", "hookscope", report)
        raise
    finally:
        del item.stash[_SESSION]  # which releases the networks
    if report := _report(session):
        pytest.fail(report, pytrace=False)


def _conditions(config: pytest.Config) -> list[str]:
    from hookscope.engine.debug.diagnose.conditions import split_conditions

    conditions = config.getoption(_OPTION)
    return split_conditions("all" if conditions is None else conditions, _OPTION)


def _session(config: pytest.Config) -> DebugSession:
    from hookscope.engine.debug import DebugSession

    from .checked_script import BOUNDS

    return DebugSession(conditions=_conditions(config), name="test", **BOUNDS)


def _report(session: DebugSession) -> str:
    """Detach the session and return its report; "" without causes."""
    from hookscope.engine.debug.diagnose.report import report_text
    from hookscope.engine.debug.faults import suppress_faults

    session.detach()
    report = ""
    with suppress_faults(session, "the report"):
        report = report_text(session) if session.findings().causes() else ""
    return report
