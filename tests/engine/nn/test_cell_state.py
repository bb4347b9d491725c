"""The state of a cell: state_dict and load_state_dict with their hooks, extra state, buffers, moving."""

from __future__ import annotations

from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.nn.cell import register_cell_buffer_registration_hook


class Counting(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(2, 1)
        self.w = Parameter(Tensor([5.0]), "own_name")
        self.register_buffer("count", Tensor([3]))
        self.register_buffer("scratch", Tensor([0.0]), persistent=False)

    def construct(self, x: Tensor) -> Tensor:
        return self.fc(x) * self.w


class WithExtra(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.state: Any = {"step": 7}

    def get_extra_state(self) -> Any:
        return self.state

    def set_extra_state(self, state: Any) -> None:
        self.state = state


def test_a_state_dict_holds_the_parameters_and_persistent_buffers_themselves() -> None:
    net = Counting()
    state = net.state_dict()
    assert list(state) == ["w", "count", "fc.weight", "fc.bias"]
    assert state["w"] is net.w and state["count"] is net.count
    assert next(iter(net.state_dict(prefix="p."))) == "p.w"
    assert list(state._metadata) == ["", "fc"]  # type: ignore[attr-defined]


def test_loading_copies_values_and_keeps_objects() -> None:
    source, target = Counting(), Counting()
    source.w.set_data(Tensor([8.0]))
    source.count.assign_value(Tensor([9]))
    held = target.w
    assert repr(target.load_state_dict(source.state_dict())) == "<All keys matched successfully>"
    assert (target.w is held, target.w.item(), target.count.item()) == (True, 8.0, 9)
    assert target.fc.weight.tolist() == source.fc.weight.tolist()


def test_keys_that_do_not_match_are_told_and_refused_if_strict() -> None:
    net = Counting()
    state = dict(net.state_dict())
    del state["fc.bias"]
    state["nothing.weight"] = Tensor([1.0])
    missing, unexpected = net.load_state_dict(state, strict=False)
    assert (missing, unexpected) == (["fc.bias"], ["nothing.weight"])
    with pytest.raises(RuntimeError, match=r'Missing key\(s\).*"fc.bias"\n.*Unexpected key\(s\).*"nothing.weight"'):
        net.load_state_dict(state)


@pytest.mark.parametrize("strict", [True, False])
def test_another_shape_is_refused_always(strict: bool) -> None:
    net = Counting()
    with pytest.raises(RuntimeError, match=r'"w" has shape \(2,\), but the cell expects \(1,\)'):
        net.load_state_dict({**net.state_dict(), "w": Tensor([1.0, 2.0])}, strict)


def test_extra_state_travels_along() -> None:
    net = nn.SequentialCell(WithExtra())
    state = net.state_dict()
    assert state["0._extra_state"] == {"step": 7}
    state["0._extra_state"] = {"step": 8}
    net.load_state_dict(state)
    assert net[0].state == {"step": 8}
    with pytest.raises(RuntimeError, match="defines no 'get_extra_state'"):
        nn.ReLU().get_extra_state()


def test_hooks_around_saving_and_loading_see_their_cell_and_may_change_things() -> None:
    net, log = Counting(), []
    handles = [
        net.fc.register_state_dict_pre_hook(lambda cell, prefix, keep: log.append((cell is net.fc, prefix, keep))),
        net.register_state_dict_post_hook(lambda cell, state, prefix, meta: state.update(added=Tensor([1.0]))),
        net.register_load_state_dict_pre_hook(lambda cell, state, *rest: state.pop("added") and None),
        net.register_load_state_dict_post_hook(lambda cell, keys: keys.missing_keys.clear()),
    ]
    state = net.state_dict()
    assert log == [(True, "fc.", False)]
    assert "added" in state
    del state["w"]
    net.load_state_dict(state)
    for handle in handles:
        handle.remove()
    assert "added" not in net.state_dict()


def test_hooks_get_the_prefix_and_the_metadata_of_their_cell() -> None:
    net, saved, loaded = Counting(), [], []
    net.fc.register_state_dict_post_hook(lambda *arguments: saved.append(arguments))
    net.fc.register_state_dict_post_hook(lambda cell, state, prefix, meta: meta.update(version=3))
    state: Any = net.state_dict(prefix="q.")
    ((cell, destination, prefix, meta),) = saved
    assert cell is net.fc and destination is state and prefix == "q.fc."
    assert meta is state._metadata["q.fc"] and meta == {"version": 3} and state._metadata["q"] == {}

    def see(cell: nn.Cell, state: Any, prefix: str, meta: Any, *rest: Any) -> None:
        loaded.append((cell, prefix, meta, getattr(state, "_metadata", None)))

    state = net.state_dict()
    for variant in (net, net.fc):
        variant.register_load_state_dict_pre_hook(see)
    net.load_state_dict(state)
    assert [(cell, prefix, meta) for cell, prefix, meta, _ in loaded] == [
        (net, "", {}),
        (net.fc, "fc.", {"version": 3}),
    ]
    assert loaded[0][3] is state._metadata
    loaded.clear()
    net.load_state_dict(dict(state))  # another dictionary has no metadata
    assert [item[2:] for item in loaded] == [({}, None)] * 2


def test_a_hook_that_returns_something_is_refused() -> None:
    net = Counting()
    net.register_state_dict_post_hook(lambda *arguments: 3)
    with pytest.raises(RuntimeError, match=r"post hook must return None \(it changes .* in place\), but got"):
        net.state_dict()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"destination": []}, "'destination' must be a dict, but got list"),
        ({"prefix": 3}, "'prefix' must be a str, but got int"),
        ({"keep_vars": 1}, "'keep_vars' must be a bool, but got int"),
    ],
)
def test_state_dict_refuses(arguments: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        Counting().state_dict(**arguments)


def test_positional_arguments_are_taken_with_a_warning() -> None:
    destination: dict[str, Any] = {}
    with pytest.warns(FutureWarning, match="by name") as warned:
        assert Counting().state_dict(destination, "q.") is destination
    assert warned[0].filename == __file__  # where it was called
    assert "q.w" in destination


def test_a_buffer_is_found_by_its_path() -> None:
    net = nn.SequentialCell(Counting())
    assert net.get_buffer("0.count") is net[0].count
    with pytest.raises(AttributeError, match=r"has no buffer 'cuont' \(in '0.cuont'\); did you mean '0.count'"):
        net.get_buffer("0.cuont")


def test_a_buffer_registered_twice_comes_once_or_twice() -> None:
    net = nn.Cell()
    shared = Tensor([1.0])
    net.register_buffer("a", shared)
    net.register_buffer("b", shared)
    assert [name for name, _ in net.named_buffers()] == ["a"]
    assert [name for name, _ in net.named_buffers(remove_duplicate=False)] == ["a", "b"]
    assert [buffer is shared for buffer in net.buffers()] == [True]


def test_a_hook_on_registration_may_replace_the_buffer() -> None:
    handle = register_cell_buffer_registration_hook(lambda cell, name, buffer: buffer * 2.0)
    net = nn.Cell()
    net.register_buffer("a", Tensor([3.0]))
    handle.remove()
    net.register_buffer("b", Tensor([3.0]))
    assert (net.a.item(), net.b.item()) == (6.0, 3.0)


def test_to_changes_floating_dtypes_and_keeps_the_objects() -> None:
    net = Counting()
    held = net.w
    assert net.to(ms.float16) is net
    assert (net.w is held, net.w.dtype, net.fc.weight.dtype, net.count.dtype) == (
        True,
        ms.float16,
        ms.float16,
        ms.int64,
    )
    assert net.to("CPU", ms.float32).w.dtype is ms.float32
    assert net.to(Tensor([1.0], ms.float16)).w.dtype is ms.float16
    assert (net.w.tolist(), net.count.tolist()) == ([5.0], [3])
    assert net.to_empty().w.shape == (1,)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((ms.int32,), TypeError, "'dtype' must be floating or complex, but got Int32"),
        ((3,), TypeError, "give device .* but got int"),
        (("Ascend",), ValueError, "'device' must be \"CPU\" or \"GPU\", but got 'Ascend'"),
    ],
)
def test_to_refuses(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Counting().to(*arguments)


def test_init_parameters_data_gives_each_to_itself() -> None:
    net = Counting()
    assert all(old is new for old, new in net.init_parameters_data().items())
