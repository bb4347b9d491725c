"""Offloading: large values of a tape that are stored outside memory between forward and backward pass.

The nodes that a cell's call appended to the open recordings are processed at its end. An ``ArrayPlaceholder``, which
knows the location of the bytes (``blocks``), replaces each large array that was computed. From then on the tape does
not hold the array: it is freed when nothing else holds it, and as long as something does, it is the same value.

In the backward pass the nodes are read through ``RestoredNodes``, which restores the arrays. A restored value has a new
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
from ..tape.tape import ArrayPlaceholder, Node, RecomputeNode, Recording, map_values, state
from ..tensors import backend
from ..tensors.blocks import Block, SwapFile, block_of, layout_in, owner_of
from ..tensors.operator import Operator

__all__ = ["Offloading", "RestoredNodes"]

MIN_BYTES = 1 << 16
"""Bytes from which an array is moved: for smaller ones, the system calls take longer than the copy."""


class OffloadedValue:
    """An offloaded value, and the array that was last restored from it.

    Args:
        array: the value.
        block: the stored memory that contains it.
        owner: the array that owns the memory.
        prefetch_count: how many following values are prefetched when the backward pass reaches this one.
    """

    __slots__ = ("block", "layout", "names", "original", "prefetch_count", "restored")

    def __init__(self, array: Array, block: Block, owner: Any, prefetch_count: int) -> None:
        self.block = block
        self.layout = layout_in(owner, array)
        self.prefetch_count = prefetch_count
        self.original = weakref.ref(array)
        self.restored: weakref.ref[Array] | None = None
        self.names: Names = []

    def restored_array(self) -> Array | None:
        """Return the restored array, while something holds it."""
        return None if self.restored is None else self.restored()

    def array(self, fetched: Any) -> Array:
        """Return the value as an array, over the fetched memory of its block."""
        array = self.restored_array()
        if array is None:
            array = self.block.view(fetched, self.layout)
            key = id(array)
            self.restored = weakref.ref(array, functools.partial(_forget, key, self.names))
            _forget(key, self.names)  # the array that had this id before is freed, and the pass may be past it
            _restored_arrays[key] = array
            for recording, name in _recordings_of(self.names):
                if name in recording.tracked:
                    recording.tracked.add(key)
                if name in recording.hooks:
                    recording.hooks[key] = recording.hooks[name]
        return array


Names = list[tuple[weakref.ref[Recording], int]]
"""The name of a value on each tape when no array of it lives."""


_restored_arrays: weakref.WeakValueDictionary[int, Array] = weakref.WeakValueDictionary()
"""Restored arrays, by their ids. A tape that records a backward pass refers to them; they stay there."""


def _recordings_of(names: Names) -> Iterator[tuple[Recording, int]]:
    for reference, name in names:
        recording = reference()
        if recording is not None:
            yield recording, name


def _forget(key: int, names: Names, _: object = None) -> None:
    """Remove the id of a freed array, since another array may get it."""
    for recording, _name in _recordings_of(names):
        recording.tracked.discard(key)
        recording.hooks.pop(key, None)


class _OffloadStorage:
    """Offloaded values of a recording and of those inside it."""

    def __init__(self) -> None:
        self.file = SwapFile()
        self.blocks: dict[int, tuple[weakref.ref[Any], Block | None]] = {}
        """By the id of the array that owns the memory, while that array lives."""
        self.values: dict[int, OffloadedValue] = {}
        self.placeholders: dict[tuple[int, int], ArrayPlaceholder] = {}

    def block(self, owner: Any) -> Block | None:
        """Return the block with an array's memory, which is written once."""
        reference, block = self.blocks.get(id(owner), (_no_reference, None))
        if reference() is not owner:
            block = block_of(owner, self.file)
            # The reference also prevents in-place writes by the tensor that holds the array (`views.owns_memory`).
            self.blocks[id(owner)] = weakref.ref(owner), block
        return block

    def restored_nodes(self, nodes: list[Node]) -> RestoredNodes:
        """Return the nodes for a backward pass; each gets its arrays when it is read."""
        return RestoredNodes(nodes)

    def offloaded_value(self, array: Array, owner: Any, block: Block, prefetch_count: int) -> OffloadedValue:
        """Return the offloaded value of an array, one for all tapes."""
        cached = self.values.get(id(array))
        if cached is None or cached.original() is not array:
            cached = self.values[id(array)] = OffloadedValue(array, block, owner, prefetch_count)
        return cached

    def placeholder(self, array: Array, recording: Recording) -> ArrayPlaceholder:
        """Return the placeholder that replaces an array on a tape."""
        placeholder = recording.placeholders.get(id(array))
        if placeholder is not None:
            return placeholder
        key = id(recording), id(array)
        placeholder = self.placeholders.get(key)
        if placeholder is None or placeholder() is not array or placeholder.recording() is not recording:
            placeholder = self.placeholders[key] = ArrayPlaceholder(array, weakref.ref(recording))
            if id(array) in recording.tracked:
                recording.tracked.add(id(placeholder))
        return placeholder


def _no_reference() -> None:
    return None


class Offloading:
    """A context in which a cell runs; at its end the values that it put on the tapes are offloaded.

    Args:
        prefetch_count: how many values are prefetched before the backward pass reaches them.

    Raises:
        OSError: at the end: there is not enough space for the file; nothing was moved.
    """

    def __init__(self, prefetch_count: int) -> None:
        self.prefetch_count = prefetch_count
        self.recordings = state.recordings
        self.starts = [len(recording.nodes) for recording in self.recordings]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Operator taps identify a value by its array; recordings that pack values, or keep none, handle it.
        if kind is None and not taps.operator_taps and all(type(r) is Recording for r in self.recordings):
            self._offload()

    def _offload(self) -> None:
        nodes = [recording.nodes[start:] for recording, start in zip(self.recordings, self.starts, strict=True)]
        blocks = self._blocks([node for tape_nodes in nodes for node in tape_nodes])
        if not blocks:
            return
        storage = self._storage()
        for recording, start, tape_nodes in zip(self.recordings, self.starts, nodes, strict=True):
            recording.has_placeholders = True

            def offload(value: Any, recording: Recording = recording) -> Any:
                owner = owner_of(value) if backend.is_array(value) else None
                if id(owner) not in blocks:
                    return value
                placeholder = storage.placeholder(value, recording)
                if placeholder.offloaded is None:
                    offloaded = storage.offloaded_value(value, owner, blocks[id(owner)], self.prefetch_count)
                    offloaded.names.append((placeholder.recording, id(placeholder)))
                    placeholder.offloaded = offloaded
                return placeholder

            for index, (operator, inputs, output, attrs) in enumerate(tape_nodes, start):
                if isinstance(operator, Operator | RecomputeNode):
                    recording.nodes[index] = (operator, *map_values(offload, inputs, output), attrs)

    def _storage(self) -> _OffloadStorage:
        outermost = self.recordings[0]
        if not hasattr(outermost, "offloaded"):
            outermost.offloaded = _OffloadStorage()
        for recording in self.recordings:
            recording.offloaded = outermost.offloaded
        storage: _OffloadStorage = outermost.offloaded
        return storage

    def _blocks(self, nodes: list[Node]) -> dict[int, Block]:
        """Write the memory to offload: allocated while a tape followed it, and used by no node of a different kind."""
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
                if owner is not None and owner.nbytes >= MIN_BYTES and id(owner) not in _restored_arrays:
                    owners[id(owner)] = owner
        for array in remaining_arrays:
            owners.pop(id(owner_of(array)), None)
        if not owners:
            return {}
        storage = self._storage()
        entries = [(key, storage.block(owner)) for key, owner in owners.items()]
        return {key: block for key, block in entries if block is not None}


class RestoredNodes(list[Node]):
    """Nodes of a tape for a backward pass; each node read from it has its arrays.

    Args:
        nodes: the nodes, with ``ArrayPlaceholder`` objects for values of which no array lives.
    """

    __slots__ = ("_arrays", "_last_uses", "_prefetched", "_upcoming")

    def __init__(self, nodes: Iterable[Node]) -> None:
        super().__init__(nodes)
        last_node: dict[int, Node] = {}
        self._upcoming: dict[int, ArrayPlaceholder] = {}
        """By their ids, in the order of the backward pass."""
        for node in super().__reversed__():
            for placeholder in _placeholders_in(node):
                self._upcoming.setdefault(id(placeholder), placeholder)
                last_node[id(placeholder)] = node
        self._last_uses: dict[int, list[int]] = {}
        """By the id of a node, the placeholders that no earlier node has."""
        for key, node in last_node.items():
            self._last_uses.setdefault(id(node), []).append(key)
        self._arrays: dict[int, tuple[Any, Array]] = {}
        self._prefetched: dict[int, Any] = {}

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Remove a node and return it."""
        return self._restore(super().pop(index))

    def __getitem__(self, index: Any) -> Any:
        nodes = super().__getitem__(index)
        return nodes if isinstance(index, slice) else self._restore(nodes)

    def __reversed__(self) -> Iterator[Node]:
        return map(self._restore, super().__reversed__())

    def _restore(self, node: Any) -> Any:
        """Return the node with its arrays; arrays that no earlier node uses are held by the result alone."""
        placeholders = _placeholders_in(node)
        if not placeholders:
            return node
        for placeholder in placeholders:
            if id(placeholder) not in self._arrays:
                self._fetch(placeholder)
        arrays = self._arrays
        operator, inputs, output, attrs = node

        def array(value: Any) -> Any:
            return arrays[id(value)][1] if id(value) in arrays else value

        restored = operator, *map_values(array, inputs, output), attrs
        for key in self._last_uses.get(id(node), ()):
            del arrays[key]
        return restored

    def _fetch(self, placeholder: ArrayPlaceholder) -> None:
        value: OffloadedValue = placeholder.offloaded
        fetched = self._prefetched.pop(id(placeholder), None) or value.block.fetch()
        self._upcoming.pop(id(placeholder), None)
        self._arrays[id(placeholder)] = fetched, value.array(fetched)
        for key, next_placeholder in itertools.islice(self._upcoming.items(), value.prefetch_count):
            if key not in self._prefetched:
                self._prefetched[key] = next_placeholder.offloaded.block.fetch()


def _placeholders_in(node: Node) -> list[ArrayPlaceholder]:
    """Return the placeholders of a node whose arrays can be restored."""
    _, inputs, output, _ = node
    values = (*inputs, *output) if type(output) is tuple else (*inputs, output)
    return [value for value in values if type(value) is ArrayPlaceholder and value.offloaded is not None]
