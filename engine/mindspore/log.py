"""``mindspore.log``: messages and settings of the log, which is Python's logger "hookscope"."""

from __future__ import annotations

import logging

__all__ = ["critical", "debug", "error", "get_level", "get_log_config", "info", "warning"]

_log = logging.getLogger("hookscope")


# The logger's own methods, so that a message names the file and line of its caller.
debug, info, warning, error, critical = _log.debug, _log.info, _log.warning, _log.error, _log.critical


def get_level() -> str:
    """Return the log level as MindSpore counts: "0" debug, "1" info, "2" warning, "3" error, "4" critical."""
    return str({10: 0, 20: 1, 30: 2, 40: 3, 50: 4}.get(_log.getEffectiveLevel(), 2))


def get_log_config() -> dict[str, str]:
    """Return the settings of the log, by the names of MindSpore's environment variables."""
    return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}
