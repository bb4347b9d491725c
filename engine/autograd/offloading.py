"""Offloading: large values of a tape that are kept elsewhere between the forward pass and the walk back.

What a cell's call put on the open recordings is gone over at its end. In the place of a large array that was computed
there stands a ``Spared`` that knows where the bytes are (``blocks``). From then on the tape does not hold the array: it
goes when nobody else holds it, and while somebody does it is the same value.

On the way back the nodes come through ``Returning``, which puts arrays in again. A value that is made again has a new
array, whose ``id`` is one more name of it, on every tape on which it stands, for as long as that array lives. It lives
from the first node that the walk meets it in to the one that it was made by.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex

from ..base.types import Array
from ..tape import taps
from ..tape.tape import Node, Recording, Repeating, Spared, state
from ..tensors import backend
from ..tensors.blocks import Block, SwapFile, block_of, layout_in, owner_of
from ..tensors.operator import Operator

__all__ = ["Offloading", "Returning"]

LEAST = 1 << 16
"""Bytes from which on an array is moved: for less, the calls of the system take longer than its bytes."""


class Kept:
    """A value that is kept elsewhere, and the array that was made of it last.

    Args:
        array: the value.
        block: where the memory is that it lies in.
        owner: the array whose memory that is.
        ahead: how many values further on are fetched when the walk comes to this one.
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
        """The array that was made of it, while somebody holds that."""
        return None if self.made is None else self.made()

    def array(self, fetched: Any) -> Array:
        """The value as an array, over what was fetched of its block."""
        array = self.living()
        if array is None:
            array = self.block.view(fetched, self.layout)
            key = id(array)
            self.made = weakref.ref(array, functools.partial(_forget, key, self.names))
            _forget(key, self.names)  # what had this id before is gone, and the walk may be past it
            _made_again[key] = array
            for recording, name in _on_tapes(self.names):
                if name in recording.tracked:
                    recording.tracked.add(key)
                if name in recording.hooked:
                    recording.hooked[key] = recording.hooked[name]
        return array


Names = list[tuple[weakref.ref[Recording], int]]
"""By which name a value is known on which tape when no array of it lives."""


_made_again: weakref.WeakValueDictionary[int, Array] = weakref.WeakValueDictionary()
"""Arrays that were made of what is kept, by their ids. A tape on which a walk is recorded has them; there they stay."""


def _on_tapes(names: Names) -> Iterator[tuple[Recording, int]]:
    for reference, name in names:
        recording = reference()
        if recording is not None:
            yield recording, name


def _forget(key: int, names: Names, _: object = None) -> None:
    """An array is gone, and its id may become another one's."""
    for recording, _name in _on_tapes(names):
        recording.tracked.discard(key)
        recording.hooked.pop(key, None)


class _Elsewhere:
    """What of a recording, and of those inside it, is kept elsewhere."""

    def __init__(self) -> None:
        self.file = SwapFile()
        self.blocks: dict[int, tuple[weakref.ref[Any], Block | None]] = {}
        """By the id of the array that owns the memory, while that lives."""
        self.values: dict[int, Kept] = {}
        self.stand_ins: dict[tuple[int, int], Spared] = {}

    def block(self, owner: Any) -> Block | None:
        """Where an array's memory is kept, which is written once."""
        reference, block = self.blocks.get(id(owner), (_no_array, None))
        if reference() is not owner:
            block = block_of(owner, self.file)
            # The reference also keeps the tensor that holds the array from writing to it in place (`views.is_own`).
            self.blocks[id(owner)] = weakref.ref(owner), block
        return block

    def returning(self, nodes: list[Node]) -> Returning:
        """Return the nodes for a walk back, which get their arrays when they are taken out."""
        return Returning(nodes)

    def kept(self, array: Array, owner: Any, block: Block, ahead: int) -> Kept:
        """A value, which is one on all tapes."""
        kept = self.values.get(id(array))
        if kept is None or kept.original() is not array:
            kept = self.values[id(array)] = Kept(array, block, owner, ahead)
        return kept

    def stand_in(self, array: Array, recording: Recording) -> Spared:
        """What stands for an array on a tape from now on."""
        found = recording.spared.get(id(array))
        if found is not None:
            return found
        place = id(recording), id(array)
        found = self.stand_ins.get(place)
        if found is None or found() is not array or found.recording() is not recording:
            found = self.stand_ins[place] = Spared(array, weakref.ref(recording))
            if id(array) in recording.tracked:
                recording.tracked.add(id(found))
        return found


def _no_array() -> None:
    return None


class Offloading:
    """A context in which a cell runs, at whose end what it put on the tapes is moved.

    Args:
        ahead: how many values are fetched before the walk comes to them.

    Raises:
        OSError: at the end: there is no room for the file; nothing was moved.
    """

    def __init__(self, ahead: int) -> None:
        self.ahead = ahead
        self.recordings = state.recordings
        self.starts = [len(recording.nodes) for recording in self.recordings]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Who watches operators knows a value by its array; and what packs values, or keeps none, sees to it by itself.
        if kind is None and not taps.operator_taps and all(type(one) is Recording for one in self.recordings):
            self._move()

    def _move(self) -> None:
        nodes = [recording.nodes[start:] for recording, start in zip(self.recordings, self.starts, strict=True)]
        blocks = self._blocks([node for of_one in nodes for node in of_one])
        if not blocks:
            return
        elsewhere = self._elsewhere()
        for recording, start, of_one in zip(self.recordings, self.starts, nodes, strict=True):
            recording.let_go = True

            def moved(value: Any, recording: Recording = recording) -> Any:
                owner = owner_of(value) if backend.is_array(value) else None
                if id(owner) not in blocks:
                    return value
                stand_in = elsewhere.stand_in(value, recording)
                if stand_in.kept is None:
                    stand_in.kept = elsewhere.kept(value, owner, blocks[id(owner)], self.ahead)
                    stand_in.kept.names.append((stand_in.recording, id(stand_in)))
                return stand_in

            for place, (operator, inputs, output, attrs) in enumerate(of_one, start):
                if isinstance(operator, Operator | Repeating):
                    made = tuple(map(moved, output)) if type(output) is tuple else moved(output)
                    recording.nodes[place] = (operator, tuple(map(moved, inputs)), made, attrs)

    def _elsewhere(self) -> _Elsewhere:
        outermost = self.recordings[0]
        if not hasattr(outermost, "offloaded"):
            outermost.offloaded = _Elsewhere()
        for recording in self.recordings:
            recording.offloaded = outermost.offloaded
        found: _Elsewhere = outermost.offloaded
        return found

    def _blocks(self, nodes: list[Node]) -> dict[int, Block]:
        """Write what is to be moved: memory that was made while a tape followed it, and that no other node holds."""
        owners: dict[int, Any] = {}
        staying = [leaf for recording in self.recordings for leaf in recording.leaves]
        for operator, inputs, output, _ in nodes:
            values = (*inputs, *(output if type(output) is tuple else (output,)))
            arrays = [value for value in values if backend.is_array(value)]
            if not isinstance(operator, Operator | Repeating):
                staying += arrays
                continue
            for array in arrays:
                owner = owner_of(array) if any(id(array) in one.tracked for one in self.recordings) else None
                if owner is not None and owner.nbytes >= LEAST and id(owner) not in _made_again:
                    owners[id(owner)] = owner
        for array in staying:
            owners.pop(id(owner_of(array)), None)
        if not owners:
            return {}
        elsewhere = self._elsewhere()
        found = [(key, elsewhere.block(owner)) for key, owner in owners.items()]
        return {key: block for key, block in found if block is not None}


class Returning(list[Node]):
    """The nodes of a tape for a walk from its end: one that is taken out has its arrays.

    Args:
        nodes: the nodes, in which those values stand as ``Spared`` of which no array lives.
    """

    __slots__ = ("_ahead", "_coming", "_held", "_last")

    def __init__(self, nodes: Iterable[Node]) -> None:
        super().__init__(nodes)
        last: dict[int, Node] = {}
        self._coming: dict[int, Spared] = {}
        """By their ids, in the order in which the walk comes to them."""
        for node in super().__reversed__():
            for stand_in in _standing(node):
                self._coming.setdefault(id(stand_in), stand_in)
                last[id(stand_in)] = node
        self._last: dict[int, list[int]] = {}
        """By the id of a node, what no node before it has."""
        for key, node in last.items():
            self._last.setdefault(id(node), []).append(key)
        self._held: dict[int, tuple[Any, Array]] = {}
        self._ahead: dict[int, Any] = {}

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Take a node away."""
        return self._whole(super().pop(index))

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return found if isinstance(index, slice) else self._whole(found)

    def __reversed__(self) -> Iterator[Node]:
        return map(self._whole, super().__reversed__())

    def _whole(self, node: Any) -> Any:
        """The node with its arrays; those that no node before has are held by what is returned alone."""
        standing = _standing(node)
        if not standing:
            return node
        for stand_in in standing:
            if id(stand_in) not in self._held:
                self._fetch(stand_in)
        held = self._held
        operator, inputs, output, attrs = node

        def array(value: Any) -> Any:
            return held[id(value)][1] if id(value) in held else value

        made = tuple(map(array, output)) if type(output) is tuple else array(output)
        whole = operator, tuple(map(array, inputs)), made, attrs
        for key in self._last.get(id(node), ()):
            del held[key]
        return whole

    def _fetch(self, stand_in: Spared) -> None:
        kept: Kept = stand_in.kept
        fetched = self._ahead.pop(id(stand_in), None) or kept.block.fetch()
        self._coming.pop(id(stand_in), None)
        self._held[id(stand_in)] = fetched, kept.array(fetched)
        for key, coming in itertools.islice(self._coming.items(), kept.ahead):
            if key not in self._ahead:
                self._ahead[key] = coming.kept.block.fetch()


def _standing(node: Node | None) -> list[Spared]:
    """What stands in a node for an array that can be made again."""
    if node is None:
        return []
    _, inputs, output, _ = node
    values = (*inputs, *output) if type(output) is tuple else (*inputs, output)
    return [value for value in values if type(value) is Spared and value.kept is not None]
