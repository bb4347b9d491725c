"""Primitive classes (``mindspore.ops.operations``): the same operators, configured when made, called on tensors.

Each class is a row: its name, the function it calls, and the parameters of its constructor with their defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..surfaces import PRIMITIVES
from ..surfaces import REQUIRED as _REQUIRED
from . import (  # noqa: F401 - each declares classes when it is imported
    activation,
    adaptive_pooling,
    arithmetic,
    boxes,
    convolution,
    ctc,
    dropping,
    image,
    linalg,
    lookup,
    loss,
    margins,
    normalization,
    pooling,
    recurrent,
    reduction,
    resizing,
    shape,
    unpooling,
)
from .hook_backward import HookBackward
from .operations_more import ROWS as _MORE
from .operations_more import plain_rows
from .updates import ROWS as _UPDATES

__all__ = ["HookBackward", "Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "prim_attr_register"]


class Primitive:
    """Base of the primitive classes."""

    name = ""
    _function: Callable[..., Any]
    _parameters: tuple[tuple[str, Any], ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.name:  # a user's own primitive
            self.name, args = str(args[0] if args else kwargs.pop("name", type(self).__name__)), args[1:]
        names = [name for name, _ in self._parameters]
        if len(args) > len(names):
            raise TypeError(f"For '{self.name}', at most {len(names)} arguments are allowed, but got {len(args)}")
        values = dict(self._parameters)
        values.update(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in values:
                raise TypeError(f"For '{self.name}', there is no argument '{key}'; allowed are {names}")
            values[key] = value
        self._values = values
        self.__dict__.update(values)

    def __repr__(self) -> str:
        described = ", ".join(f"{key}={value}" for key, value in self._values.items())
        return f"Prim[{self.name}]<{described}>" if described else f"Prim[{self.name}]"

    def __call__(self, *inputs: Any) -> Any:
        return type(self)._function(*inputs, **self._values)

    def set_device(self, device_target: str) -> Primitive:
        """Kept for readers: an operator runs where its tensors are."""
        self.device_target = device_target
        return self

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Keep an attribute."""
        self.__dict__[name] = value
        return self


PrimitiveWithInfer = PrimitiveWithCheck = Primitive


def _conv2d(x: Any, weight: Any, **how: Any) -> Any:
    return convolution.conv2d(
        x, weight, None, how["stride"], how["pad_mode"], how["pad"], how["dilation"], how["group"]
    )


def _pool(function: Callable[..., Any]) -> Callable[..., Any]:
    def pooled(x: Any, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> Any:
        return function(x, kernel_size, strides, pad_mode=pad_mode)

    return pooled


def _transpose_batch(x: Any, y: Any, transpose_a: bool, transpose_b: bool) -> Any:
    return linalg.matmul(x, y, transpose_a, transpose_b)


def _softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    losses = loss.cross_entropy(logits, labels, reduction="none")
    return losses, arithmetic.sub(activation.softmax(logits, 1), labels)


_POOLING = (("kernel_size", 1), ("strides", 1), ("pad_mode", "valid"), ("data_format", "NCHW"))
_ROWS: tuple[tuple[str, Callable[..., Any], tuple[tuple[str, Any], ...]], ...] = (
    ("BatchMatMul", _transpose_batch, (("transpose_a", False), ("transpose_b", False))),
    ("BiasAdd", lambda x, b, data_format: convolution.bias_add(x, b), (("data_format", "NCHW"),)),
    (
        "Conv2D",
        _conv2d,
        (
            ("out_channel", _REQUIRED), ("kernel_size", _REQUIRED), ("mode", 1), ("pad_mode", "valid"), ("pad", 0),
            ("stride", 1), ("dilation", 1), ("group", 1), ("data_format", "NCHW"),
        ),
    ),
    ("GeLU", lambda x: activation.gelu(x, "tanh"), ()),
    ("MaxPool", _pool(pooling.max_pool2d), _POOLING),
    ("AvgPool", _pool(pooling.avg_pool2d), _POOLING),
    ("ReduceMax", lambda x, axis=(), *, keep_dims: reduction.reduce_max(x, axis, keep_dims), (("keep_dims", False),)),
    ("ReduceMean", lambda x, axis=(), *, keep_dims: reduction.mean(x, axis, keep_dims), (("keep_dims", False),)),
    ("ReduceMin", lambda x, axis=(), *, keep_dims: reduction.reduce_min(x, axis, keep_dims), (("keep_dims", False),)),
    ("SoftmaxCrossEntropyWithLogits", _softmax_cross_entropy, ()),
    ("Split", lambda x, axis, output_num: shape.chunk(x, output_num, axis), (("axis", 0), ("output_num", 1))),
)  # fmt: skip


def _class_of(name: str, function: Callable[..., Any], parameters: tuple[tuple[str, Any], ...]) -> type[Primitive]:
    required = [key for key, default in parameters if default is _REQUIRED]

    def initialise(self: Primitive, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, *args, **kwargs)
        missing = [key for key in required if self._values[key] is _REQUIRED]
        if missing:
            raise TypeError(f"For '{name}', the arguments {missing} are missing")

    body = {
        "__doc__": function.__doc__,
        "__module__": __name__,
        "__init__": initialise,
        "name": name,
        "_function": staticmethod(function),
        "_parameters": parameters,
    }
    return type(name, (Primitive,), body)


def prim_attr_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Decorator of a Primitive's ``__init__``: the arguments become attributes."""

    def initialise(self: Primitive, *args: Any, **kwargs: Any) -> None:
        import inspect

        bound = inspect.signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        Primitive.__init__(self, type(self).__name__)
        for name, value in list(bound.arguments.items())[1:]:
            self.add_prim_attr(name, value)
        fn(self, *args, **kwargs)

    return initialise


for _row in (*_ROWS, *_MORE, *_UPDATES, *plain_rows()):
    if _row[0] not in globals() and _row[0] not in PRIMITIVES:
        globals()[_row[0]] = _class_of(*_row)
        __all__.append(_row[0])
for _function, _declared in PRIMITIVES.values():
    globals()[_declared.name] = _class_of(_declared.name, _function, _declared.parameters)
    __all__.append(_declared.name)
