"""A running cell answers the debugger's panels at its safe points, and no other comms."""

from __future__ import annotations

import pytest
from kernel_driver import Kernel, start

WORK = """
from hookscope.engine.tape.progress import Stopped, progress
from hookscope.widgets import progress_view
def work(until, pace=0.001, **options):
    with progress("counting", 10_000, "beans", **options) as counting:
        while not until() and not counting.stopping:
            time.sleep(pace)
            counting.advance()
    return counting.done
"""
OTHER = """
others = []
other = comm.create_comm(target_name="other")
other.on_msg(lambda message: others.append((message["content"]["data"], len(log))))
"""


@pytest.fixture
def panel(kernel: Kernel, link: str) -> str:
    """Open a comm that counts as a panel's; return its id."""
    assert kernel.run(f"{WORK}\nprogress_view.LIVE_COMMS.add({link!r})").status == "ok"
    return link


@pytest.fixture
def other(kernel: Kernel, panel: str) -> str:
    """Open the comm of a user's widget; return its id."""
    return kernel.comm_opened(kernel.run(OTHER).reply["parent_header"]["msg_id"])


def test_a_running_cell_hears_its_panel(kernel: Kernel, panel: str) -> None:
    cell = start(kernel, "print('paused'); work(told('go')); print(log)")
    kernel.comm(panel, "hello")
    kernel.comm(panel, "go")
    assert kernel.result(cell).text == "paused\n['hello', 'go']\n"


def test_500_messages_of_a_panel_keep_their_order_in_a_running_cell(kernel: Kernel, panel: str) -> None:
    cell = start(kernel, "print('paused'); work(told('go')); print(log == [*range(500), 'go'])")
    for number in range(500):
        kernel.comm(panel, number)
    kernel.comm(panel, "go")
    assert kernel.result(cell).text.endswith("True\n")


def test_the_users_own_callbacks_wait_until_the_cell_is_done(kernel: Kernel, panel: str, other: str) -> None:
    cell = start(kernel, "print('paused'); work(told('go')); print(others)")
    kernel.comm(other, "first")
    kernel.comm(panel, "hello")
    kernel.comm(other, "second")
    kernel.comm(panel, "go")
    assert kernel.result(cell).text.endswith("[]\n")
    assert kernel.run("print(others)").text == "[('first', 2), ('second', 2)]\n"


def test_a_queued_cell_and_a_query_wait_and_are_answered_once(kernel: Kernel, panel: str) -> None:
    cell = start(kernel, "print('paused'); work(told('go')); done = True")
    queued = kernel.execute("print('queued', done)")
    query = kernel.send("kernel_info_request", {})
    kernel.comm(panel, "go")
    assert kernel.result(cell).status == "ok"
    assert kernel.result(queued).text == "queued True\n"
    kernel.until(lambda: query in kernel.replies, "the reply to the query")


def test_a_message_has_its_own_busy_and_idle_and_the_cell_stays_busy(kernel: Kernel, panel: str) -> None:
    cell = start(kernel, "print('paused'); work(told('go')); print('in the cell')")
    message = kernel.comm(panel, "hello")
    kernel.until(lambda: kernel.is_idle(message), "the message's idle")
    kernel.until(lambda: kernel.states(cell) == ["busy", "busy"], "busy again for the cell")
    kernel.comm(panel, "go")
    assert kernel.result(cell).text == "paused\nin the cell\n", "the output is not in the cell"
    assert kernel.states(message) == ["busy", "idle"]


def test_stop_ends_work_that_raises_with_one_line(kernel: Kernel, panel: str) -> None:
    kernel.run("from hookscope.engine.tape import progress as p\nlink.on_msg(lambda m: p.current().stop())")
    cell = start(kernel, "print('paused', flush=True); work(lambda: False); print('not reached')")
    kernel.comm(panel, "stop")
    result = kernel.result(cell)
    assert result.error_names == ["Stopped"] and "not reached" not in result.text
    (error,) = result.of_type("error")
    assert len(error["content"]["traceback"]) == 1
    assert error["content"]["traceback"][0].startswith("counting stopped after ")


def test_stop_lets_work_that_does_not_raise_come_to_its_end(kernel: Kernel, panel: str) -> None:
    kernel.run("from hookscope.engine.tape import progress as p\nlink.on_msg(lambda m: p.current().stop())")
    cell = start(kernel, "print('paused', flush=True); print(0 < work(lambda: False, raises=False) < 10_000)")
    kernel.comm(panel, "stop")
    assert kernel.result(cell).text == "paused\nTrue\n"


def test_a_callback_that_raises_does_not_end_the_cell(kernel: Kernel, panel: str) -> None:
    kernel.run("def fail(m):\n    heard(m)\n    raise ValueError('callback')\nlink.on_msg(fail)")
    cell = start(kernel, "print('paused'); work(told('go')); print('done')")
    kernel.comm(panel, "hello")
    kernel.comm(panel, "go")
    assert kernel.result(cell).text == "paused\ndone\n"


@pytest.mark.parametrize("way", ["signal", "message"])
def test_an_interrupt_ends_a_cell_that_answers_all_the_time(kernel: Kernel, panel: str, way: str) -> None:
    cell = start(kernel, "print('paused', flush=True); work(lambda: False)")
    for number in range(300):
        kernel.comm(panel, number)
        if number == 150:
            kernel.interrupt(way)
    assert kernel.result(cell).error_names == ["KeyboardInterrupt"]
    assert kernel.run("print(log == list(range(300)))").text == "True\n", "waiting messages are lost after the cell"


def test_an_interrupt_ends_a_callback_that_hangs_and_the_cell_with_it(kernel: Kernel, panel: str) -> None:
    kernel.run("def hang(m):\n    print('hanging', flush=True)\n    while True: pass\nlink.on_msg(hang)")
    cell = start(kernel, "print('paused', flush=True); work(lambda: False)")
    kernel.comm(panel, "hello")
    kernel.wait_for_text("hanging")
    kernel.interrupt("signal")
    assert kernel.result(cell).error_names == ["KeyboardInterrupt"]


def test_an_async_cell_answers_in_its_loops(kernel: Kernel, panel: str) -> None:
    code = "print('paused', flush=True)\nwork(told('go'))\nawait asyncio.sleep(0)\nprint(log)"
    cell = start(kernel, code)
    kernel.comm(panel, "go")
    assert kernel.result(cell).text == "paused\n['go']\n"


def test_a_thread_answers_while_the_cell_waits_for_it(kernel: Kernel, panel: str, other: str) -> None:
    code = "print('paused', flush=True); worker = threading.Thread(target=work, args=[told('go')]); worker.start()"
    cell = start(kernel, f"{code}; worker.join(); print(log, others)")
    kernel.comm(other, "first")
    kernel.comm(panel, "go")
    assert kernel.result(cell).text == "paused\n['go'] []\n"
    assert kernel.run("print(others)").text == "[('first', 1)]\n"


def test_work_that_a_callback_does_in_a_free_kernel_hears_its_panel(kernel: Kernel, panel: str) -> None:
    kernel.run("link.on_msg(lambda m: (heard(m), print('at work', work(told('go')) > 0)) if not log else heard(m))")
    first = kernel.comm(panel, "work")
    kernel.wait_for_text("", first)
    kernel.comm(panel, "go")
    kernel.wait_for_text("at work True")
    assert kernel.run("print(log)").text == "['work', 'go']\n"


def test_work_that_a_callback_does_in_a_paused_cell_hears_its_panel(kernel: Kernel, panel: str) -> None:
    kernel.run("link.on_msg(lambda m: (heard(m), work(told('enough'))) if not log else heard(m))")
    cell = start(kernel, "print('paused'); pause(told('go')); print(log)")
    for word in ("work", "enough", "go"):
        kernel.comm(panel, word)
    assert kernel.result(cell).text == "paused\n['work', 'enough', 'go']\n"


def test_a_message_of_the_user_that_waits_does_not_fill_the_queue_to_the_main_thread(
    kernel: Kernel, panel: str, other: str
) -> None:
    # More answers than the queue takes messages, each of which might announce the waiting ones.
    kernel.run("import hookscope.kernel.pauses.pump as p; seconds, p.ANSWER_SECONDS = p.ANSWER_SECONDS, 1e-6")
    code = "print('paused', flush=True); worker = threading.Thread(target=work, args=[told('go'), 0]); worker.start()"
    cell = start(kernel, f"{code}; worker.join(); p.ANSWER_SECONDS = seconds; print(len(log))")
    kernel.comm(other, "waits")
    answered = [kernel.comm(panel, number) for number in range(3000)]
    kernel.until(lambda: kernel.is_idle(answered[-1]), "the answers")
    kernel.comm(panel, "go")  # only a kernel that is not stuck gets it
    assert kernel.result(cell).text == "paused\n3001\n"
    assert kernel.run("print(others)").text == "[('waits', 3001)]\n"


def test_a_session_that_watches_hears_its_panel_in_the_users_own_loop(kernel: Kernel, panel: str) -> None:
    code = """
import numpy as np
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
net, x = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU()), Tensor(np.ones((1, 2), np.float32))
def train(session):
    with session:
        print('paused', flush=True)
        while True: net(x)
"""
    kernel.run(f"{code}\nwatching = DebugSession(net, name='loop')\nlink.on_msg(lambda m: watching.abort())")
    cell = start(kernel, "train(watching)")
    kernel.comm(panel, "stop")
    result = kernel.result(cell)
    assert result.error_names == ["DebugAbort"]
    assert kernel.run("print(watching.attached, watching.step > 0)").text == "False True\n"
