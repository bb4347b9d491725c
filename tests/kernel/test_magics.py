"""The magics in a real kernel: their effects, the state they leave behind, and their errors for bad input."""

from __future__ import annotations

import re

import pytest
from IPython.core.error import UsageError
from kernel_driver import Kernel, Result

from hookscope.engine.debug.record import ring
from hookscope.kernel.magics import HookscopeMagics, options

SETUP = """
import comm
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn

class Double(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        grad = dout * 2
        return (grad,)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)
        self.relu = nn.ReLU()
        self.double = Double()

    def construct(self, x):
        return self.double(self.relu(self.dense(x)))

net = Net()
x = Tensor(np.ones((4, 3), np.float32))
gradient = ms.grad(net, 0)

heard = []
link = comm.create_comm(target_name="test")
def act(message):
    heard.append(message["content"]["data"])
    exec(message["content"]["data"], globals())
link.on_msg(act)

def state():
    modes = [cell.training for _, cell in net.cells_and_names()]
    hooks = [len(entries) for _, cell in net.cells_and_names() for entries in cell._hooks.values()]
    return modes, hooks
"""


@pytest.fixture
def link(kernel: Kernel) -> str:
    """Open a comm whose messages the kernel executes; return its id. The network is made anew for each test."""
    cell = kernel.execute(SETUP)
    assert kernel.result(cell).status == "ok", kernel.result(cell).error_names
    return kernel.comm_opened(cell)


def text_plain(result: Result) -> list[str]:
    kinds = ("display_data", "execute_result")
    return [m["content"]["data"]["text/plain"] for m in result.messages if m["msg_type"] in kinds]


BAD_CELLS = [
    ("nett", "%%cell: 'nett' is not defined; the nearest is 'net'"),
    ("x", "%%cell: 'x' is of type Tensor, not a Cell; a Cell is net"),
    ("net.rulu", "%%cell: net has no cell 'rulu'; the nearest is 'relu'"),
    ("net --wach relu", "%%cell: there is no option '--wach'; the nearest is '--watch'"),
    ("net --foo", "%%cell: there is no option '--foo'"),
    ("net --wa relu", "%%cell: there is no option '--wa'; the nearest is '--watch'"),
    ("net --panel", "%%cell: there is no option '--panel'; the nearest is '--no-panel'"),
    ("net more", "%%cell: unexpected 'more' after 'net'"),
    ("net --every 0", "%%cell: argument --every: must be 1 or more, got 0"),
    ("net --every two", "%%cell: argument --every: must be a whole number, got 'two'"),
    ("net --max-bytes much", "%%cell: argument --max-bytes: must be a size of 1 byte or more such as 512MB or 1GiB"),
    ("net --max-bytes 0", "such as 512MB or 1GiB, got '0'"),
    ("net --max-captures 0", "%%cell: argument --max-captures: must be 1 or more, got 0"),
    ("net --device tpu", "%%cell: argument --device: invalid choice: 'tpu' (choose from 'cpu', 'gpu')"),
    ("net -o 2x", "%%cell: argument -o/--output: must be the name of a variable, got '2x'"),
    ("net -o class", "%%cell: argument -o/--output: must be the name of a variable, got 'class'"),
    ("net --output net", "%%cell: --output 'net' is a Net; choose a new name, or that of a DebugSession"),
    ("--output x", "%%cell: --output 'x' is a Tensor; choose a new name, or that of a DebugSession"),
    ("net -o print", "%%cell: --output 'print' is Python's own; choose a new name, or that of a DebugSession"),
    ("net -o __debug__", "%%cell: --output '__debug__' is Python's own; choose a new name, or that of a DebugSession"),
    ("net -o get_ipython", "%%cell: --output 'get_ipython' is IPython's own; choose a new name"),
    ("net -o _", "%%cell: --output '_' is IPython's own; choose a new name, or that of a DebugSession"),
    ("net -o _i3", "%%cell: --output '_i3' is IPython's own; choose a new name, or that of a DebugSession"),
    ("net --train --eval", "%%cell: argument --eval: not allowed with argument --train"),
    ("--train", "%%cell: --train and --eval need a NET that exists before the body runs"),
    ("net -w", "%%cell: argument -w/--watch: expected one argument"),
    ("net -w 'relu", '%%cell: No closing quotation in "net -w \'relu"'),
    ("net -w rulu", "%%cell: watch 'rulu' matches no cell; the nearest is 'relu'"),
    ("net -w relu:sideways", "%%cell: watch 'relu:sideways': "),
    ("net -b rulu", "'relu'"),
    ("net -b relu:nowhere", "%%cell: breakpoint 'relu': moment must be one of "),
    ("net -b 'relu if value >'", "%%cell: breakpoint 'relu': "),
    ("net --check ,", "%%cell: argument --check: conditions must be names between commas, none of them empty, got ','"),
    ("net --stop-on ''", "argument --stop-on: conditions must be names between commas, none of them empty, got ''"),
    ("net --stop-on nann", "%%cell: stop_on 'nann': no such condition; the nearest is 'nan'"),
    ("net --check inf,nann", "%%cell: conditions 'nann': no such condition; the nearest is 'nan'"),
    ("net --check 'nan, if nrm > max(1, 2)'", "the name 'nrm' is unknown here; the nearest is 'norm'"),
]


@pytest.mark.parametrize(("line", "message"), BAD_CELLS)
def test_bad_input_is_one_line_and_the_body_does_not_run(kernel: Kernel, link: str, line: str, message: str) -> None:
    result = kernel.run(f"%%cell {line}\nprint('ran')")
    assert result.errors.startswith("UsageError: ")
    assert message in result.errors
    assert len(result.errors.splitlines()) == 1
    assert (result.text, result.error_names, result.status) == ("", [], "error")


def test_no_option_is_suggested_that_is_not_alike() -> None:
    for word in ("--zoo", "--qu", "-x", "--x", "-bb", "--bound"):
        with pytest.raises(UsageError, match=f"there is no option '{word}'$"):
            options.OPEN.parse_line(f"net {word}")


def test_captures_are_bounded_as_the_magics_are_told(kernel: Kernel, link: str) -> None:
    bounds = "print(_session.captures.max_bytes, _session.captures.max_captures)"
    assert kernel.run(f"%%cell net --max-bytes 1.5MiB --max-captures 70 --no-panel\n{bounds}").text == "1572864 70\n"
    assert kernel.run(f"%cell net --max-bytes 2GB\n{bounds}").text.endswith("2000000000 20000\n")
    assert kernel.run(f"%%cell net --no-panel\n{bounds}").text == "268435456 20000\n"


FAILS = "bad = Tensor(np.ones((4, 5), np.float32))\n"


def test_an_error_of_a_watched_cell_stays_for_a_post_mortem(kernel: Kernel, link: str) -> None:
    kernel.run(FAILS)
    result = kernel.run("%%cell net --no-panel\nnet(x)\ngradient(bad)")
    assert result.status == "error" and len(result.error_names) == 1
    assert kernel.run("print(_session.failure.path, type(_session.failure.error).__name__)").text == (
        f"dense {result.error_names[0]}\n"
    )
    shown = kernel.run("%cell --post-mortem")
    assert shown.status == "ok"
    look = "print(_session.shown.kind, _session.paused, _session.evaluate('x.shape'))"
    assert kernel.run(look).text == "failure None (4, 5)\n"
    assert kernel.run("%cell --post-mortem _session").status == "ok"


def test_a_watched_cell_that_ends_well_has_no_failure(kernel: Kernel, link: str) -> None:
    body = "try:\n    net(bad)\nexcept Exception:\n    print('caught', _session.failure is not None)"
    assert kernel.run(f"{FAILS}%cell --list").status == "ok"
    assert kernel.run(f"%%cell net --no-panel\n{body}").text == "caught True\n"
    result = kernel.run("%cell --post-mortem")
    assert result.errors == "UsageError: %cell --post-mortem: the newest run of _session has not ended with an error\n"


def test_an_error_outside_the_network_is_a_failure_too(kernel: Kernel, link: str) -> None:
    kernel.run("%%cell net --no-panel\nnet(x)\nmissing")
    assert kernel.run("print(_session.failure.summary)").text == "failed: NameError: name 'missing' is not defined\n"


def test_a_session_that_failed_is_released_when_its_cell_runs_again(kernel: Kernel, link: str) -> None:
    kernel.run(f"{FAILS}import gc, weakref")
    for _ in range(2):
        kernel.run("%%cell net --no-panel\nowner = globals().get('newest')\nnet(bad)")
        kernel.run("newest = weakref.ref(_session)")
    # The frames of IPython that ran a cell with an error refer to each other.
    assert kernel.run("gc.collect(); print(owner())").text == "None\n"


def test_the_sessions_variable_takes_no_others_place(kernel: Kernel, link: str) -> None:
    body = "seen = 1\nmade = net"
    for line, name in [("net -o seen", "seen"), ("made --output made", "made")]:
        result = kernel.run(f"%%cell {line}\n{body}")
        assert result.errors == (
            f"UsageError: %%cell: --output {name!r} is set by the body; choose a new name, or that of a DebugSession\n"
        )
    assert kernel.run("print(type(net).__name__, 'seen' in globals(), 'made' in globals())").text == "Net False False\n"
    for before in ("dbg = None", "pass"):  # returned by hand; a session of before
        assert kernel.run(f"{before}\nget_ipython().run_cell_magic('cell', 'net -o dbg', 'net(x)')").status == "ok"
    kernel.run("_session = {}")
    result = kernel.run("%%cell net\nnet(x)")
    assert "--output '_session' is a dict; choose a new name" in result.errors
    assert kernel.run("print(_session); _session = None").text == "{}\n"


BAD_LINES = [
    ("%cell", "%cell: NET is missing: a Cell, or the variable of a session; %cell --list names these"),
    ("%cell --post-mortem", "%cell --post-mortem: no cell has run under the debugger; %cell --list names the sessions"),
    ("%cell --post-mortem x", "%cell --post-mortem: 'x' is not a DebugSession; %cell --list names the sessions"),
    ("%cell --post-mortem --list", "%cell: unexpected '--list' beside --post-mortem"),
    ("%cell --post-mortem --max-bytes 1MB", "%cell: unexpected '--max-bytes' beside --post-mortem"),
    ("%cell nett", "%cell: 'nett' is not defined; the nearest is 'net'"),
    ("%cell --attach run nope", "%cell: unexpected 'nope' beside --attach 'run'"),
    ("%cell nope --attach=run", "%cell: unexpected 'nope' beside --attach 'run'"),
    ("%cell --attach run --max-bytes 3MB", "%cell: unexpected '--max-bytes' beside --attach 'run'"),
    ("%cell --list --attach", "%cell: unexpected '--attach' beside --list"),
    ("%cell net --list", "%cell: unexpected 'net' beside --list"),
    ("%cell net --max-byte 1", "%cell: there is no option '--max-byte'; the nearest is '--max-bytes'"),
    ("%cell net --max-captures 1.5", "%cell: argument --max-captures: must be a whole number, got '1.5'"),
    ("%params nett", "%params: 'nett' is not defined; the nearest is 'net'"),
    ("%hooks net.rulu", "%hooks: net has no cell 'rulu'; the nearest is 'relu'"),
    ("%train net maybe", "%train: argument mode: invalid choice: 'maybe' (choose from 'on', 'off')"),
    ("%train net on rulu", "%train: pattern 'rulu' matches no cell; the nearest is 'relu'"),
    ("%bprop net.relu", "%bprop: net.relu has no bprop of its own; its gradient is automatic"),
    (
        "%bprop net.double",
        "%bprop: no session has captured net.double forward and backward; "
        "run it first under %%cell net --watch 'double'",
    ),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_bad_input_of_a_line_magic_is_one_line(kernel: Kernel, link: str, line: str, message: str) -> None:
    kernel.run("_session = None")
    result = kernel.run(line)
    assert result.errors == f"UsageError: {message}\n"
    assert (result.error_names, result.status) == ([], "error")


def test_a_body_that_awaits_is_refused(kernel: Kernel, link: str) -> None:
    result = kernel.run("%%cell net\nimport asyncio\nprint('ran')\nawait asyncio.sleep(0)")
    assert result.errors == (
        "UsageError: %%cell: the body cannot use `await` outside a function; await in another cell\n"
    )
    assert result.text == ""


def test_the_device_of_a_machine_without_a_gpu_is_refused_with_the_reason(kernel: Kernel, link: str) -> None:
    result = kernel.run("%%cell net --device gpu\nprint('ran')")
    if result.text == "ran\n":
        pytest.skip("this machine has a GPU")
    assert result.errors.startswith("UsageError: %%cell: --device gpu: ")
    assert len(result.errors.splitlines()) == 1


def test_the_body_is_captured_and_its_last_value_shown(kernel: Kernel, link: str) -> None:
    result = kernel.run("%%cell net --no-panel\nnet(x).shape")
    assert text_plain(result) == ["(4, 2)"]
    paths = kernel.run("print(sorted({c.path for c in _session.captures}))").text
    assert paths == "['dense', 'double', 'relu']\n"


def test_a_semicolon_silences_the_last_value(kernel: Kernel, link: str) -> None:
    assert text_plain(kernel.run("%%cell net --no-panel\nnet(x).shape;")) == []


def test_options_reach_the_session(kernel: Kernel, link: str) -> None:
    kernel.run(
        "%%cell net -w relu:forward -w dense:backward --every 2 -o dbg --no-panel\nfor _ in range(4): gradient(x)"
    )
    output = kernel.run(
        "print(sorted({(c.path, c.direction) for c in dbg.captures}), len({c.step for c in dbg.captures}))"
    )
    assert output.text == "[('dense', 'backward'), ('relu', 'forward')] 2\n"


def test_an_error_in_the_body_is_one_traceback_and_leaves_the_network_as_it_was(kernel: Kernel, link: str) -> None:
    kernel.run("before = state()")
    first = kernel.execute("%%cell net --train\n_session.attach_hook('relu', 'forward')\nnet(x)\n1 / 0")
    second = kernel.execute("print('next')")
    result = kernel.result(first)
    assert (result.status, result.reply["content"]["ename"]) == ("error", "ZeroDivisionError")
    assert result.error_names == ["ZeroDivisionError"]
    assert not result.errors
    assert kernel.result(second).status == "aborted", "the cell has no error, at which Run All would stop"
    assert kernel.run("print(state() == before)").text == "True\n"
    assert kernel.run("n = len(_session.captures); net(x); print(len(_session.captures) == n)").text == "True\n"


def test_a_syntax_error_in_the_body_is_shown_as_usual(kernel: Kernel, link: str) -> None:
    result = kernel.run("%%cell net\nnet(x))")
    assert result.error_names == ["SyntaxError"]
    assert result.status == "error"
    assert not result.of_type("display_data"), "a panel is opened for a body that cannot run"


def traceback_of(result: Result) -> str:
    """Return the one traceback, without its colors."""
    (error,) = result.of_type("error")
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["content"]["traceback"]))


def test_a_hook_that_raises_is_one_clear_traceback_of_the_users_frames(kernel: Kernel, link: str) -> None:
    kernel.run("def bad(cell, inputs, output):\n    1 / 0\nnet.relu.register_forward_hook(bad)")
    result = kernel.run("%%cell net --no-panel\nnet(x)")
    assert result.status == "error"
    text = traceback_of(result)
    assert "File" not in text
    assert text.index("net(x)") < text.index("self.double(self.relu") < text.index("1 / 0")
    assert text.splitlines()[-2:] == [
        "ZeroDivisionError: division by zero",
        "raised by the forward hook 'bad' of cell 'relu' (ReLU)",
    ]


def test_a_bprop_that_returns_too_few_gradients_is_told_in_one_line(kernel: Kernel, link: str) -> None:
    kernel.run("Double.bprop = lambda self, x, out, dout: ()")
    result = kernel.run("%%cell net --no-panel\ngradient(x)")
    assert result.error_names == ["RuntimeError"]
    assert traceback_of(result).splitlines()[-1] == (
        "RuntimeError: the bprop of cell 'double' (Double) returned 0 gradients for 1 inputs; "
        "return one for each input of construct, None where there is none"
    )


def test_an_error_that_the_engine_raised_shows_where(kernel: Kernel, link: str) -> None:
    text = traceback_of(kernel.run("net(Tensor(np.ones((4, 5), np.float32)))"))
    files = re.findall(r"File (.+?):\d+", text)  # a folder's name may contain a space
    assert len(files) == 1
    assert "/engine/" in files[0]
    kernel.run("%config HookscopeShell.hide_engine_frames = False")
    assert len(re.findall(r"File ", traceback_of(kernel.run("net(Tensor(np.ones((4, 5), np.float32)))")))) > 1
    kernel.run("%config HookscopeShell.hide_engine_frames = True")


@pytest.mark.parametrize(("option", "mode"), [("--train", "True"), ("--eval", "False")])
def test_the_mode_holds_for_the_body_and_every_cells_own_comes_back(
    kernel: Kernel, link: str, option: str, mode: str
) -> None:
    kernel.run("net.set_train(True); net.relu.set_train(False); before = state()")
    result = kernel.run(f"%%cell net {option} --no-panel\nprint({{c.training for _, c in net.cells_and_names()}})")
    assert result.text == f"{{{mode}}}\n"
    assert kernel.run("print(state() == before)").text == "True\n"


def test_without_train_or_eval_a_mode_that_is_set_in_the_body_or_the_panel_stays(kernel: Kernel, link: str) -> None:
    kernel.run("net.set_train(False)")
    cell = kernel.execute("%%cell net -b relu -o dbg\nnet.dense.set_train(True)\nnet(x)\n1 / 0")
    kernel.comm(link, "print('at', dbg.paused.path)")
    kernel.wait_for_text("at relu")
    for content in ({"type": "train", "path": "relu", "on": True}, {"type": "resume", "command": "continue"}):
        kernel.comm(kernel.comm_opened(cell, "AnyModel"), {"method": "custom", "content": content})
    assert kernel.result(cell).error_names == ["ZeroDivisionError"]
    assert kernel.run("print([c.training for _, c in net.cells_and_names()])").text == "[False, True, True, False]\n"


def test_a_network_made_by_the_body_is_watched(kernel: Kernel, link: str) -> None:
    kernel.run("del net")
    result = kernel.run("%%cell net --no-panel\nnet = Net()\nnet(x);")
    assert result.status == "ok", result.errors
    assert kernel.run("print(_session.roots == [net], len(_session.captures) > 0)").text == "True True\n"


def test_a_body_that_makes_something_else_of_that_name_is_told(kernel: Kernel, link: str) -> None:
    result = kernel.run("%%cell mine --no-panel\nmine = 3")
    assert result.errors == "UsageError: %%cell: 'mine' is of type int, not a Cell; a Cell is net\n"


def test_without_a_name_every_root_that_runs_is_watched(kernel: Kernel, link: str) -> None:
    kernel.run("%%cell --no-panel\nnet(x); other = nn.ReLU(); other(x);")
    assert kernel.run("print(_session.roots == [net, other])").text == "True\n"


def test_a_breakpoint_pauses_until_a_widget_answers(kernel: Kernel, link: str) -> None:
    cell = kernel.execute("%%cell net -b relu -o dbg --no-panel\nprint(net(x).shape)")
    kernel.comm(link, "print(dbg.paused.kind, dbg.paused.path)")
    kernel.wait_for_text("breakpoint relu")
    assert not kernel.is_idle(cell)
    kernel.comm(link, "dbg.resume()")
    assert kernel.result(cell).text == "(4, 2)\n"


def test_the_panels_button_resumes_a_breakpoint(kernel: Kernel, link: str) -> None:
    cell = kernel.execute("%%cell net -b relu -o dbg\nprint(net(x).shape)")
    kernel.comm(link, "print('at', dbg.paused.path)")
    kernel.wait_for_text("at relu")
    content = {"type": "resume", "command": "continue"}
    kernel.comm(kernel.comm_opened(cell, "AnyModel"), {"method": "custom", "content": content})
    assert kernel.result(cell).text == "(4, 2)\n"


def test_step_stops_at_the_lines_of_a_bprop(kernel: Kernel, link: str) -> None:
    cell = kernel.execute("%%cell net --step -o dbg --no-panel\nprint(gradient(x).shape)")
    kernel.comm(link, "print(dbg.paused.lines[dbg.paused.line - dbg.paused.first_line].strip())")
    kernel.wait_for_text("grad = dout * 2")
    kernel.comm(link, "dbg.resume('over')")
    kernel.comm(link, "print('then', sorted(dbg.paused.changed))")
    kernel.wait_for_text("then ['grad']")
    kernel.comm(link, "dbg.resume()")
    assert kernel.result(cell).text == "(4, 3)\n"


@pytest.mark.parametrize("option", ["", "--train"])
def test_abort_leaves_the_network_as_it_was(kernel: Kernel, link: str, option: str) -> None:
    kernel.run("before = state()")
    cell = kernel.execute(
        f"%%cell net {option} -b relu -o dbg --no-panel\nnet.set_train(not net.training); net(x)\nprint('went on')"
    )
    kernel.comm(link, "dbg.resume('abort')")
    result = kernel.result(cell)
    assert result.error_names == ["DebugAbort"]
    assert result.text == ""
    assert kernel.run("print(state() == before)").text == "True\n"


def test_an_interrupt_at_a_breakpoint_leaves_the_network_as_it_was(kernel: Kernel, link: str) -> None:
    kernel.run("before = state()")
    cell = kernel.execute("%%cell net --train -b relu -o dbg --no-panel\nnet(x)")
    kernel.comm(link, "print('at', dbg.paused.path)")
    kernel.wait_for_text("at relu")
    kernel.interrupt("message")
    result = kernel.result(cell)
    assert (result.error_names, result.status) == (["KeyboardInterrupt"], "error")
    assert kernel.run("print(state() == before, dbg.paused)").text == "True None\n"


def test_a_run_whose_pauses_cannot_be_answered_goes_on_and_says_so_once(kernel: Kernel, link: str) -> None:
    result = kernel.run(
        "%%cell net -b relu -o dbg --no-panel\nnet(x); net(x)\nprint(len(dbg.skipped_pauses))", allow_stdin=False
    )
    assert result.text == "2\n"
    assert len(result.errors.splitlines()) == 1
    assert "this front end takes no input" in result.errors


def test_a_session_made_by_hand_pauses_in_this_kernel_too(kernel: Kernel, link: str) -> None:
    cell = kernel.execute(
        "from hookscope.engine.debug import DebugSession\n"
        "with DebugSession(net, breaks=['relu']) as dbg: print(net(x).shape)"
    )
    kernel.comm(link, "print('at', dbg.paused.path); dbg.resume()")
    assert kernel.result(cell).text == "(4, 2)\n"


def test_the_producer_of_a_nan_is_named_by_its_notebook_cell_and_line(kernel: Kernel, link: str) -> None:
    kernel.run(
        "class Log(nn.Cell):\n    def construct(self, x):\n        shifted = x - 2\n        return shifted.log()\n"
        "log = Log()"
    )
    result = kernel.run("%%cell log --check nan --no-panel\ny = log(x)")
    assert result.status == "ok"
    output = kernel.run("print(_session.producers[0])").text
    assert re.search(
        r"log in \(root\)#0 made 12 NaN of 12 elements: .* \(Cell In\[\d+\], line 4: return shifted", output
    )


def test_params_and_hooks_are_tables(kernel: Kernel, link: str) -> None:
    assert "dense.weight" in text_plain(kernel.run("%params net"))[0]
    kernel.run("def look(cell, inputs): pass\nnet.relu.register_forward_pre_hook(look)")
    table = text_plain(kernel.run("%hooks net"))[0]
    assert "relu" in table
    assert "look" in table


def test_train_sets_the_mode_of_what_the_pattern_matches(kernel: Kernel, link: str) -> None:
    assert kernel.run("%train net on").text == "net: 4 of 4 cells in training mode\n"
    assert kernel.run("%train net off 're*'").text == "net: 3 of 4 cells in training mode\n"
    assert kernel.run("print(net.relu.training, net.dense.training)").text == "False True\n"


def test_bprop_steps_through_a_bprop_with_what_was_captured(kernel: Kernel, link: str) -> None:
    kernel.run("%%cell net --no-panel\nexpected = gradient(x)")
    cell = kernel.execute("%bprop net.double")
    kernel.comm(link, "print('line', _session.paused.lines[_session.paused.line - _session.paused.first_line])")
    kernel.wait_for_text("grad = dout * 2")
    kernel.comm(link, "_session.resume()")
    result = kernel.result(cell)
    assert result.status == "ok"
    assert "Tensor(shape=[4, 2]" in result.of_type("execute_result")[0]["content"]["data"]["text/plain"]


BPROP_CELLS = """
class Scaled(nn.Cell):
    def construct(self, x, factor, y):
        return x * factor + y

    def bprop(self, x, factor, y, out, dout):
        return dout * factor, None, dout

class Halves(nn.Cell):
    def construct(self, x, factor=0.5):
        return x * factor, x * 2

    def bprop(self, x, factor, out, dout):
        return dout[0] * factor + dout[1] * 2, None

class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scaled, self.halves = Scaled(), Halves()

    def construct(self, x):
        return self.scaled(self.halves(x)[1], 3.0, x)

outer = Outer()
"""


def test_bprop_finds_a_cell_below_any_root_and_fills_in_what_no_gradient_came_for(kernel: Kernel, link: str) -> None:
    assert kernel.run(BPROP_CELLS).status == "ok"
    kernel.run("%%cell --no-panel\nnet(x); expected = ms.grad(outer)(x)")
    assert kernel.run("print(len(_session.roots))").text == "2\n"
    result = kernel.run("gradients = %bprop outer.halves", allow_stdin=False)
    assert result.text == "%bprop: outer.halves: factor not captured (no tensor), left at the default\n"
    assert result.status == "ok", result.errors
    assert kernel.run("print((gradients[0].asnumpy() + 1 == expected.asnumpy()).all())").text == "True\n"


def test_bprop_says_which_input_was_not_a_tensor(kernel: Kernel, link: str) -> None:
    kernel.run(BPROP_CELLS)
    kernel.run("%%cell outer --no-panel\nms.grad(outer)(x)")
    assert kernel.run("%bprop outer.scaled").errors == (
        "UsageError: %bprop: outer.scaled: input 'factor' of its last call was not a tensor, and only tensors are "
        "captured; step it with %%cell --step instead\n"
    )


def test_bprop_takes_inputs_and_gradients_of_one_call(kernel: Kernel, link: str) -> None:
    kernel.run("%%cell net --no-panel\ngradient(x); net(Tensor(np.ones((7, 3), np.float32)));")
    result = kernel.run("%bprop net.double", allow_stdin=False)
    assert "Tensor(shape=[4, 2]" in text_plain(result)[-1]


def test_the_help_of_the_magic_has_every_option_and_the_bounds_of_the_ring() -> None:
    text = HookscopeMagics.cell.__doc__ or ""
    for option in options.CELL._option_string_actions:
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), option
    assert f"({ring.MAX_BYTES >> 20}MiB)" in text
    assert f"({ring.MAX_CAPTURES})" in text
