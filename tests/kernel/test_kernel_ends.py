"""Restart and shutdown while a cell is paused, in kernels of their own."""

from __future__ import annotations

from kernel_driver import Kernel


def paused(kernel: Kernel) -> str:
    cell = kernel.execute(
        "from hookscope.kernel import pause\nprint('paused')\ntry: pause(lambda: False)\nfinally: print('unwound')"
    )
    kernel.wait_for_text("paused", cell)
    return cell


def test_shutdown_unwinds_a_paused_cell_and_the_process_ends_by_itself() -> None:
    with Kernel() as kernel:
        cell = paused(kernel)
        kernel.send("shutdown_request", {"restart": False}, control=True)
        # Not the reply: the process may end before its thread of the shell channel has passed it on.
        kernel.until(lambda: kernel.is_idle(cell), "idle")
        assert kernel.printed(cell).endswith("unwound\n")
        [error] = [m["content"] for m in kernel.children(cell) if m["msg_type"] == "error"]
        assert error["ename"] == "KernelEnding"
        assert error["traceback"] == ["The kernel was shut down while this cell was paused."]
        kernel.until(lambda: not kernel.manager.is_alive(), "the end of the process")


def test_restart_while_paused_gives_a_new_kernel() -> None:
    with Kernel() as kernel:
        kernel.run("old = 1")
        cell = paused(kernel)
        kernel.restart()
        assert kernel.printed(cell).endswith("unwound\n")
        assert kernel.run("print('old' in globals())").text == "False\n"


def test_shutdown_ends_a_worker_that_is_paused() -> None:
    with Kernel() as kernel:
        kernel.run(
            "import threading; from hookscope.kernel import pause\n"
            "def work():\n    print('paused'); pause(lambda: False)\n"
            "threading.Thread(target=work).start()"
        )
        kernel.wait_for_text("paused")
        kernel.send("shutdown_request", {"restart": False}, control=True)
        kernel.until(lambda: not kernel.manager.is_alive(), "the end of the process")
