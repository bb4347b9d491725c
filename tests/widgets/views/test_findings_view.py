"""The findings view of a real session, and the effect of its messages."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import CONDITIONS, DebugSession
from hookscope.widgets.static_html import snapshot
from hookscope.widgets.views import findings
from hookscope.widgets.views.findings import rows as finding_rows


class Log(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.log(x)


@pytest.fixture
def session() -> DebugSession:
    """Return a session over a network that makes a NaN in its second cell, run twice."""
    net = nn.SequentialCell(nn.ReLU(), Log(), nn.Tanh())
    session = DebugSession(net, conditions=["nan", "dead_relu=0.5", "if norm > 1e6"], stop_on=["overflow"])
    x = Tensor(np.array([2.0, 3.0], np.float32))
    with session:
        net(x)
        net[0] = nn.Identity()
        net(Tensor(np.array([2.0, -3.0], np.float32)))
        net(Tensor(np.array([2.0, -3.0], np.float32)))
    return session


def test_every_condition_has_a_row_and_the_users_own_come_last(session: DebugSession) -> None:
    rows = {row["name"]: row for row in finding_rows.condition_rows(session)}
    assert list(rows) == [*CONDITIONS, "if norm > 1e6"]
    assert [name for name, row in rows.items() if row["on"]] == ["nan", "overflow", "dead_relu", "if norm > 1e6"]
    assert [name for name, row in rows.items() if row["pause"]] == ["overflow"]
    assert [name for name, row in rows.items() if row["is_custom"]] == ["if norm > 1e6"]
    assert (rows["dead_relu"]["threshold"], rows["saturated_tanh"]["threshold"], rows["nan"]["threshold"]) == (
        "0.5",
        "0.9",
        "",
    )
    json.dumps(list(rows.values()), allow_nan=False)


def test_a_finding_names_its_cell_its_capture_and_the_line_that_made_it(session: DebugSession) -> None:
    (row,) = finding_rows.cause_rows(session, session.findings())
    assert (row["condition"], row["path"], row["label"], row["steps"]) == ("nan", "1", "1", "2 to 3")
    assert row["source"].endswith(": return ops.log(x)")
    assert row["source"] in row["message"]
    captures = {capture.index: capture for capture in session.captures}
    assert captures[row["capture"]].key == "1#0 forward output"
    assert captures[row["capture"]].step == 2
    json.dumps(row)


class Halved(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * 2.0

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout,)


def test_a_card_names_where_the_user_wrote_the_cell_and_of_a_layer_nothing() -> None:
    net = nn.SequentialCell(Halved(), nn.Dense(2, 2), nn.ReLU())
    net[1].bias.set_data(Tensor(np.full(2, -9.0, np.float32)))
    session = DebugSession(net, conditions=["wrong_bprop", "dead_relu"])
    with session:
        value_and_grad(lambda x: net(x).sum(), 0, net.trainable_params())(Tensor(np.ones((3, 2), np.float32)))
    written = {row["condition"]: row["source"] for row in finding_rows.cause_rows(session, session.findings())}
    assert written["wrong_bprop"].startswith("test_findings_view.py, line ")
    assert written["wrong_bprop"].endswith(": def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:")
    assert written["dead_relu"] == ""


def test_a_finding_whose_capture_is_gone_names_none(session: DebugSession) -> None:
    session.captures.clear()
    (row,) = finding_rows.cause_rows(session, session.findings())
    assert row["capture"] == -1


def test_a_finding_about_parameters_has_no_capture() -> None:
    net = nn.Dense(2, 1, weight_init="zeros")
    session = DebugSession(net, conditions=["nan"])
    with session:
        step = value_and_grad(lambda x: net(x).sum() * float("nan"), None, net.trainable_params())
        step(Tensor(np.ones((1, 2), np.float32)))
    rows = [finding_rows.finding_row(finding, finding_rows.captures_of(session)) for finding in session.findings()]
    assert rows and {row["capture"] for row in rows} <= {-1, *(capture.index for capture in session.captures)}


def test_a_cells_hits_are_counted_and_the_worst_is_first_in_the_list() -> None:
    session = DebugSession(nn.ReLU(), conditions=["all_zero", "if norm >= 0", "nan"])
    with session:
        session.roots[0](Tensor(np.array([np.nan, 1.0], np.float32)))
    count, worst = finding_rows.cell_hits(session.findings())[""]
    assert worst == "nan"
    assert count == sum(finding.count for finding in session.findings() if finding.path == "")


def test_switching_off_what_is_off_is_refused_with_a_sentence(session: DebugSession) -> None:
    with pytest.raises(ValueError, match="no condition 'inf' in this session"):
        findings.set_condition(SimpleNamespace(session=session), "inf", False, False, "")


@pytest.mark.parametrize("text", ["norm > 3", "if norm > 3", " if norm > 3 "])
def test_an_own_condition_may_begin_with_if(session: DebugSession, text: str) -> None:
    findings.add_custom(SimpleNamespace(session=session), text)
    assert session.conditions[-1].name == "if norm > 3"


def test_what_is_muted_is_listed_and_told_in_the_static_form(session: DebugSession) -> None:
    session.mute("nan", "1")
    view = finding_rows.conditions_view(session)
    option = "--mute nan:1="
    assert view["muted"] == [{"condition": "nan", "path": "1", "label": "1", "reason": "", "option": option}]
    assert view["causes"] == view["cells"] == []
    assert "Muted: nan in 1." in snapshot.panel_html(session, ["findings"])
    session.mute("nan", "1", "padded rows")
    assert "Muted: nan in 1 (padded rows)." in snapshot.panel_html(session, ["findings"])


def test_of_a_run_that_failed_it_is_not_said_that_nothing_is_wrong() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(3, 2))
    session = DebugSession(net, conditions=["nan"])
    with pytest.raises(ValueError, match="must be 3"), session:
        net(Tensor(np.ones((1, 2), np.float32)))
    verdict = finding_rows.verdict(session)
    assert verdict.startswith("The run failed in 1. Until then: 1 step, 3 captures, 1 condition: nothing wrong.")


def test_what_it_means_that_nothing_was_found() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Tanh())
    session = DebugSession(net)
    verdicts = [finding_rows.verdict(session)]
    with session:
        net(Tensor(np.ones((1, 2), np.float32)))
        session.add_condition("nan")
        verdicts.append(finding_rows.verdict(session))
        for _ in range(3):
            net(Tensor(np.ones((1, 2), np.float32)))
            verdicts.append(finding_rows.verdict(session))
        session.add_condition("inf")
    verdicts.append(finding_rows.verdict(session))
    session.mute("nan", "1")
    session.attach()
    net(Tensor(np.ones((1, 2), np.float32)))
    session.detach()
    verdicts.append(finding_rows.verdict(session))
    untrained = "No gradient was computed for its weights: it was not trained here."
    assert verdicts == [
        f"No conditions are checked yet. Find faults checks {len(CONDITIONS)} conditions on all later runs.",
        "Nothing has run yet. Run the network: faults appear here, with advice.",
        f"1 step, 4 captures, 1 condition: nothing wrong. {untrained}",
        f"2 steps, 8 captures, 1 condition: nothing wrong. {untrained}",
        f"3 steps, 12 captures, 1 condition: nothing wrong. {untrained}",
        "Nothing has run since these are looked for, and this panel no longer watches.",
        f"1 step, 4 captures, 2 conditions: nothing wrong apart from muted findings (1). {untrained}",
    ]
