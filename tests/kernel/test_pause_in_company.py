"""A paused cell beside other work of a kernel: input, plots, tasks, subshells, a page that is reloaded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kernel_driver import TIMEOUT, Kernel, start


@pytest.fixture
def second_client(kernel: Kernel) -> Iterator[Kernel]:
    """Yield another client of the same kernel, as a page that was loaded again has."""
    other = kernel.second_client()
    yield other
    other.client.stop_channels()


# Very many messages


@pytest.mark.parametrize("paused", [True, False], ids=["paused", "busy"])
def test_2000_comms_and_queries_among_them_keep_their_order(kernel: Kernel, link: str, paused: bool) -> None:
    wait = "pause(told('go'))" if paused else "threading.Event().wait()"
    cell = start(kernel, f"marvellous = 1; print('paused', flush=True); {wait}")
    queries = []
    for number in range(2000):
        kernel.comm(link, number)
        if number % 100 == 0:
            queries.append(kernel.send("complete_request", {"code": "marvel", "cursor_pos": 6}))
    if paused:
        kernel.comm(link, "go")
        assert kernel.result(cell).status == "ok"
    else:
        kernel.interrupt("message")
        assert kernel.result(cell).error_names == ["KeyboardInterrupt"]
    kernel.until(lambda: all(query in kernel.replies for query in queries), "every query's answer")
    answered = [message for message in kernel.replies if message in set(queries)]
    assert answered == queries
    assert all(kernel.replies[query]["content"]["matches"] == ["marvellous"] for query in queries)
    assert kernel.run("print(log[:2000] == list(range(2000)), len(log))").text == f"True {2000 + paused}\n"


def test_a_query_stands_between_the_comms_it_was_sent_between(kernel: Kernel, link: str) -> None:
    kernel.run("link.on_msg(lambda m: (heard(m), globals().update({f'came_{len(log)}': 1})))")
    cell = start(kernel, "print('paused'); pause(told('go'))")
    queries = []
    for number in range(20):
        kernel.comm(link, number)
        queries.append(kernel.send("complete_request", {"code": "came_", "cursor_pos": 5}))
    kernel.comm(link, "go")
    kernel.result(cell)
    kernel.until(lambda: all(query in kernel.replies for query in queries), "every query's answer")
    counts = [len(kernel.replies[query]["content"]["matches"]) for query in queries]
    assert counts == list(range(1, 21))


def test_every_comm_gets_one_busy_and_one_idle(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused'); pause(told('go'))")
    comms = [kernel.comm(link, number) for number in range(200)]
    comms.append(kernel.comm(link, "go"))
    kernel.result(cell)
    kernel.until(lambda: kernel.is_idle(comms[-1]), "the last comm's idle")
    assert [kernel.states(message) for message in comms] == [["busy", "idle"]] * 201


# A page that is loaded again


def test_a_reloaded_page_finds_the_widgets_and_can_go_on(kernel: Kernel, link: str, second_client: Kernel) -> None:
    cell = start(kernel, "print('paused'); print(pause())")
    button = kernel.comm_opened(cell, "ButtonModel")
    comms = second_client.query("comm_info_request", {"target_name": "jupyter.widget"})["content"]["comms"]
    assert button in comms
    control = "control-of-the-second-page"
    opening = {"comm_id": control, "target_name": "jupyter.widget.control", "data": {}}
    second_client.send("comm_open", opening, metadata={"version": "1.0.0"})
    request = second_client.comm(control, {"method": "request_states"})

    def states() -> object:
        messages = [m for m in second_client.children(request) if m["msg_type"] == "comm_msg"]
        return messages and messages[0]["content"]["data"]["states"]

    assert second_client.until(states, "the widgets' states")[button]["state"]["description"] == "Continue"
    second_client.click(button)
    assert kernel.result(cell).text.endswith("True\n")


def test_two_pages_get_their_own_answers(kernel: Kernel, link: str, second_client: Kernel) -> None:
    cell = start(kernel, "alpha_of_one = beta_of_two = 1; print('paused'); pause(told('go'))")
    mine = [kernel.send("complete_request", {"code": "alpha_of", "cursor_pos": 8}) for _ in range(20)]
    other = [second_client.send("complete_request", {"code": "beta_of", "cursor_pos": 7}) for _ in range(20)]
    kernel.until(lambda: set(mine) <= set(kernel.replies), "the first page's answers")
    second_client.until(lambda: set(other) <= set(second_client.replies), "the second page's answers")
    assert not set(other) & set(kernel.replies)
    assert {m for q in other for m in second_client.replies[q]["content"]["matches"]} == {"beta_of_two"}
    second_client.comm(link, "go")
    assert kernel.result(cell).status == "ok"


# Input


def answer(kernel: Kernel, value: str) -> str:
    """Answer one input_request; return its prompt."""
    request = kernel.client.get_stdin_msg(timeout=TIMEOUT)
    kernel.client.input(value)
    return str(request["content"]["prompt"])


def test_input_works_before_and_after_a_pause(kernel: Kernel, link: str) -> None:
    cell = kernel.execute("a = input('first')\nprint('paused'); pause(told('go'))\nprint(a, input('second'))")
    assert answer(kernel, "one") == "first"
    kernel.wait_for_text("paused", cell)
    kernel.comm(link, "go")
    assert answer(kernel, "two") == "second"
    assert kernel.result(cell).text.endswith("one two\n")


def test_input_works_in_a_callback_of_a_paused_cell(kernel: Kernel, link: str) -> None:
    kernel.run("link.on_msg(lambda m: log.append(input('in the callback')))")
    cell = start(kernel, "print('paused'); pause(told('go')); print(log)")
    kernel.comm(link, "ask")
    assert answer(kernel, "go") == "in the callback"
    assert kernel.result(cell).text.endswith("['go']\n")


@pytest.mark.parametrize("way", ["signal", "message"])
def test_an_interrupt_ends_an_input_that_nobody_answers(kernel: Kernel, link: str, way: str) -> None:
    kernel.run("link.on_msg(lambda m: input('in the callback'))")
    cell = start(kernel, "print('paused'); pause(told('go')); print(log)")
    kernel.comm(link, "ask")
    kernel.client.get_stdin_msg(timeout=TIMEOUT)
    kernel.interrupt(way)
    assert kernel.result(cell).error_names == ["KeyboardInterrupt"]


# Output


def test_figures_of_a_paused_cell_are_not_shown_early(kernel: Kernel, link: str) -> None:
    kernel.run("%matplotlib inline\nimport matplotlib.pyplot as plt")
    cell = start(kernel, "plt.plot([1, 2]); print('paused'); pause(told('go')); plt.title('whole'); print('end')")
    hello, go = kernel.comm(link, "hello"), kernel.comm(link, "go")
    result = kernel.result(cell)
    images = [m for m in result.of_type("display_data") if "image/png" in m["content"]["data"]]
    assert len(images) == 1
    assert result.messages.index(images[0]) > result.messages.index(result.of_type("stream")[-1])
    assert not [m for c in (hello, go) for m in kernel.children(c) if m["msg_type"] == "display_data"]
    assert kernel.run("print(plt.get_fignums())").text == "[]\n"


def test_a_figure_drawn_by_a_callback_is_shown_with_the_cell(kernel: Kernel, link: str) -> None:
    kernel.run("%matplotlib inline\nimport matplotlib.pyplot as plt\nlink.on_msg(lambda m: (plt.plot([1]), heard(m)))")
    cell = start(kernel, "print('paused'); pause(told('go'))")
    kernel.comm(link, "go")
    assert len(kernel.result(cell).of_type("display_data")) == 1


def test_standard_streams_and_display_updates_in_a_callback(kernel: Kernel, link: str) -> None:
    kernel.run(
        "from IPython.display import display, update_display\n"
        "def show(m):\n    print('out'); print('err', file=sys.stderr)\n"
        "    update_display('new', display_id='shown'); display('fresh'); heard(m)\nlink.on_msg(show)"
    )
    cell = start(kernel, "handle = display('old', display_id='shown'); print('paused'); pause(told('go'))")
    message = kernel.comm(link, "go")
    result = kernel.result(cell)
    kernel.until(lambda: kernel.is_idle(message), "the comm's idle")
    values = [
        (m["msg_type"], m["content"].get("name"), m["content"].get("text"))
        for m in kernel.children(message)
        if m["msg_type"] == "stream"
    ]
    assert sorted(values) == [("stream", "stderr", "err\n"), ("stream", "stdout", "out\n")]
    updates = [m for m in kernel.children(message) if m["msg_type"] == "update_display_data"]
    assert [m["content"]["transient"] for m in updates] == [{"display_id": "shown"}]
    assert [m["content"]["data"]["text/plain"] for m in result.of_type("display_data")] == ["'old'"]


def test_an_output_widget_catches_what_a_callback_prints(kernel: Kernel, link: str) -> None:
    kernel.run(
        "import ipywidgets\nout = ipywidgets.Output()\n"
        "@out.capture()\ndef write(m): print('caught')\nlink.on_msg(lambda m: (write(m), heard(m)))"
    )
    cell = start(kernel, "print('paused'); pause(told('go')); print('after')")
    message = kernel.comm(link, "go")
    assert kernel.result(cell).text == "paused\nafter\n"
    kernel.until(lambda: kernel.is_idle(message), "the comm's idle")
    assert "caught" in kernel.printed(message)


# Tasks and subshells


def test_a_cell_that_awaits_can_pause_in_between(kernel: Kernel, link: str) -> None:
    cell = start(
        kernel, "await asyncio.sleep(0.01)\nprint('paused'); pause(told('go'))\nawait asyncio.sleep(0.01)\nprint(log)"
    )
    kernel.comm(link, "hello")
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("['hello', 'go']\n")


def test_a_task_can_pause_while_the_kernel_is_otherwise_free(kernel: Kernel, link: str) -> None:
    kernel.run(
        "async def work():\n    print('paused'); pause(told('go')); log.append('end')\n"
        "task = asyncio.create_task(work())"
    )
    kernel.wait_for_text("paused")
    waiting = kernel.execute("await task\nprint(log)")
    assert kernel.query("is_complete_request", {"code": "1"})["content"]["status"] == "complete"
    kernel.comm(link, "go")
    assert kernel.result(waiting).text == "['go', 'end']\n"


def test_a_subshell_runs_cells_while_the_main_shell_is_paused(kernel: Kernel, link: str) -> None:
    subshell = kernel.control_reply(kernel.send("create_subshell_request", {}, control=True))["content"]["subshell_id"]
    cell = start(kernel, "print('paused'); pause(told('go')); print('main:', log)")
    for number in range(10):
        content = {"code": f"print({number}, len(log) == {number}); log.append({number})", "silent": False}
        inside = kernel.send("execute_request", content, subshell=subshell)
        assert kernel.result(inside).text == f"{number} True\n"
    assert kernel.query("complete_request", {"code": "lo", "cursor_pos": 2}, subshell)["content"]["status"] == "ok"
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith(f"main: {[*range(10), 'go']}\n")
    kernel.control_reply(kernel.send("delete_subshell_request", {"subshell_id": subshell}, control=True))


def test_a_pause_that_begins_lets_a_callback_in_another_thread_finish_first(kernel: Kernel, link: str) -> None:
    kernel.run(
        "def slow(m):\n"
        "    if m['content']['data'] == 0:\n"
        "        begun.set(); entered.wait(); time.sleep(0.2)\n"
        "    heard(m)\n"
        "link.on_msg(slow); begun, entered = threading.Event(), threading.Event()\n"
        "def work():\n    begun.wait(); pause(lambda: entered.set() or told('go')())\n"
        "worker = threading.Thread(target=work); worker.start()"
    )
    for number in range(5):
        kernel.comm(link, number)
    kernel.comm(link, "go")
    assert kernel.run("worker.join(); print(log)").text == "[0, 1, 2, 3, 4, 'go']\n"


def test_a_callback_may_wait_for_the_thread_that_pauses(kernel: Kernel, link: str) -> None:
    kernel.run(
        "def train(m):\n"
        "    heard(m)\n"
        "    if m['content']['data'] == 'train':\n"
        "        worker = threading.Thread(target=pause, args=[told('go')]); worker.start(); worker.join()\n"
        "link.on_msg(train)"
    )
    kernel.comm(link, "train")
    kernel.comm(link, "go")
    assert kernel.run("print(log)").text == "['train', 'go']\n"


# Queries in a paused function


def test_history_and_completion_while_a_function_is_paused(kernel: Kernel, link: str) -> None:
    cell = start(
        kernel,
        "outside = {'inner_key': 1}\n"
        "def function(argument):\n    print('paused'); pause(told('go')); return argument\nfunction(3)",
    )
    history = {"hist_access_type": "tail", "n": 1, "raw": True, "output": False}
    assert "def function" in kernel.query("history_request", history)["content"]["history"][-1][2]
    matches = kernel.query("complete_request", {"code": "outside.ite", "cursor_pos": 11})["content"]["matches"]
    assert matches == ["items"]
    assert "function" in kernel.query("complete_request", {"code": "functio", "cursor_pos": 7})["content"]["matches"]
    info = kernel.query("kernel_info_request", {})["content"]
    assert (info["status"], info["implementation"]) == ("ok", "hookscope")
    kernel.comm(link, "go")
    assert kernel.result(cell).status == "ok"


# Callbacks


def test_exit_in_a_callback_ends_the_paused_cell_as_an_interrupt_does(kernel: Kernel, link: str) -> None:
    kernel.run("def leave(m): raise SystemExit('left')\nlink.on_msg(leave)")
    cell = start(kernel, "try: print('paused'); pause(lambda: False)\nexcept SystemExit: print('left')")
    kernel.comm(link, "anything")
    assert kernel.result(cell).text.endswith("left\n")
    assert kernel.run("print(pause(lambda: True))").text == "True\n"


def test_deeply_nested_pauses_end_from_the_inside(kernel: Kernel, link: str) -> None:
    kernel.run(
        "ended = []\n"
        "def nest(m):\n"
        "    data = m['content']['data']\n"
        "    heard(m)\n"
        "    if isinstance(data, int): pause(told(f'end {data}')); ended.append(data)\n"
        "link.on_msg(nest)"
    )
    cell = start(kernel, "print('paused'); pause(told('go')); print(ended)")
    for number in range(8):
        kernel.comm(link, number)
    for number in reversed(range(8)):
        kernel.comm(link, f"end {number}")
    kernel.comm(link, "go")
    assert kernel.result(cell).text.endswith("[7, 6, 5, 4, 3, 2, 1, 0]\n")


@pytest.mark.parametrize("way", ["signal", "message"])
def test_an_interrupt_unwinds_every_nested_pause(kernel: Kernel, link: str, way: str) -> None:
    kernel.run(
        "def nest(m):\n    heard(m)\n    try: pause(lambda: False)\n    finally: log.append('unwound')\n"
        "link.on_msg(nest)"
    )
    cell = start(kernel, "try: print('paused'); pause(lambda: False)\nfinally: print(log)")
    for number in range(3):
        kernel.comm(link, number)
    kernel.until(lambda: kernel.query("complete_request", {"code": "", "cursor_pos": 0}), "the comms before it")
    kernel.interrupt(way)
    result = kernel.result(cell)
    assert result.text.endswith("[0, 1, 2, 'unwound', 'unwound', 'unwound']\n")
    assert result.error_names == ["KeyboardInterrupt"]


# Interrupts reach what the user wrote, and no answer is lost by them


@pytest.mark.parametrize("way", ["signal", "message"])
def test_an_interrupt_of_a_callback_in_a_pause_in_a_task_leaves_the_kernel_alive(
    kernel: Kernel, link: str, way: str
) -> None:
    kernel.run("def hang(m):\n    print('hanging', flush=True)\n    while True: pass\nlink.on_msg(hang)")
    kernel.run("async def work():\n    print('paused'); pause(lambda: False)\ntask = asyncio.create_task(work())")
    kernel.wait_for_text("paused")
    kernel.wait_for_text("hanging", kernel.comm(link, "hang"))
    kernel.interrupt(way)
    assert kernel.run("await asyncio.sleep(0)\nprint(task.cancelled())").text == "True\n"


@pytest.fixture
def hanging(kernel: Kernel) -> Iterator[None]:
    """Make IPython hang, outside the user's code, where the text says "marvellous"."""
    kernel.run(
        "def transform(lines):\n"
        "    if 'marvellous' in lines[0]:\n        print('hanging', flush=True)\n        while True: pass\n"
        "    return lines\n"
        "get_ipython().input_transformers_cleanup.append(transform)"
    )
    yield
    kernel.run("get_ipython().input_transformers_cleanup.remove(transform)")


@pytest.mark.parametrize("paused", [True, False], ids=["paused", "free"])
def test_a_query_that_is_interrupted_is_answered_all_the_same(
    kernel: Kernel, link: str, hanging: None, paused: bool
) -> None:
    cell = start(kernel, "print('paused'); pause(lambda: False)") if paused else None
    query = kernel.send("is_complete_request", {"code": "marvellous"})
    kernel.wait_for_text("hanging")
    kernel.interrupt("message")
    reply = kernel.until(lambda: kernel.replies.get(query), "the reply")["content"]
    assert (reply["status"], reply["evalue"]) == ("error", "is_complete_request was not answered")
    if cell is not None:
        assert kernel.result(cell).error_names == ["KeyboardInterrupt"]


@pytest.mark.parametrize("way", ["signal", "message"])
def test_a_cell_that_is_interrupted_outside_the_users_code_is_answered(
    kernel: Kernel, link: str, hanging: None, way: str
) -> None:
    cell = kernel.execute("marvellous = 1")
    kernel.wait_for_text("hanging", cell)
    kernel.interrupt(way)
    result = kernel.result(cell)
    assert result.reply["content"]["ename"] == "KeyboardInterrupt"
    assert result.error_names == ["KeyboardInterrupt"]


def test_an_interrupt_meant_for_a_cell_that_awaits_is_not_lost_on_its_comms(kernel: Kernel, link: str) -> None:
    cell = start(kernel, "print('paused')\nwhile True: await asyncio.sleep(0.001)")
    for number in range(500):
        kernel.comm(link, number)
    kernel.interrupt("message")
    assert kernel.result(cell).error_names == ["CancelledError"]
    assert kernel.run("print(log == list(range(500)))").text == "True\n"


# The debugger


def test_what_is_evaluated_at_a_breakpoint_cannot_pause_again(kernel: Kernel, link: str) -> None:
    kernel.run(
        "import numpy as np\n"
        "from hookscope.engine import Tensor, nn\n"
        "from hookscope.engine.debug import DebugSession\n"
        "net, x = nn.SequentialCell([nn.ReLU()]), Tensor(np.ones(3, np.float32))\n"
        "session = DebugSession(net, breaks=['0:forward'])\n"
        "def act(m):\n"
        "    try: log.append(session.evaluate(m['content']['data']))\n"
        "    except RuntimeError as error: log.append(str(error))\n"
        "link.on_msg(act)\n"
        # The engine answers comms while it runs: a request before the pause would find nothing paused.
        "session.observe(lambda event: event == 'paused' and print(event, flush=True))"
    )
    cell = start(kernel, "with session: net(x)\nprint(log)")
    for expression in ("net(output).sum().item()", "session.pause()", "session.resume()"):
        kernel.comm(link, expression)
    message = "an expression that is evaluated at a pause cannot pause"
    assert kernel.result(cell).text.endswith(f"[3.0, '{message}', None]\n")
