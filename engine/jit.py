"""What MindSpore has for its graph compiler: ``jit``, ``jit_class``, ``JitConfig``, ``mutable``, ``constexpr``, ...

``jit`` runs functions by the plans of ``engine.graph``. The other decorators mark what a compiler would have to know;
a trace sees it by itself, so that they return what they decorate.
"""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from .core.checks import check_bool, check_int, check_type
from .core.modes import graphs
from .core.names import on_first_use
from .core.placeholder import Placeholder
from .core.tensor import Tensor
from .nn import Cell

__all__ = [
    "JitConfig", "constexpr", "enable_dynamic", "jit", "jit_class", "lazy_inline", "ms_memory_recycle",
    "mutable", "no_inline",
]  # fmt: skip


Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)
V = TypeVar("V")


def _one_of(value: object, allowed: tuple[Any, ...], name: str, owner: str) -> None:
    if value not in allowed:
        raise ValueError(f"For '{owner}', '{name}' must be one of {list(allowed)}, but got {value!r}")


def jit(
    function: Callable[..., Any] | None = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    **options: Any,
) -> Any:
    """Run a function by plans: it is traced when it is called, and computed without Python's part of it from then on.

    A call gives what the function gives eagerly, hooks included: for each combination of shapes, dtypes and Python
    values that the code reads there is a plan, and where none can be made the call runs eagerly and a warning says why.

    Args:
        function: a function, a method, a Cell or a class of Cells; None where there are options only.
        capture_mode: "ast", "bytecode" or "trace": here all three trace.
        jit_level: "O0", which keeps each bit; "O1" joins operators to loops, which rounds otherwise.
        dynamic: 0: shapes that vary have a plan each. 1: lengths that were seen to change are left open, for one plan.
        fullgraph: whether a call of which no plan can be made raises an error that names the line.
        backend: "" or "ms_backend"; "GE" is of other devices.
        **options: ``disable_format_transform`` (bool), ``exec_order`` ("bfs" or "dfs"), ``infer_boost`` ("on" or
            "off"), ``auto_offload`` and ``ge_options`` are for other devices and have no effect, which a warning says.

    Returns:
        the function that runs by plans (of a class, the class), or the decorator. What is no function of Python, such
        as a built-in function, is returned as it is, which a warning says.

    Raises:
        TypeError: ``fullgraph`` or ``disable_format_transform`` is no bool, or ``dynamic`` no int.
        ValueError: an option has a value that MindSpore does not know.
        RuntimeError: another ``backend``; and from a call, with ``fullgraph``: no plan can be made.
    """
    _one_of(capture_mode, ("ast", "bytecode", "trace"), "capture_mode", "jit")
    _one_of(jit_level, ("O0", "O1"), "jit_level", "jit")
    check_int(dynamic, "jit", "dynamic")
    _one_of(dynamic, (0, 1), "dynamic", "jit")
    check_bool(fullgraph, "jit", "fullgraph")
    if backend not in ("", "ms_backend"):
        raise RuntimeError(f"For 'jit', 'backend' must be '' or 'ms_backend' on this device, but got {backend!r}")
    _check_options(options)
    if function is None:
        return functools.partial(
            jit, capture_mode=capture_mode, jit_level=jit_level, dynamic=dynamic, fullgraph=fullgraph, backend=backend
        )
    options = {"level": jit_level, "fullgraph": fullgraph, "dynamic": dynamic}
    if inspect.isclass(function) and issubclass(function, Cell):
        function.construct = _by_plans(function.construct, options)  # type: ignore[method-assign]
        return function
    if isinstance(function, Cell):
        return _by_plans(function, options)
    if inspect.ismethod(function):
        return types.MethodType(_by_plans(function.__func__, options), function.__self__)
    if not inspect.isfunction(function):
        warnings.warn(
            f"'jit' returns {type(function).__name__} {getattr(function, '__name__', function)!r} as it is: "
            "plans are made of Python's functions, methods and Cells",
            stacklevel=2,
        )
        return function
    return _by_plans(function, options)


def _by_plans(function: Any, options: dict[str, Any]) -> Callable[..., Any]:
    shown = function.construct if isinstance(function, Cell) else function

    @functools.wraps(shown)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if call._compiled is None:
            told = function if isinstance(function, Cell) else call
            call._compiled = graphs().compiled_function(function, told, **options)
        return graphs().call_compiled(call._compiled, args, kwargs)

    call: Any = decorated
    # An attribute, and no variable of the closure, which whoever traces a function that calls this one looks through.
    call._compiled = None
    # MindSpore's mark; here it says how gradients of the function are to be compiled, too.
    call.__wrapped_by_jit__ = options
    made: Callable[..., Any] = call
    return made


_FLAGS = {
    "exec_order": ("bfs", "dfs"),
    "infer_boost": ("on", "off"),
    "auto_offload": ("", "weight", "activation", "all"),
}


def _check_options(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name == "disable_format_transform":
            check_bool(value, "jit", name)
        elif name in _FLAGS:
            check_type(value, str, "jit", name)
            _one_of(value, _FLAGS[name], name, "jit")
        elif name == "ge_options":
            check_type(value, dict, "jit", name)
        warnings.warn(f"For 'jit', the option '{name}' has no effect here: it is for other devices", stacklevel=3)


def jit_class(cls: type[V]) -> type[V]:
    """Mark a class for use in compiled functions; it stays as it is.

    Args:
        cls: the class.

    Returns:
        the class.

    Raises:
        TypeError: it is no class, or a Cell, which needs no mark.
    """
    if not inspect.isclass(cls):
        raise TypeError(f"For 'jit_class', a class must be decorated, but got {type(cls).__name__}")
    if issubclass(cls, Cell):
        raise TypeError(f"For 'jit_class', a Cell needs no mark: {cls.__name__}")
    cls.__ms_class__ = True  # type: ignore[attr-defined]  # the mark that MindSpore's own code looks for
    return cls


class JitConfig:
    """Options of graphs for ``Cell.set_jit_config``, which follows ``jit_level``; all are kept in ``jit_config_dict``.

    Args:
        jit_level: "", "O0", "O1" or "O2".
        exc_mode: "auto", "sink" or "no_sink".
        jit_syntax_level: "", "STRICT" or "LAX".
        debug_level: "RELEASE" or "DEBUG".
        infer_boost: "on" or "off".
        **kwargs: further options.

    Raises:
        ValueError: an option has a value that MindSpore does not know.
    """

    def __init__(
        self,
        jit_level: str = "",
        exc_mode: str = "auto",
        jit_syntax_level: str = "",
        debug_level: str = "RELEASE",
        infer_boost: str = "off",
        **kwargs: Any,
    ) -> None:
        _one_of(jit_level, ("", "O0", "O1", "O2"), "jit_level", "JitConfig")
        _one_of(exc_mode, ("auto", "sink", "no_sink"), "exc_mode", "JitConfig")
        _one_of(jit_syntax_level, ("", "STRICT", "LAX"), "jit_syntax_level", "JitConfig")
        _one_of(debug_level, ("RELEASE", "DEBUG"), "debug_level", "JitConfig")
        _one_of(infer_boost, ("on", "off"), "infer_boost", "JitConfig")
        self.jit_config_dict: dict[str, Any] = {
            **kwargs,
            "jit_level": jit_level,
            "exc_mode": exc_mode,
            "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level,
            "infer_boost": infer_boost,
        }


def constexpr(
    fn: Callable[..., Any] | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Any:
    """Mark a function to be computed while compiling; it stays as it is.

    Args:
        fn: the function; None where there are options only.
        get_instance: False gives a function that returns ``fn`` when it is called.
        name: kept for callers.
        reuse_result: kept for callers.
        check: kept for callers.

    Returns:
        the function, or the decorator.
    """
    if fn is None:
        return functools.partial(constexpr, get_instance=get_instance, name=name)
    return fn if get_instance else lambda: fn


_primexpr = constexpr  # of what may also be asked of values that a compiler does not know


def lazy_inline(fn: Function | None = None, attrs: object = None, policy: str | None = None) -> Any:
    """Mark a cell's ``__init__`` for late inlining; it stays as it is.

    Args:
        fn: the method; None where there are options only.
        attrs: kept for callers.
        policy: kept for callers.

    Returns:
        the method, or the decorator.
    """
    return (lambda function: function) if fn is None else fn


def no_inline(fn: Function | None = None) -> Any:
    """Mark a function not to be inlined; it stays as it is.

    Args:
        fn: the function; None gives the decorator.

    Returns:
        the function, or the decorator.
    """
    return (lambda function: function) if fn is None else fn


def enable_dynamic(**kwargs: Any) -> Callable[[F], F]:
    """Tell of arguments whose shapes vary: ``jit`` makes one plan for all of them where every operator allows it.

    Args:
        **kwargs: by argument a Tensor with None in its shape, or a tuple or list of such.

    Returns:
        the decorator, which marks a function or method, before or after ``jit``, and returns it.

    Raises:
        TypeError: what is told is no Tensor, or has no None in its shape.
        ValueError: nothing is told, an argument that the function does not have, or what is marked is no function.
        TypeError, ValueError: from a call by ``jit``, an argument is of another kind, dtype or shape than was told.
    """
    if not kwargs:
        raise ValueError("For 'enable_dynamic', an argument must be named at least")
    for name, told in kwargs.items():
        _check_open(name, told)

    def decorator(function: F) -> F:
        if not (inspect.isfunction(function) or inspect.ismethod(function)):
            raise ValueError(f"For 'enable_dynamic', a function or method must be decorated, but got {function!r}")
        names = list(inspect.signature(function).parameters)
        for name in kwargs:
            if name not in names:
                raise ValueError(f"For 'enable_dynamic', the function has no argument '{name}'; it has {names}")
        marked: Any = getattr(function, "__func__", function)
        marked._dynamic_inputs = kwargs
        return function

    return decorator


def _check_open(name: str, told: Any) -> None:
    if isinstance(told, tuple | list) and told:
        for part in told:
            _check_open(name, part)
    elif not isinstance(told, Tensor):
        raise TypeError(
            f"For 'enable_dynamic', '{name}' must be a Tensor, or a tuple or list of them, "
            f"but got {type(told).__name__}"
        )
    elif not isinstance(told, Placeholder):
        raise TypeError(f"For 'enable_dynamic', '{name}' must have None in its shape, but got {told.shape}")


def ms_memory_recycle() -> None:
    """Collect garbage; there are no compiled graphs to drop."""
    import gc

    gc.collect()


def mutable(input_data: V, dynamic_len: bool = False) -> V:
    """The value itself; a graph compiler would not take it for a constant.

    Args:
        input_data: a number, a tensor, or tuples, lists and dictionaries of them.
        dynamic_len: whether the length of a tuple or list may vary.

    Returns:
        ``input_data``.

    Raises:
        TypeError: the value is made of something else, ``dynamic_len`` is no bool, or it is set and the value is
            neither a tuple nor a list.
    """
    check_bool(dynamic_len, "mutable", "dynamic_len")
    _check_mutable(input_data)
    if dynamic_len and not isinstance(input_data, tuple | list):
        raise TypeError(
            f"For 'mutable', with 'dynamic_len' the value must be a tuple or list, but got {type(input_data).__name__}"
        )
    return input_data


def _check_mutable(value: object) -> None:
    if isinstance(value, tuple | list):
        for part in value:
            _check_mutable(part)
    elif isinstance(value, dict):
        for part in value.values():
            _check_mutable(part)
    else:
        what = "a number, a Tensor, or a tuple, list or dict of them"
        check_type(value, bool | int | float | Tensor, "mutable", "input_data", what)


__getattr__ = on_first_use(__name__)
