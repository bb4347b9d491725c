"""Completion and inspection from the notebook while a run is paused: the names of the paused function come first."""

from __future__ import annotations

import re
from typing import Any

import pytest
from kernel_driver import Kernel, start

SETUP = """
import comm, threading
import mindspore as ms
from mindspore import Tensor, nn
from hookscope.engine.debug import DebugSession

class Awkward:
    touched = 0
    plain = "as it is"

    @property
    def costly(self):
        Awkward.touched += 1
        raise RuntimeError("touched")

class Scale(nn.Cell):
    def construct(self, x):
        return x * 3

    def bprop(self, x, out, dout):
        local_gradient = dout * 3
        awkward_local = Awkward()
        shadowed = {"key_of_the_frame": 1}
        return (local_gradient,)

net, x = Scale(), Tensor([1.0, 2.0])
shadowed = "of the notebook"
link = comm.create_comm(target_name="test")
link.on_msg(lambda message: exec(message["content"]["data"], globals()))
"""
PAUSED = """
session = DebugSession(net, step=True)
with session:
    print("paused")
    ms.grad(net)(x)
"""


@pytest.fixture
def link(kernel: Kernel) -> str:
    """Open a comm whose messages the kernel executes; return its id."""
    cell = kernel.execute(SETUP)
    assert kernel.result(cell).status == "ok", kernel.result(cell).error_names
    return kernel.comm_opened(cell)


@pytest.fixture(params=[False, True], ids=["without jedi", "with jedi"])
def jedi(kernel: Kernel, request: pytest.FixtureRequest) -> bool:
    """Turn jedi on or off: IPython completes in two ways."""
    kernel.run(f"get_ipython().Completer.use_jedi = {request.param}")
    return bool(request.param)


def complete(kernel: Kernel, code: str) -> list[str]:
    reply = kernel.query("complete_request", {"code": code, "cursor_pos": len(code)})["content"]
    assert reply["status"] == "ok"
    return [str(match) for match in reply["matches"]]


def inspect(kernel: Kernel, code: str) -> str:
    content = {"code": code, "cursor_pos": len(code), "detail_level": 0}
    reply: dict[str, Any] = kernel.query("inspect_request", content)["content"]
    return re.sub(r"\x1b\[\d*m", "", reply["data"]["text/plain"]) if reply["found"] else ""


def pause_in_the_bprop(kernel: Kernel, link: str, lines: int) -> str:
    """Run up to a line of the bprop; return the cell."""
    cell = start(kernel, PAUSED)
    for _ in range(lines):
        kernel.comm(link, "session.resume('over')")  # the next message is answered at the next stop
    return cell


def go_on(kernel: Kernel, link: str, cell: str) -> None:
    kernel.comm(link, "session.resume('continue')")
    assert kernel.result(cell).status == "ok"


def test_the_locals_are_offered_while_the_pause_lasts_and_no_longer(kernel: Kernel, link: str, jedi: bool) -> None:
    assert complete(kernel, "local_gra") == []
    cell = pause_in_the_bprop(kernel, link, 3)
    assert complete(kernel, "local_gra") == ["local_gradient"]
    assert [name.lstrip(".") for name in complete(kernel, "local_gradient.asnum")] == ["asnumpy"]
    assert "shadowed" in complete(kernel, "shado")
    assert complete(kernel, "shadowed['") == ["key_of_the_frame"]
    assert "link" in complete(kernel, "lin"), "the notebook's own names are missing"
    assert inspect(kernel, "local_gradient").split()[:2] == ["Type:", "Tensor"]
    assert "key_of_the_frame" in inspect(kernel, "shadowed")
    go_on(kernel, link, cell)
    assert complete(kernel, "local_gra") == []
    assert inspect(kernel, "local_gradient") == ""
    assert "of the notebook" in inspect(kernel, "shadowed")


def test_no_property_of_a_local_is_run(kernel: Kernel, link: str, jedi: bool) -> None:
    cell = pause_in_the_bprop(kernel, link, 3)
    assert "costly" in str(complete(kernel, "awkward_local.cos"))
    assert "plain" in str(complete(kernel, "awkward_local.pl"))
    assert "property" in inspect(kernel, "awkward_local.costly")
    go_on(kernel, link, cell)
    assert kernel.run("print(Awkward.touched)").text == "0\n"


def test_of_two_pauses_the_inner_one_answers(kernel: Kernel, link: str) -> None:
    kernel.run(
        "def outer():\n    only_outside = 1\n    session.pause()\n"
        "def inner():\n    only_inside = 2\n    second.pause()\n"
        "session, second = DebugSession(net), DebugSession(net)"
    )
    cell = kernel.execute("worker = threading.Thread(target=inner); print('paused'); outer()")
    kernel.until(lambda: complete(kernel, "only_") == ["only_outside"], "the outer pause")
    kernel.comm(link, "worker.start()")
    kernel.until(lambda: complete(kernel, "only_") == ["only_inside"], "the inner one")
    kernel.comm(link, "second.resume()")
    kernel.until(lambda: complete(kernel, "only_") == ["only_outside"], "the outer one again")
    go_on(kernel, link, cell)
    assert complete(kernel, "only_") == []


def test_what_is_stepped_back_to_offers_the_names_of_then(kernel: Kernel, link: str) -> None:
    cell = pause_in_the_bprop(kernel, link, 2)
    assert complete(kernel, "awkward_l") == ["awkward_local"]
    kernel.comm(link, "session.step_back()")
    assert complete(kernel, "awkward_l") == []
    go_on(kernel, link, cell)


def test_a_magics_own_lookup_stays_the_notebooks(kernel: Kernel, link: str) -> None:
    cell = pause_in_the_bprop(kernel, link, 3)
    kernel.comm(link, "print('found', get_ipython()._ofind('local_gradient').found)")
    kernel.wait_for_text("found False")
    go_on(kernel, link, cell)
