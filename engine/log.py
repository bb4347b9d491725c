"""``mindspore.log``: what MindSpore tells of its log, read off Python's logging."""

from __future__ import annotations

import logging

__all__ = ["get_level", "get_log_config"]


def get_level() -> str:
    """The level of the log, as MindSpore counts: "0" debug, "1" info, "2" warning, "3" error, "4" critical."""
    return str({10: 0, 20: 1, 30: 2, 40: 3, 50: 4}.get(logging.getLogger("hookscope").getEffectiveLevel(), 2))


def get_log_config() -> dict[str, str]:
    """The settings of the log, by the names of MindSpore's environment variables."""
    return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}
