"""Compilation of functions to machine code: Numba reads and types them, LLVM makes one object of a file.

Numba by itself would compile each function separately, and then again inside each of its callers, which takes two
thirds of the time. Here its libraries only collect the generated code (``_Gathered``). All of it is linked into one
module that exports only the entries and is optimized once for each baseline. The code counts no references, and an
error is a number, so it does not need Numba at run time.

An entry is a CPython function. The entry of a kernel writes its arguments to memory and has the parts computed
(``sharing``). The entry of a plain function calls it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import binding, ir
from numba.core import callconv, cgutils, codegen, cpu, fastmathpass, types, typing
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.np import arrayobj

from ..machine_code import OBJECT, Baseline, Code

__all__ = ["ONCE", "Entry", "build", "entries", "function", "numbers", "prepare"]

_LONG, _INT, _BYTE, _DOUBLE = ir.IntType(64), ir.IntType(32), ir.IntType(8), ir.DoubleType()
_POINTER = _BYTE.as_pointer()
_OUT_OF_MEMORY, _WRONG = 2, 1
"""Return codes of a function for MemoryError, and for any other error."""


ONCE: list[Any] = []
"""Functions that are compiled once in a file for each kind of arguments, instead of in each caller."""


class Entry:
    """A function that the file of kernels offers: a kernel, of arguments after ``first`` and ``stop``, or a plain one.

    Calling it compiles it alone; ``compiling.kernels`` compiles a file.
    """

    def __init__(self, name: str, about: str | None, inner: Any, arguments: Sequence[Any], result: Any = None) -> None:
        self.name, self.about, self.inner, self.arguments = name, (about or "").split("\n")[0], inner, tuple(arguments)
        self.result = result
        """None of a kernel."""
        self._made: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self._made is None:
            from ..machine_code import baseline, loaded

            self._made = getattr(loaded(build({self.name: self}, {}, (baseline(),))[0], self.name), self.name)
        return self._made(*arguments)


def function(signature: Any) -> Any:
    """Compile a plain function for one signature."""

    def compiled(of: Any) -> Any:
        inner = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)(of)
        return Entry(of.__name__, of.__doc__, inner, signature.args, signature.return_type)

    return compiled


def entries(module: Any) -> dict[str, Entry]:
    """Return the functions of a file of kernels that can be called."""
    return {name: item for name, item in vars(module).items() if isinstance(item, Entry) and item.name == name}


def numbers(module: Any) -> dict[str, int]:
    """Return the numbers that such a file offers."""
    return {name: item for name, item in vars(module).items() if type(item) is int and not name.startswith("_")}


# Replacements for parts of Numba, each of which does less


class _Gathered(codegen.JITCodeLibrary):
    """Code of one function, and the code of the functions that it calls."""

    def _optimize_functions(self, _module: Any) -> None:
        """Leave this to ``_optimized``."""

    def finalize(self) -> None:
        self._finalized = True

    def gather(self, into: dict[Any, None]) -> None:
        if self not in into:
            into[self] = None
            for library in self._linking_libraries:
                library.gather(into)

    @property
    def written(self) -> Any:
        return self._final_module


class _Codegen(codegen.JITCPUCodegen):
    _library_class = _Gathered

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: no object of Python's is used."""


class _CallConvention(callconv.CPUCallConv):
    """Errors are numbers."""

    def return_user_exc(self, builder: Any, exc: Any, *_: Any, **__: Any) -> None:
        code = _OUT_OF_MEMORY if exc is MemoryError else _WRONG
        self._return_errcode_raw(builder, ir.Constant(callconv.errcode_t, code))


class _Context(cpu.CPUContext):
    def init(self) -> None:
        self.is32bit = False
        self._internal_codegen = _Codegen("hookscope")

    def load_additional_registries(self) -> None:
        # Without the part of Numba that counts references, which would be compiled by this context's own code.
        before, rtsys._init = rtsys._init, True
        try:
            super().load_additional_registries()
        finally:
            rtsys._init = before

    def post_lowering(self, mod: Any, _library: Any) -> None:
        if self.fastmath:
            fastmathpass.rewrite_module(mod, self.fastmath)

    @property
    def call_conv(self) -> Any:
        return _CallConvention(self)

    def get_executable(self, _library: Any, _fndesc: Any, _env: Any) -> Any:
        return [].append  # a new function, which is never called


_contexts: list[tuple[Any, Any]] = []


@contextlib.contextmanager
def _own_contexts() -> Iterator[Any]:
    """Let Numba compile with the parts above; other threads that compile wait."""
    with global_compiler_lock:
        if not _contexts:
            typing_context = typing.Context()
            _contexts.append((typing_context, _Context(typing_context, "cpu")))
        names, before = ("_toplevel_typing_context", "_toplevel_target_context"), dict(vars(cpu_target))
        vars(cpu_target).update(zip(names, _contexts[0], strict=True))
        try:
            yield _contexts[0][1]
        finally:
            for name in names:
                vars(cpu_target).pop(name, None)
            vars(cpu_target).update({name: before[name] for name in names if name in before})


# Entries


class _Writer:
    """Writer of one entry.

    Args:
        context: Numba's context of this file.
        module: the module that it is written to.
        entry: the entry.
    """

    def __init__(self, context: Any, module: Any, entry: Entry) -> None:
        self.context, self.module, self.entry = context, module, entry
        kind = ir.FunctionType(_POINTER, [_POINTER, _LONG, _LONG])
        self.function = ir.Function(module, kind, f"hookscope_{entry.name}")
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self.refused = self.function.append_basic_block()

    def outer(self, name: str, result: Any, *arguments: Any) -> Any:
        """Return a function of CPython's or of the C library's."""
        return cgutils.get_or_insert_function(self.module, ir.FunctionType(result, arguments), name)

    def number(self, value: int) -> Any:
        return ir.Constant(_LONG, value)

    def word(self, address: Any, offset: int, kind: Any = _LONG) -> Any:
        at = self.builder.add(address, self.number(offset))
        return self.builder.load(self.builder.inttoptr(at, kind.as_pointer()))

    def text(self, what: str) -> Any:
        return cgutils.global_constant(
            self.module, f"text_{len(self.module.globals)}", cgutils.make_bytearray(what.encode() + b"\0")
        ).bitcast(_POINTER)

    def refuse(self, kind: str, message: str) -> None:
        """Raise an error of this kind; the block ends."""
        raising = self.outer("PyErr_SetString", ir.VoidType(), _POINTER, _POINTER)
        self.builder.call(raising, [self.object(kind), self.text(message)])
        self.builder.branch(self.refused)

    def object(self, name: str) -> Any:
        """Return an object of Python's."""
        return self.module.globals.get(OBJECT + name) or ir.GlobalVariable(self.module, _BYTE, OBJECT + name)

    def demand(self, condition: Any, kind: str, message: str) -> None:
        with self.builder.if_then(self.builder.not_(condition), likely=False):
            self.refuse(kind, message)

    def argument(self, index: int, kind: Any) -> Any:
        """Return the argument at a position, as Numba has it."""
        builder = self.builder
        pointer = self.word(self.function.args[1], 8 * index)
        as_object = builder.inttoptr(pointer, _POINTER)
        if isinstance(kind, types.Array):
            return self.array(index, pointer, kind)
        if isinstance(kind, types.Float):
            double = builder.call(self.outer("PyFloat_AsDouble", _DOUBLE, _POINTER), [as_object])
            suspect = builder.fcmp_ordered("==", double, ir.Constant(_DOUBLE, -1.0))
            value = builder.fptrunc(double, ir.FloatType()) if kind == types.float32 else double
        elif kind == types.uint64:
            value = builder.call(self.outer("PyLong_AsUnsignedLongLongMask", _LONG, _POINTER), [as_object])
            suspect = builder.icmp_signed("==", value, self.number(-1))
        else:
            value = builder.call(self.outer("PyLong_AsLongLong", _LONG, _POINTER), [as_object])
            suspect = builder.icmp_signed("==", value, self.number(-1))
        with builder.if_then(suspect, likely=False):
            error = builder.call(self.outer("PyErr_Occurred", _POINTER), [])
            with builder.if_then(cgutils.is_not_null(builder, error)):
                builder.branch(self.refused)
        return value

    def array(self, index: int, pointer: Any, kind: Any) -> Any:
        builder, element = self.builder, np.dtype(str(kind.dtype).replace("boolean", "bool"))
        what = f"a {'read' if not kind.mutable else 'writeable'} {element} array of {kind.ndim} axes, by rows"
        message = f"argument {index} of {self.entry.name}() must be {what}"
        # The fields of NumPy's PyArrayObject_fields and of the head of its PyArray_Descr, behind the object's own.
        type_of = builder.ptrtoint(self.object("ndarray"), _LONG)
        is_array = builder.icmp_signed("==", self.word(pointer, _OBJECT - 8), type_of)
        self.demand(is_array, "TypeError", message)
        axes = self.word(pointer, _OBJECT + 8, _INT)
        flags = builder.and_(self.word(pointer, _OBJECT + 48, _INT), ir.Constant(_INT, 0x501))
        required_flags = ir.Constant(_INT, 0x501 if kind.mutable else 0x101)
        described = self.word(pointer, _OBJECT + 40)
        number, order = self.word(described, _OBJECT + 12, _INT), self.word(described, _OBJECT + 10, _BYTE)
        alike = [
            np.dtype(item).num
            for item in "?bBhHiIlLqQfd"
            if (np.dtype(item).kind, np.dtype(item).itemsize) == (element.kind, element.itemsize)
        ]
        of_kind: Any = ir.Constant(ir.IntType(1), 0)
        for item in alike:
            of_kind = builder.or_(of_kind, builder.icmp_signed("==", number, ir.Constant(_INT, item)))
        fits = [
            builder.icmp_signed("==", axes, ir.Constant(_INT, kind.ndim)),
            builder.icmp_signed("==", builder.and_(flags, required_flags), required_flags),
            of_kind,
            builder.icmp_signed("!=", order, ir.Constant(_BYTE, ord(">"))),
        ]
        for item in fits[1:]:
            fits[0] = builder.and_(fits[0], item)
        self.demand(fits[0], "TypeError", message)
        lengths = self.word(pointer, _OBJECT + 16)
        shape = [self.word(lengths, 8 * axis) for axis in range(kind.ndim)]
        strides: list[Any] = [self.number(element.itemsize)]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        made = self.context.make_array(kind)(self.context, builder)
        data = builder.inttoptr(self.word(pointer, _OBJECT), made.data.type)
        arrayobj.populate_array(made, data, shape, strides[: kind.ndim], element.itemsize, None)
        return made._getvalue()

    def write(self, doing: Any, compiled: Any) -> None:
        builder, entry = self.builder, self.entry
        kinds = (types.Array(types.int64, 1, "C"), types.int64, *entry.arguments) if doing else entry.arguments
        count = builder.icmp_signed("==", self.function.args[2], self.number(len(kinds)))
        self.demand(count, "TypeError", f"{entry.name}() takes {len(kinds)} arguments")
        inputs = [self.argument(index, kind) for index, kind in enumerate(kinds)]
        if doing:
            result, code = None, self._shared(inputs, doing, compiled)
        else:
            result, code = self._plain(inputs, compiled)
        failed = builder.icmp_signed(">", code, ir.Constant(code.type, 0))
        with builder.if_then(failed, likely=False):
            for number, kind in ((_OUT_OF_MEMORY, "MemoryError"), (_WRONG, "RuntimeError")):
                with builder.if_then(builder.icmp_signed("==", code, ir.Constant(code.type, number))):
                    self.refuse(kind, f"{entry.name}() could not be computed")
            builder.branch(self.refused)
        self._return(result)
        builder.position_at_end(self.refused)
        builder.ret(ir.Constant(_POINTER, None))

    def _return(self, result: Any) -> None:
        builder, kind = self.builder, self.entry.result
        if kind in (None, types.none, types.void):
            nothing = self.object("None")
            builder.call(self.outer("Py_IncRef", ir.VoidType(), _POINTER), [nothing])
            builder.ret(nothing)
        elif kind == types.boolean:
            value = builder.zext(result, _LONG)
            builder.ret(builder.call(self.outer("PyBool_FromLong", _POINTER, _LONG), [value]))
        else:
            builder.ret(builder.call(self.outer("PyLong_FromLongLong", _POINTER, _LONG), [result]))

    @contextlib.contextmanager
    def _without_lock(self) -> Iterator[None]:
        state = self.builder.call(self.outer("PyEval_SaveThread", _POINTER), [])
        yield
        self.builder.call(self.outer("PyEval_RestoreThread", ir.VoidType(), _POINTER), [state])

    def _called(self, builder: Any, compiled: Any, arguments: Sequence[Any]) -> Any:
        """Return the number of the error, and the result."""
        context, signature = self.context, compiled.signature
        inner = context.declare_function(self.module, compiled.fndesc)
        status, result = context.call_conv.call_function(
            builder, inner, signature.return_type, signature.args, arguments
        )
        return status.code, result

    def _plain(self, inputs: Sequence[Any], compiled: Any) -> Any:
        if not any(isinstance(kind, types.Array) for kind in self.entry.arguments):
            code, result = self._called(self.builder, compiled, inputs)  # too short to release the lock for it
        else:
            with self._without_lock():
                code, result = self._called(self.builder, compiled, inputs)
        return result, code

    def _shared(self, inputs: Sequence[Any], doing: Any, compiled: Any) -> Any:
        """Let all threads that look at the board compute the parts; return the number of an error."""
        builder, (board, parts, *arguments) = self.builder, inputs
        kind = ir.LiteralStructType([value.type for value in arguments])
        packed = cgutils.alloca_once(builder, kind)
        for index, value in enumerate(arguments):
            builder.store(value, cgutils.gep_inbounds(builder, packed, 0, index))
        work = ir.Function(
            self.module, ir.FunctionType(_LONG, [_LONG, _LONG, _LONG]), f"hookscope_parts_{self.entry.name}"
        )
        work.linkage = "internal"
        inside = ir.IRBuilder(work.append_basic_block())
        packed_at = inside.inttoptr(work.args[2], kind.as_pointer())
        values = [inside.load(cgutils.gep_inbounds(inside, packed_at, 0, index)) for index in range(len(arguments))]
        code, _ = self._called(inside, compiled, [*work.args[:2], *values])
        is_error = inside.icmp_signed(">", code, ir.Constant(code.type, 0))
        inside.ret(inside.select(is_error, inside.sext(code, _LONG), self.number(0)))
        with self._without_lock():
            _, code = self._called(
                builder, doing, [board, parts, builder.ptrtoint(work, _LONG), builder.ptrtoint(packed, _LONG)]
            )
        return code


_OBJECT = object.__basicsize__


def prepare() -> None:
    """Prepare everything that is the same for all files."""
    from .sharing import do

    with _own_contexts() as context:
        context.refresh()
        do.get_compile_result(_DO)


def build(
    offered: Mapping[str, Entry],
    numbers: Mapping[str, int],
    baselines: Sequence[Baseline],
    advance: Callable[[], None] = lambda: None,
) -> list[Code]:
    """Compile entries to one object for each baseline; ``advance`` is called for each of both."""
    from .sharing import do

    libraries: dict[Any, None] = {}
    with _own_contexts() as context:
        library = context.codegen().create_library("hookscope")
        module = library.create_ir_module("hookscope")
    for entry in offered.values():
        with _own_contexts() as context:
            is_kernel = entry.result is None
            kinds = (types.int64, types.int64, *entry.arguments) if is_kernel else entry.arguments
            compiled = entry.inner.get_compile_result(typing.signature(entry.result or types.void, *kinds))
            compiled.library.gather(libraries)
            doing = do.get_compile_result(_DO) if is_kernel else None
            if doing is not None:
                doing.library.gather(libraries)
            _Writer(context, module, entry).write(doing, compiled)
        advance()
    with _own_contexts() as context:
        library.add_ir_module(module)
        library.gather(libraries)
        joint = binding.parse_assembly(str(context.codegen()._create_empty_module("hookscope")))
        for item in libraries:
            joint.link_in(item.written, preserve=True)
    out_of_line = {compiled.fndesc.mangled_name for item in ONCE for compiled in item.overloads.values()}
    for item in joint.functions:
        if item.name in out_of_line and not item.is_declaration:
            item.add_function_attribute("noinline")
    # Numba's names contain numbers that differ between processes; names made here do not.
    for count, item in enumerate([*joint.functions, *joint.global_variables]):
        if item.is_declaration:
            continue
        is_entry = item.name.removeprefix("hookscope_") in offered
        item.linkage = "external" if is_entry else "internal"
        if not is_entry:
            item.name = f"inner_{count}"
    about = {name: entry.about for name, entry in offered.items()}
    made = []
    for index, baseline in enumerate(baselines):
        copy = joint if index == len(baselines) - 1 else joint.clone()
        code = _optimized(copy, baseline)
        made.append(Code({}, about, dict(numbers), tuple(sorted(set(_needed_by(copy)))), code))
        advance()
    return made


_DO = types.int64(types.Array(types.int64, 1, "C"), types.int64, types.int64, types.int64)


def _target_machine(baseline: Baseline) -> Any:
    # Like Numba's just-in-time compiler, whose objects llvmlite's linker is known to accept.
    target = binding.Target.from_triple(binding.get_process_triple())
    is_x86 = binding.get_process_triple().startswith("x86")
    return target.create_target_machine(
        cpu=baseline.name,
        features=baseline.features,
        opt=3,
        reloc="static" if is_x86 else "default",
        codemodel="jitdefault",
        jit=True,
    )


def _optimized(module: Any, baseline: Baseline) -> bytes:
    machine = _target_machine(baseline)
    options = binding.create_pipeline_tuning_options(3)
    options.loop_vectorization, options.slp_vectorization = True, False
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    code: bytes = machine.emit_object(module)
    return code


_LIBRARY = {"log": "log", "exp": "exp", "sin": "sin", "cos": "cos", "pow": "pow"}


def _needed_by(module: Any) -> Iterator[str]:
    """Yield the external functions and objects, with those that LLVM inserts calls to by itself."""
    yield from ("memset", "memcpy", "memmove")
    yield from [item.name for item in module.global_variables if item.is_declaration]
    for function in module.functions:
        name = function.name.split(".")
        if not function.is_declaration:
            continue
        if name[0] != "llvm":
            yield function.name
        elif name[1] in _LIBRARY and name[2] in ("f32", "f64"):
            yield _LIBRARY[name[1]] + ("f" if name[2] == "f32" else "")
