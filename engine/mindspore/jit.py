"""MindSpore's functions for its graph compiler: ``jit``, ``jit_class``, ``JitConfig``, ``mutable``, ``constexpr``, ...

``jit`` runs functions by the plans of ``engine.compile``, and ``enable_dynamic`` declares their arguments. The other
decorators mark facts for a compiler; a trace detects these itself, so they return their argument.
"""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from ..base.argument_checks import check_bool, check_callable, check_int, check_type
from ..base.modes import graphs
from ..base.module_names import on_first_use
from ..nn import Cell
from ..tensors.placeholder import Placeholder, is_open
from ..tensors.tensor import Tensor

__all__ = [
    "JitConfig",
    "constexpr",
    "enable_dynamic",
    "jit",
    "jit_class",
    "lazy_inline",
    "ms_memory_recycle",
    "mutable",
    "no_inline",
]


Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)
V = TypeVar("V")


def _check_choice(value: object, allowed: tuple[Any, ...], name: str, owner: str) -> None:
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
    """Run a function by plans: a call is traced once and later computed without its Python code.

    A call returns the eager result, hooks included. There is a plan for each combination of shapes, dtypes and Python
    values that the code reads; if none can be made, the call runs eagerly with a warning that states the reason.

    Args:
        function: a function, a method, a Cell or a class of Cells; None if there are only options.
        capture_mode: "ast", "bytecode" or "trace": here all three trace.
        jit_level: "O0" preserves each bit; "O1" fuses operators into loops, with different rounding.
        dynamic: 0: each varying shape has its own plan. 1: lengths that changed are left open, for one plan.
        fullgraph: whether a call without a possible plan raises an error that names the line.
        backend: "" or "ms_backend"; "GE" is for other devices.
        **options: ``disable_format_transform`` (bool), ``exec_order`` ("bfs" or "dfs"), ``infer_boost`` ("on" or
            "off"), ``auto_offload`` ("weight", "activation" or "all") and ``ge_options`` (a dict) are for other devices
            and have no effect; neither have further ones, with a warning.

    Returns:
        the function that runs by plans (for a class, the class), or the decorator. Other callables than Python
        functions, such as built-in functions, are returned unchanged, with a warning.

    Raises:
        TypeError: ``fullgraph`` or ``disable_format_transform`` is not a bool, ``dynamic`` is not an int, or an option
            is not a plain value.
        ValueError: an option has a value that MindSpore does not know; and from a call, arguments that do not match
            ``enable_dynamic``.
        RuntimeError: an unsupported ``backend``; and from a call, with ``fullgraph``: no plan can be made.
    """
    _check_choice(capture_mode, ("ast", "bytecode", "trace"), "capture_mode", "jit")
    _check_choice(jit_level, ("O0", "O1"), "jit_level", "jit")
    check_int(dynamic, "jit", "dynamic")
    _check_choice(dynamic, (0, 1), "dynamic", "jit")
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
    inner = function.construct if isinstance(function, Cell) else function

    @functools.wraps(inner)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if call._declared is not None:
            graphs().check_declared(inner, call._declared, args, kwargs)
        if call._compiled is None:
            source = function if isinstance(function, Cell) and call._declared is None else call
            call._compiled = graphs().compiled_function(function, source, **options)
        return graphs().call_compiled(call._compiled, args, kwargs)

    call: Any = decorated
    # An attribute instead of a closure variable, since a trace of a function that calls this one reads closures.
    call._compiled = None
    call._declared = getattr(inner, "_declared", None)
    # MindSpore's mark; here it also sets how gradients of the function are compiled.
    call.__wrapped_by_jit__ = options
    decorated_call: Callable[..., Any] = call
    return decorated_call


_FLAGS = {
    "exec_order": ("bfs", "dfs"),
    "infer_boost": ("on", "off"),
    "auto_offload": ("weight", "activation", "all"),
    "exc_mode": ("auto", "sink", "no_sink"),
}
_OLD = {
    "mode": "use 'capture_mode'",
    "jit_config": "use 'jit_level'",
    "input_signature": "use 'enable_dynamic'",
    "compile_once": "leave it out",
}
_USELESS = {"jit_syntax_level": "'fullgraph' makes graph breaks errors"}


def _check_options(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name in _OLD:
            warnings.warn(f"For 'jit', the option '{name}' is an old one without effect: {_OLD[name]}", stacklevel=3)
            continue
        if name == "disable_format_transform":
            check_bool(value, "jit", name)
        elif name in _FLAGS:
            check_type(value, str, "jit", name)
            _check_choice(value, _FLAGS[name], name, "jit")
        elif name == "ge_options":
            _check_ge_options(value)
        else:
            check_type(value, _PLAIN, "jit", name, "a plain value")
        reason = _USELESS.get(name, "it is for other devices")
        warnings.warn(f"For 'jit', the option '{name}' has no effect here: {reason}", stacklevel=3)


_PLAIN: Any = bool | int | float | str | list | tuple | dict | None


def _check_ge_options(options: object) -> None:
    for name, entries in check_type(options, dict, "jit", "ge_options").items():
        _check_choice(name, ("global", "session"), "ge_options", "jit")
        for item in check_type(entries, dict, "jit", f"{name} of 'ge_options'").items():
            for text in item:
                check_type(text, str, "jit", f"{name} of 'ge_options'", "a dict of texts")


def jit_class(cls: type[V]) -> type[V]:
    """Mark a class for use in compiled functions; it stays as it is.

    Args:
        cls: the class.

    Returns:
        the class.

    Raises:
        TypeError: it is not a class, or a Cell, which needs no mark.
    """
    if not inspect.isclass(cls):
        raise TypeError(f"For 'jit_class', a class must be decorated, but got {type(cls).__name__}")
    if issubclass(cls, Cell):
        raise TypeError(f"For 'jit_class', a Cell needs no mark: {cls.__name__}")
    cls.__ms_class__ = True  # type: ignore[attr-defined]  # the mark that MindSpore's own code looks for
    return cls


class JitConfig:
    """Options of graphs for ``Cell.set_jit_config``, which uses ``jit_level``; all are stored in ``jit_config_dict``.

    Args:
        jit_level: "", "O0", "O1" or "O2".
        exc_mode: "auto", "sink" or "no_sink".
        jit_syntax_level: "", "STRICT", "COMPATIBLE" or "LAX".
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
        _check_choice(jit_level, ("", "O0", "O1", "O2"), "jit_level", "JitConfig")
        _check_choice(exc_mode, ("auto", "sink", "no_sink"), "exc_mode", "JitConfig")
        _check_choice(jit_syntax_level, ("", "STRICT", "COMPATIBLE", "LAX"), "jit_syntax_level", "JitConfig")
        _check_choice(debug_level, ("RELEASE", "DEBUG"), "debug_level", "JitConfig")
        _check_choice(infer_boost, ("on", "off", ""), "infer_boost", "JitConfig")
        self.jit_config_dict: dict[str, Any] = {
            **kwargs,
            "jit_level": jit_level,
            "exc_mode": exc_mode,
            "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level,
            "infer_boost": infer_boost,
        }
        if jit_level:
            self.jit_config_dict["backend"] = "GE" if jit_level == "O2" else "ms_backend"


def constexpr(
    fn: Callable[..., Any] | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Any:
    """Mark a function to be computed during compilation, as a trace computes all non-tensor values.

    Args:
        fn: the function; None if there are only options.
        get_instance: False returns a function that returns ``fn`` when called.
        name: accepted for compatibility.
        reuse_result: accepted for compatibility.
        check: accepted for compatibility.

    Returns:
        the unchanged function, or the decorator.

    Raises:
        TypeError: it cannot be called.
    """
    if fn is None:
        return functools.partial(constexpr, get_instance=get_instance, name=name)
    check_callable(fn, "constexpr", "fn")
    return fn if get_instance else lambda: fn


_primexpr = constexpr  # also for values that a compiler does not know


def lazy_inline(fn: Function | None = None, attrs: object = None, policy: str | None = None) -> Any:
    """Mark a cell's ``__init__`` for late inlining, by which a compiler saves time; a trace has nothing to inline.

    Args:
        fn: the method; None if there are only options.
        attrs: names of attributes, a list of texts or a text.
        policy: None or "front".

    Returns:
        the unchanged method, or the decorator.

    Raises:
        TypeError: it is not a function.
        ValueError: a function not named ``__init__``, a class, or an option of the wrong kind.
    """
    if attrs is not None and not isinstance(attrs, str | list):
        raise ValueError(f"For 'lazy_inline', 'attrs' must be a list or a str, but got {type(attrs).__name__}")
    if isinstance(attrs, list) and not all(isinstance(attribute, str) for attribute in attrs):
        raise ValueError(f"For 'lazy_inline', 'attrs' must hold texts, but got {attrs!r}")
    _check_choice(policy, (None, "front"), "policy", "lazy_inline")

    def mark(function: Function) -> Function:
        if not hasattr(function, "__name__"):
            raise TypeError(f"For 'lazy_inline', a function must be decorated, but got {type(function).__name__}")
        if function.__name__ != "__init__":
            raise ValueError(f"For 'lazy_inline', '__init__' must be decorated, but got '{function.__name__}'")
        return function

    return mark if fn is None else mark(fn)


def no_inline(fn: Function | None = None) -> Any:
    """Mark a function not to be inlined, by its attribute ``no_inline``; a trace has nothing to inline.

    Args:
        fn: the function; None gives the decorator.

    Returns:
        the function, or the decorator.

    Raises:
        TypeError: it is not a function.
    """
    if fn is None:
        return no_inline
    try:
        fn.no_inline = True  # type: ignore[attr-defined]  # which a function may have
    except AttributeError:
        raise TypeError(f"For 'no_inline', a function must be decorated, but got {type(fn).__name__}") from None
    return fn


def enable_dynamic(**kwargs: Any) -> Callable[[F], F]:
    """Declare the shapes of varying arguments: ``jit`` makes one plan for all of them if every operator allows it.

    Arguments of calls are compared with the declaration.

    Args:
        **kwargs: by argument a placeholder such as ``Tensor(shape=[None, 3], dtype=ms.float32)``, in which None or a
            Symbol is a length that varies; or a tuple or list of tensors that includes such a placeholder.

    Returns:
        the decorator, for a function or the result of ``jit`` for one.

    Raises:
        ValueError: no argument is declared; and from the decorator, an object that is not a function, or lacks such
            arguments.
        TypeError: from the decorator, a declaration that is not a tensor, or leaves no length open.
    """
    if not kwargs:
        raise ValueError("For 'enable_dynamic', at least one argument must be declared")

    def decorator(function: F) -> F:
        inner: Any = getattr(function, "__func__", function)
        if not inspect.isfunction(inner):
            raise ValueError(f"For 'enable_dynamic', a function must be decorated, but got {type(function).__name__}")
        names = list(inspect.signature(inner).parameters)
        for name, declaration in kwargs.items():
            if name not in names:
                raise ValueError(f"For 'enable_dynamic', '{inner.__qualname__}' has no argument '{name}', only {names}")
            if not _is_dynamic(name, declaration):
                raise TypeError(f"For 'enable_dynamic', at least one length of '{name}' must be None or a Symbol")
        inner.__dict__["_declared"] = kwargs
        return function

    return decorator


def _is_dynamic(name: str, declaration: object) -> bool:
    """Return whether a declared argument leaves a length open."""
    if isinstance(declaration, tuple | list):
        flags = [_is_dynamic(name, item) for item in declaration]
        return any(flags)
    check_type(declaration, Tensor, "enable_dynamic", name, "a Tensor, or a tuple or list of them")
    return isinstance(declaration, Placeholder) and is_open(declaration.shape)


def ms_memory_recycle() -> None:
    """Collect garbage; there are no compiled graphs to drop."""
    import gc

    gc.collect()


def mutable(input_data: V, dynamic_len: bool = False) -> V:
    """Return the value itself. Its tensors are inputs of a plan anyway; each number's value has its own plan.

    Args:
        input_data: a number, a tensor, or tuples, lists and dictionaries of them.
        dynamic_len: whether the length of a tuple or list may vary; each length has a plan.

    Returns:
        ``input_data``.

    Raises:
        TypeError: the value contains unsupported types, ``dynamic_len`` is not a bool, or it is set and the value is
            neither a tuple nor a list.
    """
    check_bool(dynamic_len, "mutable", "dynamic_len")
    _check_mutable(input_data, ())
    if dynamic_len and not isinstance(input_data, tuple | list):
        raise TypeError(
            f"For 'mutable', with 'dynamic_len' the value must be a tuple or list, but got {type(input_data).__name__}"
        )
    return input_data


def _check_mutable(value: object, around: tuple[int, ...]) -> None:
    if isinstance(value, tuple | list | dict) and id(value) not in around:
        for part in value.values() if isinstance(value, dict) else value:
            _check_mutable(part, (*around, id(value)))
    else:
        description = "a number, a Tensor, or a tuple, list or dict of them that does not hold itself"
        check_type(value, bool | int | float | Tensor, "mutable", "input_data", description)


__getattr__ = on_first_use(__name__)
