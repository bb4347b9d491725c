"""`import mindspore`: the finder that gives the engine (`import_hook`), and the names of classes (`class_homes`)."""

from __future__ import annotations

from .import_hook import TABLE, install_as_mindspore, mindspore_is_installed, uninstall

__all__ = ["TABLE", "install_as_mindspore", "mindspore_is_installed", "uninstall"]
