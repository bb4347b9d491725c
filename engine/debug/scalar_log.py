"""Numbers that a training script logs, by the names of several libraries.

Without a session nothing is done, so that calls can stay in a script that runs without the debugger. Nothing is written
to a file or sent over a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex

from hookscope.engine.tape import scalar_reports

from .record.logged_numbers import MISSING, checked_numbers, checked_step, number_or_none
from .watch.newest_session import newest_session
from .watch.roots import owns_any

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["Run", "SummaryWriter", "log"]


def log(name: str | Mapping[str, Any], value: Any = MISSING, *, step: SupportsIndex | None = None) -> None:
    """Add a number, or a mapping of names to numbers, to the curves of the session that was attached last.

    The session need not be attached any more: the number of an evaluation after a training belongs to its curves.
    Without any session the arguments are checked, and nothing else is done. Any thread may call this.

        hookscope.log("val_loss", loss)
        hookscope.log({"val_loss": loss, "accuracy": accuracy}, step=epoch)

    Args:
        name: the number's name, or a mapping; a mapping in it gives names with dots.
        value: the number: a float, an int, a bool, or an array or tensor of one element. NaN and infinities are shown
            as marks.
        step: its step; by default that of the session.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: an empty or long name, or a step or a number that is too large.
    """
    session = newest_session()
    if session is not None:
        session.log(name, value, step=step)
    else:
        checked_numbers(name, value)
        checked_step(step)


class SummaryWriter:
    """Writer with the names of TensorBoard's, which adds its scalars to the curves, see ``log``.

    It accepts the arguments of TensorBoard's and writes no files. Its other ``add_...`` methods do not exist.
    """

    def __init__(self, log_dir: object = None, *args: object, **options: object) -> None:
        self.log_dir = log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: SupportsIndex | None = None,
        walltime: object = None,
        new_style: object = False,
        double_precision: object = False,
    ) -> None:
        """Log a number.

        Args:
            tag: its name.
            scalar_value: the number.
            global_step: its step; by default that of the session.
            walltime, new_style, double_precision: accepted for compatibility.
        """
        log(tag, scalar_value, step=global_step)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: SupportsIndex | None = None,
        walltime: object = None,
    ) -> None:
        """Log several numbers, whose names are ``main_tag/tag``.

        Args:
            main_tag: the first part of the names.
            tag_scalar_dict: numbers by tag.
            global_step: their step; by default that of the session.
            walltime: accepted for compatibility.
        """
        log({f"{main_tag}/{tag}": value for tag, value in tag_scalar_dict.items()}, step=global_step)

    def flush(self) -> None:
        """Return at once: each number is in the curves when its call returns."""

    def close(self) -> None:
        """Return at once: there is no file to close."""

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Run:
    """Run with the names of Weights & Biases', which adds its numbers to the curves, see ``log``.

    It stands for the result of ``wandb.init()`` and for the module ``wandb`` itself, and uses no network.

    Args:
        options: the arguments of ``wandb.init``; ``config`` is kept, the others are accepted for compatibility.
    """

    def __init__(self, **options: Any) -> None:
        self.config: dict[str, Any] = dict(options.get("config") or {})

    def log(
        self, data: Mapping[str, Any], step: SupportsIndex | None = None, commit: object = None, sync: object = None
    ) -> None:
        """Log numbers by name.

        Args:
            data: the numbers; a mapping in it gives names with dots.
            step: their step; by default that of the session.
            commit, sync: accepted for compatibility.
        """
        if not isinstance(data, Mapping):
            raise TypeError(f"log: data must be a mapping of names to numbers, got {type(data).__name__}")
        log(data, step=step)

    def finish(self, exit_code: object = None, quiet: object = None) -> None:
        """Return at once: each number is in the curves when its call returns."""

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()


def _reported(network: Cell, values: Mapping[str, Any]) -> None:
    """Log the numbers that a ``Model`` reports of its network, if the newest session watches or watched it."""
    session = newest_session()
    if session is None:
        return
    try:
        numbers = {name: number_or_none(value) for name, value in values.items()}
        if session.takes_roots or owns_any(session.roots, list(network.get_parameters())):
            session.log({name: number for name, number in numbers.items() if number is not None})
    except Exception as error:  # the debugger never ends a training
        if not session.report_fault("the metrics of a Model", error):
            raise


scalar_reports.listeners.append(_reported)
