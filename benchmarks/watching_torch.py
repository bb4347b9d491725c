"""The ways of watching for ``watching.py`` in PyTorch: hooks on every module, forward and backward.

Values from hooks are retained up to the bound of a Hookscope session, in bytes.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]  # the peer's interpreter has it

MOST_BYTES = 256 << 20
BINS = 64


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)


class _RingBuffer:
    """The newest tensors, as long as their memory, each counted once, is within the bound."""

    def __init__(self) -> None:
        self._tensors: deque[Any] = deque()
        self._users: dict[int, int] = {}
        self._bytes = 0

    def __call__(self, tensor: Any) -> None:
        storage = tensor.untyped_storage()
        self._tensors.append(tensor)
        self._count(storage, 1)
        while self._bytes > MOST_BYTES:
            self._count(self._tensors.popleft().untyped_storage(), -1)

    def _count(self, storage: Any, change: int) -> None:
        key = storage.data_ptr()
        before = self._users.get(key, 0)
        after = self._users[key] = before + change
        if not before:
            self._bytes += storage.nbytes()
        if not after:
            del self._users[key]
            self._bytes -= storage.nbytes()


class _Hooks:
    """Hooks that call ``see`` with each input and output of each module, and with its gradient."""

    def __init__(self, net: Any, see: Callable[[Any], None] = lambda tensor: None) -> None:
        warnings.filterwarnings("ignore", message="Full backward hook is firing")
        self._net = net
        self._see = see
        self._handles: list[Any] = []

    def attach(self) -> None:
        for module in self._net.modules():
            self._handles.append(module.register_forward_hook(self._forward))
            self._handles.append(module.register_full_backward_hook(self._backward))

    def detach(self) -> None:
        while self._handles:
            self._handles.pop().remove()

    def _forward(self, module: Any, inputs: Any, output: Any) -> None:
        for tensor in _tensors((inputs, output)):
            self._see(tensor.detach())

    def _backward(self, module: Any, grad_input: Any, grad_output: Any) -> None:
        for tensor in _tensors((grad_output, grad_input)):
            self._see(tensor)


class _Nothing(_Hooks):
    def attach(self) -> None:
        pass


def _figures(tensor: Any) -> tuple[Any, ...]:
    """Return the figures of ``hookscope.engine.debug.statistics``, for a tensor of finite numbers."""
    low, high = tensor.aminmax()
    figures = (
        low.item(),
        high.item(),
        tensor.mean().item(),
        tensor.std(correction=0).item(),
        torch.linalg.vector_norm(tensor).item(),
        tensor.numel() - torch.count_nonzero(tensor).item(),
        torch.isnan(tensor).sum().item(),
        torch.isposinf(tensor).sum().item(),
        torch.isneginf(tensor).sum().item(),
    )
    return (*figures, torch.histc(tensor, BINS, figures[0], figures[1]))


def _statistics(net: Any) -> _Hooks:
    keep = _RingBuffer()

    def see(tensor: Any) -> None:
        keep(tensor)
        with torch.no_grad():
            _figures(tensor)

    return _Hooks(net, see)


def _clones(net: Any) -> _Hooks:
    keep = _RingBuffer()
    return _Hooks(net, lambda tensor: keep(tensor.clone()))


WAYS = {
    "nothing": _Nothing,
    "references": lambda net: _Hooks(net, _RingBuffer()),
    "clones": _clones,
    "statistics": _statistics,
}
