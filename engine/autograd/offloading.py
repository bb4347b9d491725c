"""Offloading: large values of a tape that are stored outside memory between forward and backward pass.

The nodes that a cell's call appended to the open recordings are processed at its end. An ``ArrayPlaceholder``, which
knows the location of the bytes (``blocks``), replaces each large array that was computed. From then on the tape does
not hold the array: it is freed when nothing else holds it, and as long as something does, it is the same value.

In the backward pass the nodes are read through ``Returning``, which restores the arrays. A restored value has a new
array, whose ``id`` is another name of it, on every tape that contains it, for as long as that array lives. It lives
from the first node of the backward pass that uses it to the node that computed it.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex

from ..base.types import Array
from ..tape import taps
from ..tape.tape import ArrayPlaceholder, Node, RecomputeNode, Recording, state
from ..tensors import backend
from ..tensors.blocks import Block, SwapFile, block_of, layout_in, owner_of
from ..tensors.operator import Operator

__all__ = ["Offloading", "Returning"]

LEAST = 1 << 16
"""Bytes from which an array is moved: for smaller ones, the system calls take longer than the copy."""


class Kept:
    """An offloaded value, and the array that was last restored from it.

    Args:
        array: the value.
        block: the stored memory that contains it.
        owner: the array that owns the memory.
        ahead: how many following values are prefetched when the backward pass reaches this one.
    """

    __slots__ = ("ahead", "block", "layout", "made", "names", "original")

    def __init__(self, array: Array, block: Block, owner: Any, ahead: int) -> None:
        self.block = block
        self.layout = layout_in(owner, array)
        self.ahead = ahead
        self.original = weakref.ref(array)
        self.made: weakref.ref[Array] | None = None
        self.names: Names = []

    def living(self) -> Array | None:
        """Return the restored array, while something holds it."""
        return None if self.made is None else self.made()

    def array(self, fetched: Any) -> Array:
        """Return the value as an array, over the fetched memory of its block."""
        array = self.living()
        if array is None:
            array = self.block.view(fetched, self.layout)
            key = id(array)
            self.made = weakref.ref(array, functools.partial(_forget, key, self.names))
            _forget(key, self.names)  # the array that had this id before is freed, and the pass may be past it
            _made_again[key] = array
            for recording, name in _on_tapes(self.names):
                if name in recording.tracked:
                    recording.tracked.add(key)
                if name in recording.hooks:
                    recording.hooks[key] = recording.hooks[name]
        return array


Names = list[tuple[weakref.ref[Recording], int]]
"""The name of a value on each tape when no array of it lives."""


_made_again: weakref.WeakValueDictionary[int, Array] = weakref.WeakValueDictionary()
"""Restored arrays, by their ids. A tape that records a backward pass refers to them; they stay there."""


def _on_tapes(names: Names) -> Iterator[tuple[Recording, int]]:
    for reference, name in names:
        recording = reference()
        if recording is not None:
            yield recording, name


def _forget(key: int, names: Names, _: object = None) -> None:
    """Remove the id of a freed array, since another array may get it."""
    for recording, _name in _on_tapes(names):
        recording.tracked.discard(key)
        recording.hooks.pop(key, None)


class _Elsewhere:
    """Offloaded values of a recording and of those inside it."""

    def __init__(self) -> None:
        self.file = SwapFile()
        self.blocks: dict[int, tuple[weakref.ref[Any], Block | None]] = {}
        """By the id of the array that owns the memory, while that array lives."""
        self.values: dict[int, Kept] = {}
        self.stand_ins: dict[tuple[int, int], ArrayPlaceholder] = {}

    def block(self, owner: Any) -> Block | None:
        """Return the block with an array's memory, which is written once."""
        reference, block = self.blocks.get(id(owner), (_no_array, None))
        if reference() is not owner:
            block = block_of(owner, self.file)
            # The reference also prevents in-place writes by the tensor that holds the array (`views.is_own`).
            self.blocks[id(owner)] = weakref.ref(owner), block
        return block

    def returning(self, nodes: list[Node]) -> Returning:
        """Return the nodes for a backward pass; each gets its arrays when it is read."""
        return Returning(nodes)

    def kept(self, array: Array, owner: Any, block: Block, ahead: int) -> Kept:
        """Return the offloaded value of an array, one for all tapes."""
        cached = self.values.get(id(array))
        if cached is None or cached.original() is not array:
            cached = self.values[id(array)] = Kept(array, block, owner, ahead)
        return cached

    def stand_in(self, array: Array, recording: Recording) -> ArrayPlaceholder:
        """Return the placeholder that replaces an array on a tape."""
        placeholder = recording.placeholders.get(id(array))
        if placeholder is not None:
            return placeholder
        key = id(recording), id(array)
        placeholder = self.stand_ins.get(key)
        if placeholder is None or placeholder() is not array or placeholder.recording() is not recording:
            placeholder = self.stand_ins[key] = ArrayPlaceholder(array, weakref.ref(recording))
            if id(array) in recording.tracked:
                recording.tracked.add(id(placeholder))
        return placeholder


def _no_array() -> None:
    return None


class Offloading:
    """A context in which a cell runs; at its end the values that it put on the tapes are offloaded.

    Args:
        ahead: how many values are prefetched before the backward pass reaches them.

    Raises:
        OSError: at the end: there is not enough space for the file; nothing was moved.
    """

    def __init__(self, ahead: int) -> None:
        self.ahead = ahead
        self.recordings = state.recordings
        self.starts = [len(recording.nodes) for recording in self.recordings]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Operator taps identify a value by its array; recordings that pack values, or keep none, handle it.
        if kind is None and not taps.operator_taps and all(type(r) is Recording for r in self.recordings):
            self._move()

    def _move(self) -> None:
        nodes = [recording.nodes[start:] for recording, start in zip(self.recordings, self.starts, strict=True)]
        blocks = self._blocks([node for tape_nodes in nodes for node in tape_nodes])
        if not blocks:
            return
        storage = self._elsewhere()
        for recording, start, tape_nodes in zip(self.recordings, self.starts, nodes, strict=True):
            recording.has_placeholders = True

            def moved(value: Any, recording: Recording = recording) -> Any:
                owner = owner_of(value) if backend.is_array(value) else None
                if id(owner) not in blocks:
                    return value
                placeholder = storage.stand_in(value, recording)
                if placeholder.offloaded is None:
                    placeholder.offloaded = storage.kept(value, owner, blocks[id(owner)], self.ahead)
                    placeholder.offloaded.names.append((placeholder.recording, id(placeholder)))
                return placeholder

            for index, (operator, inputs, output, attrs) in enumerate(tape_nodes, start):
                if isinstance(operator, Operator | RecomputeNode):
                    outputs = tuple(map(moved, output)) if type(output) is tuple else moved(output)
                    recording.nodes[index] = (operator, tuple(map(moved, inputs)), outputs, attrs)

    def _elsewhere(self) -> _Elsewhere:
        outermost = self.recordings[0]
        if not hasattr(outermost, "offloaded"):
            outermost.offloaded = _Elsewhere()
        for recording in self.recordings:
            recording.offloaded = outermost.offloaded
        storage: _Elsewhere = outermost.offloaded
        return storage

    def _blocks(self, nodes: list[Node]) -> dict[int, Block]:
        """Write the memory to offload: allocated while a tape followed it, and used by no node of another kind."""
        owners: dict[int, Any] = {}
        remaining_arrays = [leaf for recording in self.recordings for leaf in recording.leaves]
        for operator, inputs, output, _ in nodes:
            values = (*inputs, *(output if type(output) is tuple else (output,)))
            arrays = [value for value in values if backend.is_array(value)]
            if not isinstance(operator, Operator | RecomputeNode):
                remaining_arrays += arrays
                continue
            for array in arrays:
                owner = owner_of(array) if any(id(array) in tape.tracked for tape in self.recordings) else None
                if owner is not None and owner.nbytes >= LEAST and id(owner) not in _made_again:
                    owners[id(owner)] = owner
        for array in remaining_arrays:
            owners.pop(id(owner_of(array)), None)
        if not owners:
            return {}
        storage = self._elsewhere()
        entries = [(key, storage.block(owner)) for key, owner in owners.items()]
        return {key: block for key, block in entries if block is not None}


class Returning(list[Node]):
    """Nodes of a tape for a backward pass; each node read from it has its arrays.

    Args:
        nodes: the nodes, with ``ArrayPlaceholder`` objects for values of which no array lives.
    """

    __slots__ = ("_ahead", "_coming", "_held", "_last")

    def __init__(self, nodes: Iterable[Node]) -> None:
        super().__init__(nodes)
        last_node: dict[int, Node] = {}
        self._coming: dict[int, ArrayPlaceholder] = {}
        """By their ids, in the order of the backward pass."""
        for node in super().__reversed__():
            for placeholder in _standing(node):
                self._coming.setdefault(id(placeholder), placeholder)
                last_node[id(placeholder)] = node
        self._last: dict[int, list[int]] = {}
        """By the id of a node, the placeholders that no earlier node has."""
        for key, node in last_node.items():
            self._last.setdefault(id(node), []).append(key)
        self._held: dict[int, tuple[Any, Array]] = {}
        self._ahead: dict[int, Any] = {}

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Remove a node and return it."""
        return self._whole(super().pop(index))

    def __getitem__(self, index: Any) -> Any:
        nodes = super().__getitem__(index)
        return nodes if isinstance(index, slice) else self._whole(nodes)

    def __reversed__(self) -> Iterator[Node]:
        return map(self._whole, super().__reversed__())

    def _whole(self, node: Any) -> Any:
        """Return the node with its arrays; arrays that no earlier node uses are held by the result alone."""
        placeholders = _standing(node)
        if not placeholders:
            return node
        for placeholder in placeholders:
            if id(placeholder) not in self._held:
                self._fetch(placeholder)
        arrays = self._held
        operator, inputs, output, attrs = node

        def array(value: Any) -> Any:
            return arrays[id(value)][1] if id(value) in arrays else value

        restored_output = tuple(map(array, output)) if type(output) is tuple else array(output)
        restored = operator, tuple(map(array, inputs)), restored_output, attrs
        for key in self._last.get(id(node), ()):
            del arrays[key]
        return restored

    def _fetch(self, stand_in: ArrayPlaceholder) -> None:
        value: Kept = stand_in.offloaded
        fetched = self._ahead.pop(id(stand_in), None) or value.block.fetch()
        self._coming.pop(id(stand_in), None)
        self._held[id(stand_in)] = fetched, value.array(fetched)
        for key, following in itertools.islice(self._coming.items(), value.ahead):
            if key not in self._ahead:
                self._ahead[key] = following.offloaded.block.fetch()


def _standing(node: Node | None) -> list[ArrayPlaceholder]:
    """Return the placeholders of a node whose arrays can be restored."""
    if node is None:
        return []
    _, inputs, output, _ = node
    values = (*inputs, *output) if type(output) is tuple else (*inputs, output)
    return [value for value in values if type(value) is ArrayPlaceholder and value.offloaded is not None]
