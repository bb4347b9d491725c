"""The panel of ranks against ranks without processes: its rows, and the effect of a page's requests."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from fake_fleet import FakeFleet, row
from hypothesis import given, settings
from hypothesis import strategies as st

from hookscope.engine.debug.compare.ranks import RankFinding
from hookscope.widgets.ranks import RanksPanel
from hookscope.widgets.ranks.declaration import RANKS_VIEW
from hookscope.widgets.ranks.tables import PER_PAGE
from tests.browser.lab import wait_until

Ask = Callable[..., None]


def states(panel: RanksPanel) -> list[str]:
    return [rank["state"] for rank in panel.ranks]


def cells(table: Any, name: str) -> list[tuple[str, str]]:
    match = next(item for item in table["rows"] if item["name"] == name)
    return [(cell["text"], cell["mark"]) for cell in match["cells"]]


def rows_of(panel: RanksPanel, tab: str = "captures") -> list[str]:
    return [item["name"] for item in getattr(panel, tab).get("rows", ())]


# States of ranks


def test_each_rank_has_a_row_with_its_state_its_step_and_its_loss(fleet: FakeFleet, panel: RanksPanel) -> None:
    fleet.ranks[1].status |= {"step": 1, "loss": "nan"}
    fleet.tell()
    wait_until("the rows", lambda: panel.ranks[1]["loss"] == "nan")
    assert states(panel) == ["idle"] * 3
    assert [rank["step"] for rank in panel.ranks] == [3, 1, 3]
    assert [rank["behind"] for rank in panel.ranks] == [0, 2, 0]
    assert [rank["share"] for rank in panel.ranks] == [1.0, 1 / 3, 1.0]
    assert panel.status["state"] == "idle"


def test_a_pause_is_told_at_once_with_its_rank_and_place(fleet: FakeFleet, panel: RanksPanel) -> None:
    fleet.pause(1)
    wait_until("the pause", lambda: states(panel) == ["held", "paused", "held"])
    assert panel.status["text"] == "paused on rank 1 in forward of relu, line 15: breakpoint relu"
    assert panel.ranks[0]["text"] == "rank 1 is paused"
    assert set(panel.status["why_not"].values()) == {""}


def test_what_a_rank_waits_for_is_told_with_its_line_and_for_whom(fleet: FakeFleet, panel: RanksPanel) -> None:
    waits = {"what": "AllReduce", "line": "train.py:12", "group": "world", "number": 2, "ranks": [0, 1, 2]}
    for rank, requested in enumerate((2, 1, 2)):
        fleet.ranks[rank].status |= {"waits": None, "requests": {"world": requested}}
    fleet.ranks[0].status |= {"state": "waits", "waits": waits}
    fleet.tell()
    wait_until("the state", lambda: states(panel)[0] == "waits")
    assert panel.ranks[0]["text"] == "AllReduce, train.py:12, for rank 1"


def test_a_rank_that_has_ended_stays_with_its_reason(fleet: FakeFleet, panel: RanksPanel) -> None:
    fleet.ranks[2].gone = "rank 2 has ended"
    fleet.tell()
    wait_until("the end", lambda: states(panel) == ["idle", "idle", "ended"])
    assert panel.ranks[2]["text"] == "has ended"
    assert panel.ranks[2]["step"] == 3
    assert panel.status["text"] == "idle; rank 2 ended"


def test_when_all_have_ended_nobody_is_asked_any_more(fleet: FakeFleet, panel: RanksPanel) -> None:
    for rank in fleet.ranks.values():
        rank.gone = "it has ended"
    fleet.tell()
    panel._thread.join()
    assert panel.status["state"] == "ended"
    assert panel.status["why_not"]["interrupt"] == "all ranks have ended"


def test_a_busy_rank_holds_up_nobody(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    fleet.ranks[1].busy_with = {"status", "captures", "evaluate"}
    ask("refresh")
    ask("evaluate", expression="loss", rank=-1)
    wait_until("the others' answers", lambda: panel.answers[0]["answers"][2]["text"] == "0.12")
    wait_until("the word", lambda: panel.answers[0]["answers"][1]["text"] == "busy")
    wait_until(
        "the table", lambda: panel.captures.get("rows") and panel.captures["rows"][0]["cells"][1]["text"] == "busy"
    )
    fleet.tell()
    wait_until("the state", lambda: states(panel) == ["idle", "busy", "idle"])
    request_count = fleet.ranks[1].kinds().count("captures")
    ask("refresh")
    ask("refresh")
    assert fleet.ranks[1].kinds().count("captures") == request_count  # one at a time
    fleet.ranks[1].busy_with = set()
    fleet.ranks[1].work()
    wait_until("the late answer", lambda: panel.answers[0]["answers"][1]["text"] == "0.12")
    wait_until("the late table", lambda: panel.captures["rows"][0]["cells"][1]["text"] == "0.25")
    wait_until("the late state", lambda: states(panel)[1] == "idle")


# Commands


@pytest.mark.parametrize("command", ["continue", "over", "into", "out", "cell", "abort", "interrupt"])
def test_a_button_does_it_on_all_ranks(fleet: FakeFleet, panel: RanksPanel, ask: Ask, command: str) -> None:
    fleet.pause(1)
    wait_until("the pause", lambda: "paused" in states(panel))
    ask("command", command=command)
    assert fleet.commands == [command]
    assert panel.status["error"] == ""


def test_a_button_that_does_nothing_now_says_why(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    wait_until("the states", lambda: states(panel) == ["idle"] * 3)
    assert panel.status["why_not"]["over"] == "no rank is paused"
    assert panel.status["why_not"]["abort"] == "nothing runs"
    ask("command", command="over")
    assert panel.status["error"] == "over: no rank is paused"
    assert fleet.commands == []


# Tables


def test_captures_of_all_ranks_stand_side_by_side(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    fleet.ranks[2].captures["conv#0 forward output"] = row(mean=-1e-7, bits="b")
    ask("refresh")
    values = [("0.25", ""), ("0.25", ""), ("-1e-07", "")]
    wait_until("the row", lambda: rows_of(panel) and cells(panel.captures, "conv#0 forward output") == values)
    assert rows_of(panel) == ["conv#0 forward output", "relu#0 forward output"]
    assert panel.captures["ranks"] == [0, 1, 2]
    assert [capture["same"] for capture in panel.captures["rows"]] == [False, True]
    assert not any(capture["marked"] for capture in panel.captures["rows"])  # each rank has its own data


def test_what_a_rank_lacks_or_has_otherwise_is_marked(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    del fleet.ranks[1].captures["relu#0 forward output"]
    fleet.ranks[2].captures["conv#0 forward output"] = row(dtype="float16")
    ask("refresh")
    wait_until("the marks", lambda: all(item["marked"] for item in panel.captures.get("rows", [{"marked": False}])))
    assert cells(panel.captures, "relu#0 forward output")[1] == ("—", "missing")
    assert cells(panel.captures, "conv#0 forward output")[2] == ("2x3 float16", "differs")


def test_what_a_rank_in_the_midst_of_a_step_lacks_is_no_difference(
    fleet: FakeFleet, panel: RanksPanel, ask: Ask
) -> None:
    del fleet.ranks[1].captures["relu#0 forward output"]
    fleet.pause(1)
    wait_until("the table", lambda: panel.status["state"] == "paused" and rows_of(panel))
    ask("refresh")
    wait_until("the cell", lambda: cells(panel.captures, "relu#0 forward output")[1] == ("", ""))
    assert not panel.captures["rows"][1]["marked"]


def test_nan_on_some_ranks_is_marked_there_and_nan_on_all_is_not(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    for rank in fleet.ranks.values():
        rank.captures["relu#0 forward output"] = row(nan=6.0, mean="nan")
    fleet.ranks[2].captures["conv#0 forward output"] = row(nan=1.0, positive_inf=2.0)
    ask("refresh")
    wait_until("the mark", lambda: rows_of(panel) and cells(panel.captures, "conv#0 forward output")[2][1] == "nan")
    assert cells(panel.captures, "conv#0 forward output")[2][0] == "0.25 (1 NaN, 2 inf)"
    assert not panel.captures["rows"][1]["marked"]


def test_another_figure_needs_no_rank(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    fleet.ranks[0].captures["conv#0 forward output"] = row(norm=7.0)
    ask("figure", figure="norm")
    ask("refresh")
    wait_until("the row", lambda: rows_of(panel) and cells(panel.captures, "conv#0 forward output")[0] == ("7", ""))
    request_count = fleet.ranks[0].kinds().count("captures")
    ask("figure", figure="mean")
    assert cells(panel.captures, "conv#0 forward output")[0] == ("0.25", "")
    ask("figure", figure="shape")
    assert cells(panel.captures, "conv#0 forward output")[0] == ("2x3 float32", "")
    assert fleet.ranks[0].kinds().count("captures") == request_count


def test_the_step_is_the_newest_of_all_and_others_can_be_chosen(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    fleet.ranks[1].status["step"] = 2
    fleet.tell()
    wait_until("the step", lambda: panel.captures.get("step") == 2 and panel.captures["newest"])
    ask("step", by=-1)
    wait_until("the step before", lambda: panel.captures["step"] == 1)
    assert not panel.captures["newest"]
    assert fleet.ranks[0].requests[-1][1]["step"] == 1
    ask("step", by=1)
    wait_until("the newest", lambda: panel.captures["newest"])


def test_of_a_run_the_newest_step_that_all_have_ended_is_shown(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    for rank in fleet.ranks.values():
        rank.status |= {"state": "runs", "step": 8}
    fleet.tell()
    wait_until("the step", lambda: panel.captures.get("step") == 7)
    assert panel.status["text"] == "runs"
    fields = fleet.ranks[0].requests[[k for k, _ in fleet.ranks[0].requests].index("captures")][1]
    assert fields["count"] == PER_PAGE


def test_pages_do_not_shift_by_what_a_rank_lacks(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    for rank in fleet.ranks.values():
        rank.captures = {f"cell{k:03d}#0 forward output": row() for k in range(120)}
    for k in range(0, 60, 2):
        del fleet.ranks[1].captures[f"cell{k:03d}#0 forward output"]
    ask("refresh")
    names = sorted(fleet.ranks[0].captures)
    wait_until("the first page", lambda: rows_of(panel) == names[:50])
    ask("turn", tab="captures", by=1)
    wait_until("the second page", lambda: rows_of(panel) == names[50:100])
    ask("turn", tab="captures", by=1)
    wait_until("the last page", lambda: rows_of(panel) == names[100:])
    assert (panel.captures["first"], panel.captures["total"], panel.captures["more"]) == (100, 120, False)
    ask("turn", tab="captures", by=-1)
    wait_until("the second page again", lambda: rows_of(panel) == names[50:100])
    ask("find", tab="captures", text="cell01")
    wait_until("what was looked for", lambda: rows_of(panel) == names[10:20])
    assert max(fields["count"] for kind, fields in fleet.ranks[0].requests if kind == "captures") == PER_PAGE


def test_bits_of_parameters_are_asked_for_only_if_wanted_and_come_first(
    fleet: FakeFleet, panel: RanksPanel, ask: Ask
) -> None:
    fleet.ranks[2].parameters["conv.weight"] = row(bits="c")
    ask("show", tab="parameters")
    wait_until("the table", lambda: rows_of(panel, "parameters") == ["conv.bias", "conv.weight"])
    assert not any(fields["bits"] for kind, fields in fleet.ranks[0].requests if kind == "parameters")
    ask("bits", on=True)
    wait_until("the order", lambda: rows_of(panel, "parameters") == ["conv.weight", "conv.bias"])
    first, second = panel.parameters["rows"]
    assert (first["marked"], first["same"], second["marked"], second["same"]) == (True, False, False, True)
    assert [cell["mark"] for cell in first["cells"]] == ["", "", "differs"]


def test_a_rank_without_a_session_says_so_beside_the_others(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    def none(**fields: Any) -> None:
        raise ValueError("there is no session here yet")

    fleet.ranks[1]._captures = none  # type: ignore[method-assign,assignment,unused-ignore]
    ask("refresh")
    wait_until("the note", lambda: panel.captures.get("note") == "rank 1: there is no session here yet")
    assert panel.captures["ranks"] == [0, 2]


def test_only_what_is_in_sight_is_asked(fleet: FakeFleet, panel: RanksPanel) -> None:
    fleet.tell()
    wait_until("the states", lambda: states(panel) == ["idle"] * 3)
    assert set(fleet.ranks[0].kinds()) == {"status"}  # the panel is not on a page yet
    panel._received(panel, {"type": "hello"}, [])
    panel._received(panel, {"type": "show", "tab": "parameters"}, [])
    wait_until("the table", lambda: rows_of(panel, "parameters"))
    assert "panel" not in fleet.ranks[0].kinds()


# Findings


def test_a_finding_has_a_line_that_leads_to_its_value(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    fleet.found = [
        RankFinding("parameters_differ", 2, (2,), "conv", "conv.weight", "conv.weight differs", "look at its update"),
        RankFinding("ranks_differ", 1, (0,), "relu", "output", "relu's output differs", "look at the data"),
        RankFinding("ranks_alike", 1, (0, 1, 2), "", "", "the rows are the same", "shard the data"),
        RankFinding("ranks_differ", 1, (0,), "", "conv.bias", "the gradient of conv.bias differs", "reduce it"),
    ]
    fleet.tell()
    wait_until("the lines", lambda: len(panel.findings) == 4)
    assert [finding["view"] for finding in panel.findings] == ["parameters", "captures", "", "parameters"]
    assert panel.findings[0]["ranks"] == [2]
    weight, relu, *_ = panel.findings
    ask("reveal", tab=relu["view"], step=relu["step"], name=relu["name"])
    assert (panel.tab, panel._step) == ("captures", 1)
    ask("reveal", tab=weight["view"], step=weight["step"], name=weight["name"])
    wait_until("the parameter", lambda: rows_of(panel, "parameters") == ["conv.weight"])
    assert panel.tab == "parameters"


# Expressions


def test_an_expression_has_a_field_a_rank_and_the_minority_is_marked(
    fleet: FakeFleet, panel: RanksPanel, ask: Ask
) -> None:
    fleet.ranks[2].names["loss"] = float("nan")
    ask("evaluate", expression=" loss ", rank=-1)
    wait_until(
        "the answers", lambda: [answer["text"] for answer in panel.answers[0]["answers"]] == ["0.12", "0.12", "nan"]
    )
    assert panel.answers[0]["expression"] == "loss"
    assert [answer["mark"] for answer in panel.answers[0]["answers"]] == ["", "", "differs"]
    ask("evaluate", expression="1 / 0", rank=1)
    wait_until("the error", lambda: len(panel.answers) == 2 and panel.answers[1]["answers"][0]["mark"] == "error")
    assert panel.answers[1]["answers"] == [{"rank": 1, "text": "ZeroDivisionError: division by zero", "mark": "error"}]


def test_where_all_answers_differ_only_what_is_not_finite_is_marked(
    fleet: FakeFleet, panel: RanksPanel, ask: Ask
) -> None:
    for rank, value in enumerate((0.1, 0.2, float("inf"))):
        fleet.ranks[rank].names["loss"] = value
    ask("evaluate", expression="loss", rank=-1)
    wait_until("the mark", lambda: [answer["mark"] for answer in panel.answers[0]["answers"]] == ["", "", "differs"])


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"expression": " ", "rank": -1}, "there is no expression"),
        ({"expression": "x", "rank": 7}, "there is no rank 7; there are 3"),
        ({"expression": "x", "rank": 2}, "rank 2 has ended"),
    ],
)
def test_an_unanswered_request_is_an_error(
    fleet: FakeFleet, panel: RanksPanel, ask: Ask, fields: dict[str, Any], text: str
) -> None:
    fleet.ranks[2].gone = "rank 2 has ended"
    ask("evaluate", **fields)
    assert panel.status["error"] == text
    assert panel.answers == []


# A rank's own panel


def test_a_rank_is_asked_for_its_panel_when_it_is_chosen_and_closes_it_after(
    fleet: FakeFleet, panel: RanksPanel, ask: Ask
) -> None:
    fleet.pause(1)
    wait_until("the pause", lambda: "paused" in states(panel))
    ask("show", tab="rank")
    wait_until("the paused rank's panel", lambda: panel.chosen.get("model") == "panel of 1")
    ask("rank", rank=2)
    wait_until("the other", lambda: panel.chosen.get("model") == "panel of 2")
    wait_until(
        "the end of the first", lambda: fleet.ranks[1].requests[-1] == ("panel", {"of": panel._panel_id, "open": False})
    )
    panel.close()
    assert fleet.ranks[2].requests[-1] == ("panel", {"of": panel._panel_id, "open": False})


def test_a_rank_that_has_no_panel_says_why(fleet: FakeFleet, panel: RanksPanel, ask: Ask) -> None:
    def none(**fields: Any) -> None:
        raise ValueError("there is no session here yet")

    fleet.ranks[0]._panel = none  # type: ignore[method-assign,assignment,unused-ignore]
    ask("rank", rank=0)
    wait_until("the reason", lambda: panel.chosen.get("note") == "there is no session here yet")
    fleet.ranks[2].gone = "rank 2 has ended"
    ask("rank", rank=2)
    wait_until("the reason", lambda: panel.chosen == {"rank": 2, "note": "this rank has ended"})


# Messages


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("hello", "a message must be an object with a type, got 'hello'"),
        ({"type": "run"}, "unknown message 'run'; known: hello, show,"),
        ({"type": "show", "tab": "hooks"}, "unknown tab 'hooks'; it is one of captures, parameters, rank"),
        ({"type": "show"}, "message 'show' needs tab: str, got nothing"),
        ({"type": "rank", "rank": True}, "message 'rank' needs rank: int, got bool"),
        ({"type": "rank", "rank": 3}, "there is no rank 3; there are 3"),
        ({"type": "command", "command": "operator"}, "unknown command 'operator'"),
        ({"type": "figure", "figure": "median"}, "unknown figure 'median'"),
        ({"type": "turn", "tab": "rank", "by": 1}, "unknown tab 'rank'"),
    ],
)
def test_a_wrong_message_is_one_line_and_does_nothing(
    fleet: FakeFleet, panel: RanksPanel, message: object, text: str
) -> None:
    panel._received(panel, message, [])
    assert panel.status["error"].startswith(text)
    assert "\n" not in panel.status["error"]
    assert fleet.commands == []


def test_a_page_writes_no_trait(panel: RanksPanel) -> None:
    before = panel._esm
    panel.set_state({"_esm": "alert(1)", "tab": "rank"})
    assert panel.status["error"] == "a page cannot set _esm, tab"
    assert (panel._esm, panel.tab) == (before, "captures")


_VALUES = (
    st.none() | st.booleans() | st.integers(-3, 10**12) | st.text(max_size=9) | st.lists(st.integers(), max_size=2)
)
_FIELDS = sorted({field for action in RANKS_VIEW.actions.values() for field in action.fields})
_MESSAGES = st.builds(
    lambda kind, fields: {**fields, "type": kind},
    st.sampled_from([*RANKS_VIEW.actions, "x"]) | _VALUES,
    st.dictionaries(st.sampled_from(_FIELDS), _VALUES | st.sampled_from(["captures", "rank", "mean"]), max_size=4),
)


def test_no_message_fails_the_panel(fleet: FakeFleet, panel: RanksPanel) -> None:
    @settings(max_examples=150, deadline=None)
    @given(_MESSAGES | _VALUES)
    def check(message: object) -> None:
        panel._received(panel, message, [])
        json.dumps([panel.status, panel.ranks, panel.captures, panel.parameters, panel.chosen, panel.answers])

    check()
    panel._received(panel, {"type": "show", "tab": "captures"}, [])
    assert panel.status["error"] == "" or not panel.status["error"].startswith("the panel could not")
    assert panel._thread.is_alive()


ODD_REPLIES: list[Any] = [
    None,
    "",
    3,
    [],
    {},
    {"rows": [{}]},
    {"state": 5, "step": None, "loss": "x"},
    {"state": "runs", "step": "5"},
    {"state": "runs", "step": 5, "loss": 1.0, "requests": {}},
]


@pytest.mark.faults_expected
@pytest.mark.parametrize("reply", [*ODD_REPLIES, None], ids=[*(repr(reply) for reply in ODD_REPLIES), "all in turns"])
def test_whatever_ranks_answer_the_panel_goes_on(fleet: FakeFleet, panel: RanksPanel, ask: Ask, reply: Any) -> None:
    replies = itertools.cycle([reply] if reply is not None else ODD_REPLIES)
    for rank in fleet.ranks.values():
        for kind in ("_status", "_captures", "_evaluate", "_panel"):
            setattr(rank, kind, lambda **_: next(replies))
    for tab in ("captures", "rank") * 5:
        ask("show", tab=tab)
        for _ in ("request", "reply"):
            with panel._lock, suppress(Exception):  # as the worker does, which reports a fault
                panel._next_status = 0.0
                panel._run_once(1.0)
        ask("evaluate", expression="x", rank=-1)
        fleet.tell()
    assert all(type(row["step"]) is int for row in panel.ranks)
    for rank in fleet.ranks.values():
        del rank._status, rank._captures
        rank.status["step"] = 5
    ask("show", tab="captures")
    fleet.tell()
    wait_until("sound answers", lambda: [rank["step"] for rank in panel.ranks] == [5, 5, 5])


# Messages sent, and state kept


def test_what_is_as_it_was_is_sent_to_nobody(fleet: FakeFleet, panel: RanksPanel, ask: Ask, sent: list[Any]) -> None:
    wait_until("the table", lambda: rows_of(panel))
    with panel._lock:
        panel._run_once(0.0)
        count = len(sent)
        for _ in range(5):
            panel._run_once(0.0)
        assert len(sent) == count


def test_a_saved_notebook_keeps_the_ranks_the_findings_and_what_differs(fleet: FakeFleet, panel: RanksPanel) -> None:
    fleet.found = [RankFinding("ranks_differ", 1, (1,), "relu", "output", "<b>relu</b> differs", "look")]
    fleet.ranks[1].captures["conv#0 forward output"] = row(nan=1.0)
    fleet.pause(1)
    forms, _ = panel._repr_mimebundle_()
    assert forms["text/plain"] == repr(panel) == "RanksPanel(net, 3 ranks)"
    html = forms["text/html"]
    for text in ("paused on rank 1", "forward of relu, line 15", "&lt;b&gt;relu&lt;/b&gt; differs", "0.25 (1 NaN)"):
        assert text in html
    assert "relu#0 forward output" not in html  # it is the same everywhere
    assert "<script" not in html


def test_a_closed_panel_asks_and_observes_no_more(fleet: FakeFleet, panel: RanksPanel) -> None:
    panel.close()
    panel._thread.join()
    request_count = len(fleet.ranks[0].requests)
    fleet.tell()
    assert fleet.observers == []
    assert len(fleet.ranks[0].requests) == request_count
    panel.close()
