"""A paused cell: messages that are handled, messages that wait, and the ends of the pause."""

from __future__ import annotations

import pytest
from kernel_driver import Kernel, start


def test_comms_are_handled_while_a_cell_is_paused(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused'); pause(told('go')); print(log)")
    kernel.comm(link, "hello")
    kernel.comm(link, "go")
    assert "['hello', 'go']" in kernel.result(cell).text


def test_pause_tells_whether_its_condition_came_true(kernel: Kernel, link: str) -> None:
    assert kernel.run("print(pause(lambda: True), pause(lambda: False, timeout=0.05))").text == "True False\n"


def test_500_comms_keep_their_order_while_paused(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused'); pause(told('go')); print(log == [*range(500), 'go'])")
    for number in range(500):
        kernel.comm(link, number)
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("True\n")


def test_500_comms_keep_their_order_while_busy(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused', flush=True); time.sleep(0.5); print(log)")
    for number in range(500):
        kernel.comm(link, number)
    assert kernel.result(cell).text.endswith("[]\n"), "a comm was handled in a busy cell"
    assert kernel.run("print(log == list(range(500)))").text == "True\n"


def test_comms_and_cells_keep_their_order_while_free(kernel: Kernel, link: str) -> None:
    cells = []
    for number in range(20):
        kernel.comm(link, number)
        cells.append(kernel.execute("print(len(log))"))
    assert [kernel.result(cell).text for cell in cells] == [f"{number + 1}\n" for number in range(20)]


def test_a_comm_sent_after_a_waiting_cell_is_handled_before_it_only_while_paused(kernel: Kernel, link: str) -> None:
    first = start(kernel, "print('paused'); pause(told('go'))")
    second = kernel.execute("print(log); log.append('second')")
    kernel.comm(link, "go")
    kernel.result(first)
    assert kernel.result(second).text == "['go']\n"


def test_cells_wait_behind_a_paused_cell(kernel: Kernel, link: str) -> None:
    first = start(kernel, "print('paused'); pause(told('go')); print('first')")
    second = kernel.execute("print('second')")
    kernel.query("kernel_info_request", {})  # sent later, but answered: so the cell was waiting to run
    assert kernel.states(second) == []
    kernel.comm(link, "go")
    assert kernel.result(first).text.endswith("first\n")
    assert kernel.result(second).text == "second\n"


def test_queries_are_answered_while_paused(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "marvellous = 1; print('paused'); pause(told('go'))")
    assert kernel.query("kernel_info_request", {})["content"]["implementation"] == "hookscope"
    complete = kernel.query("complete_request", {"code": "marvel", "cursor_pos": 6})
    assert "marvellous" in complete["content"]["matches"]
    inspect = kernel.query("inspect_request", {"code": "marvellous", "cursor_pos": 3, "detail_level": 0})
    assert inspect["content"]["found"]
    assert kernel.query("is_complete_request", {"code": "if 1:"})["content"]["status"] == "incomplete"
    assert link in kernel.query("comm_info_request", {})["content"]["comms"]
    history = {"hist_access_type": "tail", "n": 1, "raw": True, "output": False}
    assert kernel.query("history_request", history)["content"]["history"]
    kernel.comm(link, "go")
    assert kernel.result(cell).status == "ok"


def test_a_comm_gets_its_own_busy_and_idle_and_the_cell_stays_busy(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused'); pause(told('go'))")
    message = kernel.comm(link, "hello")
    kernel.until(lambda: kernel.is_idle(message), "the comm's idle")
    kernel.until(lambda: kernel.states(cell) == ["busy", "busy"], "busy again for the cell")
    kernel.comm(link, "go")
    kernel.result(cell)
    assert kernel.states(message) == ["busy", "idle"]
    assert kernel.iopub[-1]["content"] == {"execution_state": "idle"}


def test_output_after_a_comm_belongs_to_the_cell(kernel: Kernel, link: str) -> None:
    kernel.run("link.on_msg(lambda m: (heard(m), print('in the callback')))")
    cell = start(kernel, "print('paused'); pause(told('go')); print('in the cell'); display('shown')")
    message = kernel.comm(link, "go")
    result = kernel.result(cell)
    assert result.text == "paused\nin the cell\n"
    assert [m["content"]["data"]["text/plain"] for m in result.of_type("display_data")] == ["'shown'"]
    assert kernel.printed(message) == "in the callback\n"


def test_output_of_a_thread_after_a_comm_belongs_to_the_cell_that_started_it(kernel: Kernel, link: str) -> None:
    cell = start(
        kernel,
        "def work():\n    while 'go' not in log: time.sleep(0.01)\n    time.sleep(0.1); print('from the thread')\n"
        "worker = threading.Thread(target=work); worker.start()\n"
        "print('paused'); pause(lambda: not worker.is_alive())",
    )
    kernel.comm(link, "go")
    assert kernel.result(cell).text == "paused\nfrom the thread\n"


def test_a_comm_does_not_end_the_paused_cell_for_libraries(kernel: Kernel, link: str) -> None:
    kernel.run("fired = []\nget_ipython().events.register('post_execute', mark := lambda: fired.append(1))\n")
    cell = start(kernel, "fired.clear(); print('paused'); pause(told('go')); print(fired)")
    kernel.comm(link, "hello")
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("[]\n"), "matplotlib shows the unfinished figure"
    kernel.comm(link, "free")
    assert kernel.run("print(len(fired))\nget_ipython().events.unregister('post_execute', mark)").text == "2\n"


def test_a_callback_that_raises_does_not_end_the_pause(kernel: Kernel, link: str) -> None:
    kernel.run("def fail(m):\n    heard(m)\n    raise ValueError('callback')\nlink.on_msg(fail)")
    cell = start(kernel, "print('paused'); pause(lambda: len(log) == 2); print(log)")
    kernel.comm(link, 1)
    kernel.comm(link, 2)
    assert kernel.result(cell).text.endswith("[1, 2]\n")


def test_a_callback_may_pause(kernel: Kernel, link: str) -> None:
    kernel.run("link.on_msg(lambda m: (heard(m), m['content']['data'] == 'outer' and pause(told('inner'))))")
    cell = start(kernel, "print('paused'); pause(told('outer')); print(log)")
    kernel.comm(link, "outer")
    kernel.comm(link, "inner")
    assert kernel.result(cell).text.endswith("['outer', 'inner']\n")


def test_the_subshell_a_comm_names_does_not_matter(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused'); pause(told('go'))")
    kernel.comm(link, "go", subshell="no such subshell")
    assert kernel.result(cell).status == "ok"


def test_a_cell_in_a_subshell_can_pause(kernel: Kernel, link: str) -> None:
    request = kernel.send("create_subshell_request", {}, control=True)
    subshell = kernel.control_reply(request)["content"]["subshell_id"]
    content = {"code": "print('paused'); pause(told('go')); print(log)", "silent": False, "allow_stdin": True}
    cell = kernel.send("execute_request", content, subshell=subshell)
    kernel.wait_for_text("paused", cell)
    assert kernel.run("print('main is free')").text == "main is free\n"
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("['go']\n")
    kernel.control_reply(kernel.send("delete_subshell_request", {"subshell_id": subshell}, control=True))


def test_a_forged_message_is_dropped(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused'); pause(told('go')); print(log)")
    key, kernel.client.session.key = kernel.client.session.key, b"another key"
    kernel.comm(link, "forged")
    kernel.client.session.key = key
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("['go']\n")


@pytest.mark.parametrize("way", ["signal", "message"])
def test_an_interrupt_unwinds_the_pause(kernel: Kernel, link: str, way: str) -> None:
    cell = start(kernel, "try:\n    print('paused'); pause(lambda: False)\nfinally: print('unwound')")
    kernel.interrupt(way)
    result = kernel.result(cell)
    assert result.text.endswith("unwound\n")
    assert result.error_names == ["KeyboardInterrupt"]
    assert kernel.run("print(pause(lambda: True))").text == "True\n", "the interrupt ended a second cell"


@pytest.mark.parametrize("way", ["signal", "message"])
def test_an_interrupt_stops_a_callback_that_hangs_in_a_pause(kernel: Kernel, link: str, way: str) -> None:
    kernel.run("def hang(m):\n    print('hanging', flush=True)\n    while True: pass\nlink.on_msg(hang)")
    cell = start(kernel, "print('paused'); pause(lambda: False)")
    kernel.wait_for_text("hanging", kernel.comm(link, "hang"))
    kernel.interrupt(way)
    assert kernel.result(cell).error_names == ["KeyboardInterrupt"]


def test_an_interrupt_stops_a_callback_that_hangs_in_a_free_kernel(kernel: Kernel, link: str) -> None:
    kernel.run("def hang(m):\n    print('hanging', flush=True)\n    while True: pass\nlink.on_msg(hang)")
    kernel.wait_for_text("hanging", kernel.comm(link, "hang"))
    kernel.interrupt("message")
    assert kernel.run("print('free')").text == "free\n"


def test_an_async_cell_gets_comms_while_it_awaits(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused')\nwhile 'go' not in log: await asyncio.sleep(0.01)\nprint(log)")
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("['go']\n")


def test_an_interrupt_unwinds_a_pause_in_an_async_cell(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "await asyncio.sleep(0)\nprint('paused')\npause(lambda: False)")
    kernel.interrupt("message")
    assert kernel.result(cell).error_names == ["KeyboardInterrupt"]


def test_an_interrupt_of_a_pause_in_a_task_leaves_the_kernel_alive(kernel: Kernel, link: str) -> None:
    kernel.run("async def work():\n    print('paused'); pause(lambda: False)\ntask = asyncio.create_task(work())")
    kernel.wait_for_text("paused")
    kernel.interrupt("message")
    assert kernel.run("await asyncio.sleep(0)\nprint(task.cancelled())").text == "True\n"


ABOUT_TO_PAUSE = "    signal.raise_signal(signal.SIGINT)\n    pause(lambda: False)"
"""An interrupt that comes between a line of the user and the pause."""


def test_an_interrupt_just_before_a_pause_in_an_async_cell_is_not_lost(kernel: Kernel, link: str) -> None:
    cell = kernel.run(f"import signal\nawait asyncio.sleep(0)\nif True:\n{ABOUT_TO_PAUSE}")
    assert cell.error_names == ["KeyboardInterrupt"]


def test_an_interrupt_just_before_a_pause_in_a_task_is_not_lost(kernel: Kernel, link: str) -> None:
    kernel.run(f"import signal\nasync def work():\n{ABOUT_TO_PAUSE}\ntask = asyncio.create_task(work())")
    assert kernel.run("await asyncio.sleep(0)\nprint(task.cancelled())").text == "True\n"


def test_an_interrupt_that_an_async_cell_has_heard_of_does_not_end_its_next_pause(kernel: Kernel, link: str) -> None:
    cell = start(
        kernel,
        "import signal\nsignal.raise_signal(signal.SIGINT)\ntry: await asyncio.sleep(60)\n"
        "except asyncio.CancelledError: print('paused')\npause(told('go')); print(log)",
    )
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("['go']\n")


def test_a_thread_can_pause_while_the_main_thread_waits_for_it(kernel: Kernel, link: str) -> None:
    cell = start(
        kernel,
        "def work():\n    print('paused'); pause(told('go')); print(log)\n"
        "worker = threading.Thread(target=work); worker.start(); worker.join()",
    )
    kernel.comm(link, "hello")
    assert kernel.query("complete_request", {"code": "lo", "cursor_pos": 2})["content"]["status"] == "ok"
    history = {"hist_access_type": "tail", "n": 1, "raw": True, "output": False}
    assert kernel.query("history_request", history)["content"]["history"]
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("['hello', 'go']\n")


def test_a_thread_can_pause_while_the_kernel_is_free(kernel: Kernel, link: str) -> None:
    kernel.run(
        "def work():\n    pause(told('go')); done.append(list(log))\n"
        "done = []; worker = threading.Thread(target=work); worker.start()"
    )
    for number in range(100):
        kernel.comm(link, number)
    assert kernel.run("print('free')").text == "free\n"
    kernel.comm(link, "go")
    assert kernel.run("worker.join(); print(done == [[*range(100), 'go']])").text == "True\n"
    kernel.comm(link, "after")
    assert kernel.run("print(log[-1])").text == "after\n", "the main thread does not handle comms"


def test_what_a_thread_leaves_in_the_inbox_goes_to_the_main_thread(kernel: Kernel, link: str) -> None:
    kernel.run(
        "link.on_msg(lambda m: (heard(m), time.sleep(0.3)) if not log else heard(m))\n"
        "worker = threading.Thread(target=pause, args=[told(0)]); worker.start()"
    )
    for number in range(20):  # the first ends the pause, while the others have arrived
        kernel.comm(link, number)
    kernel.until(lambda: len(kernel.run("print(*log)").text.split()) == 20, "all of them")
    assert kernel.run("print(log == list(range(20)))").text == "True\n"


def test_of_several_pauses_the_last_one_handles_the_comms_in_order(kernel: Kernel, link: str) -> None:
    kernel.run(
        "link.on_msg(lambda m: (heard(m), threads.append(threading.current_thread())))\n"
        "threads = []; entered = threading.Event()\n"
        "outer = threading.Thread(target=pause, args=[lambda: entered.set() or told('end')()])\n"
        "outer.start(); entered.wait()"
    )
    cell = start(kernel, "print('paused'); pause(told('go')); print(log == [*range(200), 'go'], set(threads))")
    for number in range(200):
        kernel.comm(link, number)
    kernel.comm(link, "go")
    text = kernel.result(cell).text
    assert "True {<_MainThread" in text
    assert "Thread-" not in text
    kernel.comm(link, "end")
    assert kernel.run("outer.join(); print(threads[-1] is outer)").text == "True\n"


def test_a_paused_thread_does_not_hide_the_end_of_other_cells(kernel: Kernel, link: str) -> None:
    kernel.run(
        "fired = []\n"
        "get_ipython().events.register('post_execute', mark := lambda: fired.append(1))\n"
        "entered = threading.Event()\n"
        "worker = threading.Thread(target=pause, args=[lambda: entered.set() or told('end')()])\n"
        "worker.start(); entered.wait()"
    )
    kernel.run("fired.clear()")
    assert kernel.run("print(len(fired))\nget_ipython().events.unregister('post_execute', mark)").text == "1\n"
    kernel.comm(link, "end")
    kernel.run("worker.join()")


@pytest.mark.parametrize("way", ["signal", "message"])
def test_an_interrupt_reaches_a_pause_in_a_thread(kernel: Kernel, link: str, way: str) -> None:
    kernel.run(
        "entered, ended = threading.Event(), []\n"
        "def work():\n"
        "    try: pause(entered.set)\n"
        "    except KeyboardInterrupt: ended.append('thread')\n"
        "worker = threading.Thread(target=work); worker.start(); entered.wait()"
    )
    kernel.interrupt(way)
    # The kernel may get the signal while it runs the next cell, which is then interrupted, too.
    kernel.until(lambda: kernel.run("print(*ended)").text == "thread\n", "the end of the thread")


def test_pause_without_a_condition_waits_for_its_button(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused'); print(pause())")
    kernel.click(kernel.comm_opened(cell, "ButtonModel"))
    assert kernel.result(cell).text.endswith("True\n")


def test_pause_without_a_condition_ends_on_resume(kernel: Kernel, link: str) -> None:
    kernel.run("link.on_msg(lambda m: resume())")
    cell = start(kernel, "print('paused'); print(pause())")
    kernel.comm_opened(cell, "ButtonModel")
    kernel.comm(link, "anything")
    assert kernel.result(cell).text.endswith("True\n")


def test_a_pause_cannot_be_answered_where_input_is_not_allowed(kernel: Kernel, link: str) -> None:
    result = kernel.run("print(pause(), pause(lambda: False))", allow_stdin=False)
    assert result.text == "False False\n"
    assert result.errors.splitlines()[0] == (
        "hookscope: not pausing, because this front end takes no input (it runs the notebook from start to end)."
    )
    assert not result.of_type("display_data"), "a button is shown"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("pause(3)", "TypeError: pause: until must be a function without arguments or None, got int"),
        ("pause(timeout=-1)", "ValueError: pause: timeout must be seconds, zero or more, or None, got -1"),
        ("pause(timeout='1')", "ValueError: pause: timeout must be seconds, zero or more, or None, got '1'"),
    ],
)
def test_bad_arguments_of_pause_are_named(kernel: Kernel, link: str, call: str, error: str) -> None:
    assert kernel.run(f"try: {call}\nexcept Exception as e: print(f'{{type(e).__name__}}: {{e}}')").text == f"{error}\n"
