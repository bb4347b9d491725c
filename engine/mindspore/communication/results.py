"""Destination of results: the argument tensors, by default, or new ones."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.argument_checks import check_bool

__all__ = ["set_comm_ops_inplace"]

_TWO_WAYS = ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "recv", "irecv")
"""Functions that can also return their result as a new tensor (``set_comm_ops_inplace``)."""
gives_new: set[str] = set()


def set_comm_ops_inplace(is_enable: bool, func_list: Sequence[str] | None = None) -> None:
    """Choose whether functions write results into tensors, the default, or return new ones.

    Args:
        is_enable: whether to write into tensors.
        func_list: names of functions; None for all that support both: all_reduce, all_gather_into_tensor,
            reduce_scatter_tensor, all_to_all_single, recv and irecv.

    Raises:
        TypeError: not a bool, or not a list or tuple.
        ValueError: a function that does not support both.
    """
    check_bool(is_enable, "set_comm_ops_inplace", "is_enable")
    if func_list is not None and not isinstance(func_list, list | tuple):
        raise TypeError(
            f"For 'set_comm_ops_inplace', 'func_list' must be a list or tuple, but got {type(func_list).__name__}"
        )
    for name in func_list or ():
        if name not in _TWO_WAYS:
            raise ValueError(f"For 'set_comm_ops_inplace', 'func_list' may hold {_TWO_WAYS}, but got {name!r}")
    (gives_new.difference_update if is_enable else gives_new.update)(_TWO_WAYS if func_list is None else func_list)
