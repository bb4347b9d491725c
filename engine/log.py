"""``mindspore.log``: messages and settings of the log, which is Python's logger "hookscope"."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["critical", "debug", "error", "get_level", "get_log_config", "info", "warning"]

_log = logging.getLogger("hookscope")


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level debug, as ``logging.Logger.debug``.

    Args:
        msg: the message; "%" signs in it are filled with ``args``.
        *args: what they are filled with.
        **kwargs: ``exc_info``, ``stack_info``, ``stacklevel`` and ``extra``.
    """
    _log.debug(msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level info, as ``debug`` does its own.

    Args:
        msg: the message.
        *args: what it is filled with.
        **kwargs: what ``logging.Logger.info`` takes.
    """
    _log.info(msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level warning, as ``debug`` does its own.

    Args:
        msg: the message.
        *args: what it is filled with.
        **kwargs: what ``logging.Logger.warning`` takes.
    """
    _log.warning(msg, *args, **kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level error, as ``debug`` does its own.

    Args:
        msg: the message.
        *args: what it is filled with.
        **kwargs: what ``logging.Logger.error`` takes.
    """
    _log.error(msg, *args, **kwargs)


def critical(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level critical, as ``debug`` does its own.

    Args:
        msg: the message.
        *args: what it is filled with.
        **kwargs: what ``logging.Logger.critical`` takes.
    """
    _log.critical(msg, *args, **kwargs)


def get_level() -> str:
    """The level of the log, as MindSpore counts: "0" debug, "1" info, "2" warning, "3" error, "4" critical."""
    return str({10: 0, 20: 1, 30: 2, 40: 3, 50: 4}.get(_log.getEffectiveLevel(), 2))


def get_log_config() -> dict[str, str]:
    """The settings of the log, by the names of MindSpore's environment variables."""
    return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}
