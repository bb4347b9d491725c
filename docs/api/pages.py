"""The pages of the API reference as reStructuredText: what the declarations and the docstrings say, name by name.

Nothing is written twice: a function's text is its docstring, its surfaces are those that it declares.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sphinx.ext.napoleon import Config, GoogleDocstring

import hookscope.engine as engine
from hookscope.engine.base import surfaces
from hookscope.engine.tensors.operator import Operator

NAPOLEON = Config(napoleon_use_param=False, napoleon_use_rtype=False, napoleon_use_ivar=True)


class Page(NamedTuple):
    """One page: its file name, its title, what stands under the title, and its entries in order."""

    name: str
    title: str
    about: str
    entries: list[str]


# Modules of ``ops`` that have a page with what ranks call, which has more of them.
RANKS = {"communication": "ops.communication", "collectives": "communication.comm_func", "": "communication"}


def write_pages(folder: Path) -> None:
    """Write all pages, and the index, into a folder."""
    pages = [*ops_pages(), tensor_page(), sparse_page(), primitives_page(), mint_page(), *ranks_pages(), *class_pages()]
    pages.append(session_page())
    for page in pages:
        write(folder / f"{page.name}.rst", "\n\n".join([heading(page.title), page.about, *page.entries]))
    for old in {*folder.glob("*.rst")} - {folder / f"{name}.rst" for name in ["index", *(page.name for page in pages)]}:
        old.unlink()  # of a module that is gone
    names = "\n".join(f"   {page.name}" for page in pages)
    about = (
        "What the engine offers under MindSpore's names, with its arguments, errors and sources. Where it differs from "
        "MindSpore on purpose is told in ``docs/differences.md``."
    )
    write(folder / "index.rst", f"{heading('Hookscope')}\n\n{about}\n\n.. toctree::\n   :maxdepth: 1\n\n{names}")


def write(path: Path, text: str) -> None:
    """Write a page if it is another one, so that Sphinx builds only what has changed."""
    if not path.exists() or path.read_text(encoding="utf-8") != f"{text}\n":
        path.write_text(f"{text}\n", encoding="utf-8")


def heading(text: str) -> str:
    """A title."""
    return f"{text}\n{'=' * len(text)}"


def ops_pages() -> list[Page]:
    """A page for each module of ``ops``."""
    pages = []
    for module in pkgutil.walk_packages(engine.ops.__path__, "hookscope.engine.ops."):
        if module.ispkg:
            continue
        found = importlib.import_module(module.name)
        name = module.name.removeprefix("hookscope.engine.ops.")
        names = [key for key in getattr(found, "__all__", ()) if not isinstance(getattr(found, key), type)]
        if names and name not in RANKS:
            also = offered()
            entries = [function(f"ops.{key}", getattr(found, key), also[id(getattr(found, key))]) for key in names]
            pages.append(Page(f"ops_{name.replace('.', '_')}", f"ops: {name}", inspect.getdoc(found) or "", entries))
    return pages


def ranks_pages() -> list[Page]:
    """What ranks call: a page for each of MindSpore's modules."""
    pages = []
    for room in RANKS.values():
        module = importlib.import_module(f"hookscope.engine.{room}")
        names = [name for name in module.__all__ if callable(getattr(module, name))]
        entries = [
            text_of_class(found, public_members(found), f"{room}.{name}")
            if isinstance(found, type)
            else function(f"{room}.{name}", found)
            for name, found in ((name, getattr(module, name)) for name in names)
        ]
        pages.append(Page(room.replace(".", "_"), room, rest(module.__doc__), entries))
    return pages


def offered() -> dict[int, list[str]]:
    """The other surfaces of each function, by its identity."""
    also: dict[int, list[str]] = defaultdict(list)
    for table, prefix in ((surfaces.METHODS, "Tensor"), (surfaces.IN_PLACE, "Tensor"), (surfaces.MINT, "mint")):
        for name, one in table.items():
            also[id(one)].append(f"{prefix}.{name}")
    for name, (one, _) in surfaces.PRIMITIVES.items():
        also[id(one)].append(f"ops.{name}")
    return also


def tensor_page() -> Page:
    """What a tensor is, and its methods."""
    names = {**surfaces.METHODS, **surfaces.IN_PLACE}
    own = [member for member in public_members(engine.Tensor) if member not in names]
    entries = [text_of_class(engine.Tensor, own)]
    entries += [function(f"Tensor.{name}", one, bound=True) for name, one in sorted(names.items())]
    return Page("tensor", "Tensor", "", entries)


def sparse_page() -> Page:
    """The sparse tensors, and their methods."""
    kinds = (engine.COOTensor, engine.CSRTensor, engine.RowTensor, engine.SparseTensor)
    about = rest(importlib.import_module("hookscope.engine.ops.sparse.tensors").__doc__)
    return Page("sparse", "Sparse tensors", about, [text_of_class(kind, public_members(kind)) for kind in kinds])


def primitives_page() -> Page:
    """The Primitive classes: constructor, then what an instance is called with."""
    entries = []
    for name, (one, row) in sorted(surfaces.PRIMITIVES.items()):
        attributes = ", ".join(
            key if default is surfaces.REQUIRED else f"{key}={default!r}" for key, default in row.parameters
        )
        entries.append(directive("class", f"ops.{name}({attributes})", one.__doc__ or ""))
    about = "Each is made of its attributes and then called with the inputs; it computes what the function of ops does."
    return Page("primitives", "Primitive classes", about, entries)


def mint_page() -> Page:
    """Functions with PyTorch's names and defaults."""
    package = "hookscope.engine.mindspore.mint"
    mint = importlib.import_module(package)
    files = ("arithmetic", "creation", "reduction", "shapes")
    in_mint = [name for file in files for name in importlib.import_module(f"{package}.{file}").__all__]
    names = sorted({*surfaces.MINT, *in_mint})
    entries = [function(f"mint.{name}", surfaces.MINT.get(name) or getattr(mint, name)) for name in names]
    return Page("mint", "mint", "", entries)


def class_pages() -> list[Page]:
    """Layers, optimizers and the like: a page for a room."""
    rooms = {"nn": "nn", "train": "train", "dataset": "dataset", "amp": "amp"}
    pages = []
    for room, title in rooms.items():
        module = importlib.import_module(f"hookscope.engine.{room}")
        named = {name: one for name, one in vars(module).items() if not name.startswith("_")}
        entries = []
        for name, one in sorted(named.items()):
            if isinstance(one, type) and one.__module__.startswith(module.__name__):
                entries.append(text_of_class(one, public_members(one, inherited=False), f"{room}.{name}"))
            elif inspect.isfunction(one) and one.__module__.startswith(module.__name__):
                entries.append(function(f"{room}.{name}", one))
        pages.append(Page(room, title, rest(module.__doc__), entries))
    return pages


def session_page() -> Page:
    """The debugger without a screen."""
    debug = importlib.import_module("hookscope.engine.debug")
    classes = [cls for name, cls in vars(debug).items() if isinstance(cls, type) and cls.__name__ == name]
    entries = [text_of_class(cls, public_members(cls)) for cls in classes]
    return Page("debug", "engine.debug", rest(debug.__doc__), entries)


def public_members(one: type, inherited: bool = True) -> list[str]:
    """The names of what users may call or read."""
    found = dir(one) if inherited else vars(one)
    return [name for name in found if not name.startswith("_") and inspect.getdoc(getattr(one, name, None))]


def function(name: str, one: Callable[..., Any], also: Iterable[str] = (), bound: bool = False) -> str:
    """One function or method."""
    note = f"\n\nAlso {', '.join(f'``{other}``' for other in also)}." if also else ""
    return directive("function", f"{name}{signature(one, bound)}", (inspect.getdoc(one) or "") + note)


def text_of_class(one: type, members: Iterable[str], name: str = "") -> str:
    """A class with its methods."""
    lines = [directive("class", f"{name or one.__name__}{signature(one.__init__, True)}", inspect.getdoc(one) or "")]
    for member in members:
        found = inspect.getattr_static(one, member)
        kind = "attribute" if not callable(getattr(one, member)) or isinstance(found, property) else "method"
        shown = member if kind == "attribute" else f"{member}{signature(getattr(one, member), True)}"
        doc = inspect.getdoc(getattr(one, member)) or ""
        lines.append(indented(directive(kind, shown, doc)))
    return "\n\n".join(lines)


class _Written(str):
    """An annotation as the source has it: a signature writes a text in quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _as_written(annotation: Any) -> Any:
    """Without the modules of its names."""
    return _Written(re.sub(r"\b[a-z_.]+\.(?=[A-Z])", "", annotation)) if isinstance(annotation, str) else annotation


def signature(one: Any, bound: bool = False) -> str:
    """The arguments as text."""
    try:
        found = inspect.signature(one.__call__ if isinstance(one, Operator) else one)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(found.parameters.values())[1 if bound else 0 :]
    parameters = [one.replace(annotation=_as_written(one.annotation)) for one in parameters]
    of_class = getattr(one, "__name__", "") == "__init__"
    returned = inspect.Signature.empty if of_class else found.return_annotation
    return str(found.replace(parameters=parameters, return_annotation=_as_written(returned)))


class _Docstring(GoogleDocstring):
    """What is returned is told in words: a colon in them ends no type."""

    def _consume_returns_section(self, preprocess_types: bool = False) -> list[tuple[str, str, list[str]]]:
        return [("", "", self._dedent(self._consume_to_next_section()))]


def directive(kind: str, head: str, doc: str) -> str:
    """One entry, its docstring as reStructuredText."""
    parts = inspect.cleandoc(doc).split("``")
    # |x| is an absolute value, *sizes and from_ are arguments here; none is markup
    parts[::2] = [re.sub(r"(?<!\n)([|*]|_(?!\w))", r"\\\1", part) for part in parts[::2]]
    body = str(_Docstring("``".join(parts), NAPOLEON, what=kind))
    return f".. py:{kind}:: {head}\n   :no-index-entry:\n\n{indented(body)}"


def indented(text: str) -> str:
    """The text three columns to the right."""
    return "\n".join(f"   {line}" if line else "" for line in text.splitlines())


def rest(doc: str | None) -> str:
    """A docstring behind its first line."""
    return inspect.cleandoc("\n".join((doc or "").strip().split("\n")[1:]))
