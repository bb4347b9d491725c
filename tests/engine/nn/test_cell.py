"""Cells: parameters and their names, children, mode, buffers, printing, and what an assignment means."""

from __future__ import annotations

import copy
import sys
from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, ParameterTuple, Tensor, nn


class Leaf(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([1.0]))

    def construct(self, x: Tensor) -> Tensor:
        return x * self.w


class Tree(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.left = Leaf()
        self.own = Parameter(Tensor([2.0]))
        self.right = nn.SequentialCell(Leaf(), nn.ReLU())

    def construct(self, x: Tensor) -> Tensor:
        return self.right(self.left(x)) * self.own


# Calling


def test_construct_is_called_without_a_step_between_unless_the_cell_needs_one() -> None:
    class Where(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            self.direct = sys._getframe(1).f_code is nn.Cell.__call__.__code__
            return x

    net, x = Where(), Tensor([1.0])

    def direct() -> bool:
        net(x)
        return net.direct

    net(x)  # the first call checks the names
    assert direct()
    net.bprop = lambda x, out, dout: dout
    assert not direct()
    del net.bprop
    assert direct()
    net.mixed_precision_type = ms.float32
    assert not direct()
    net.mixed_precision_type = None
    assert direct()
    net.register_forward_hook(lambda *_: None)
    assert not direct()


def test_a_cell_without_construct_says_so() -> None:
    with pytest.raises(AttributeError, match="For 'Cell', the method 'construct' is not defined"):
        nn.Cell()(Tensor(1.0))


def test_arguments_of_every_kind_reach_construct() -> None:
    class Echo(nn.Cell):
        def construct(self, *args: Any, **kwargs: Any) -> Any:
            return args, kwargs

    assert Echo()(1, "a", key=None) == ((1, "a"), {"key": None})


# Parameters


def test_parameters_are_named_by_their_path_own_ones_first() -> None:
    net = Tree()
    assert [name for name, _ in net.parameters_and_names()] == ["own", "left.w", "right.0.w"]
    assert [p.name for p in net.get_parameters()] == ["own", "left.w", "right.0.w"]
    parameters = {"own": net.own, "left.w": net.left.w, "right.0.w": net.right[0].w}
    assert list(net.parameters_dict().items()) == list(parameters.items())
    assert list(net.parameters_dict(recurse=False)) == ["own"]
    assert [p.name for p in net.get_parameters(expand=False)] == ["own"]


def test_attaching_renames_inserting_does_not() -> None:
    net, leaf = nn.Cell(), Leaf()
    net.insert_child_to_cell("child", leaf)
    assert leaf.w.name == "w"
    net.other = leaf
    assert leaf.w.name == "other.w"


def test_a_child_is_inserted_under_a_name_that_is_free_alone() -> None:
    net = nn.SequentialCell(Leaf())
    net.kept, net.none = 3, None
    text = r"For 'insert_child_to_cell', the name '0' is taken by a cell, which an assignment replaces"
    with pytest.raises(KeyError, match=text):
        net.insert_child_to_cell("0", Leaf())
    with pytest.raises(KeyError, match="the name 'kept' is taken"):
        net.insert_child_to_cell("kept", Leaf())
    net.insert_child_to_cell("later", None)
    net.insert_child_to_cell("later", Leaf())
    other = Leaf()
    net[0] = other
    many = nn.CellList([Leaf()])
    many.insert(0, other)
    assert net[0] is other and many[0] is other and len(many) == 2


def test_without_auto_prefix_names_stay() -> None:
    net = nn.Cell(auto_prefix=False)
    net.child = Leaf()
    assert net.child.w.name == "w"


def test_a_shared_parameter_is_listed_once_under_its_first_path() -> None:
    net = nn.Cell()
    net.a, net.b = Leaf(), Leaf()
    net.b.w = net.a.w
    assert [name for name, _ in net.parameters_and_names()] == ["a.w"]


def test_trainable_follows_requires_grad() -> None:
    net = Tree()
    net.own.requires_grad = False
    assert [p.name for p in net.trainable_params()] == ["left.w", "right.0.w"]
    assert [p.name for p in net.untrainable_params()] == ["own"]
    assert net.trainable_params(recurse=False) == []


def test_check_names_finds_two_of_one_name() -> None:
    net = Tree()
    net.check_names()
    net.own.name = "left.w"
    with pytest.raises(ValueError, match="the parameter 'left.w' is named 'left.w', like another parameter"):
        net.check_names()


def test_a_parameter_tuple_registers_its_parameters() -> None:
    net = nn.Cell()
    net.pair = ParameterTuple([Parameter(Tensor([1.0]), "a"), Parameter(Tensor([2.0]), "b")])
    assert [p.name for p in net.get_parameters()] == ["a", "b"]
    assert net.pair[1].item() == 2.0


def test_parameters_in_lists_of_a_cell_differ_in_their_names() -> None:
    net, a = nn.Cell(), Parameter(Tensor([1.0]), "a")
    net.first = [a]
    net.second = (a, Parameter(Tensor([2.0]), "b"))
    with pytest.raises(ValueError, match="two parameters in 'third' are named 'a': names must differ"):
        net.third = [Parameter(Tensor([3.0]), "a")]
    assert not hasattr(net, "third")


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        ("", Parameter(Tensor([1.0])), KeyError, "'param_name' must not be empty"),
        ("a.b", Parameter(Tensor([1.0])), KeyError, "must not hold a dot"),
        ("construct_count", Parameter(Tensor([1.0])), KeyError, "is an attribute already"),
        ("w", Tensor([1.0]), TypeError, "'param' must be a Parameter, but got Tensor"),
    ],
)
def test_insert_param_refuses(name: str, value: Any, error: type[Exception], text: str) -> None:
    net = nn.Cell()
    net.construct_count = 1
    with pytest.raises(error, match=text):
        net.insert_param_to_cell(name, value)


# Assignment


def test_a_tensor_assigned_to_a_parameter_is_its_new_value() -> None:
    leaf = Leaf()
    parameter = leaf.w
    leaf.w = Tensor([7.0])
    assert leaf.w is parameter
    assert parameter.item() == 7.0


def test_a_parameter_becomes_a_parameter_a_tensor_or_none() -> None:
    leaf = Leaf()
    with pytest.raises(
        TypeError, match="'w' is a parameter and can become a Parameter, a Tensor or None, but got float"
    ):
        leaf.w = 3.0
    leaf.w = None
    assert leaf.w is None
    assert list(leaf.get_parameters()) == []


def test_a_child_becomes_a_cell_or_none() -> None:
    net = Tree()
    with pytest.raises(TypeError, match="'left' is a child and can become a Cell or None, but got int"):
        net.left = 3
    net.left = None
    assert net.left is None
    assert [name for name, _ in net.cells_and_names()] == ["", "right", "right.0", "right.1"]


@pytest.mark.parametrize(("name", "value"), [("left", Parameter(Tensor([1.0]))), ("own", nn.ReLU())])
def test_a_name_stays_with_its_kind(name: str, value: Any) -> None:
    with pytest.raises(KeyError, match=name):
        setattr(Tree(), name, value)


def test_what_is_written_into_the_dictionaries_shows_in_the_attributes() -> None:
    net, other = Tree(), nn.ReLU()
    net._cells["left"] = other
    assert net.left is other
    assert net._cells.pop("left") is other and "left" not in net._cells and not hasattr(net, "left")
    assert net._cells.pop("left", None) is None
    with pytest.raises(KeyError, match="left"):
        net._cells.pop("left")
    del net._params["own"]
    assert not hasattr(net, "own")
    net._cells.clear()
    assert list(net.cells()) == [] and not hasattr(net, "left") and not hasattr(net, "right")


def test_a_network_goes_away_when_nobody_holds_it() -> None:
    import gc
    import weakref

    gc.disable()
    try:
        net = Tree()
        net(Tensor([1.0]))
        reference = weakref.ref(net)
        del net
        assert reference() is None
    finally:
        gc.enable()


def test_two_parameters_of_one_name_are_named_by_their_paths_at_the_first_call() -> None:
    net = nn.Cell(auto_prefix=False)
    net.a, net.b = Leaf(), Leaf()
    net.construct = lambda x: net.b(net.a(x))
    assert [p.name for p in net.get_parameters()] == ["w", "w"]
    net(Tensor([1.0]))
    assert [p.name for p in net.get_parameters()] == ["a.w", "b.w"]


def test_a_deleted_attribute_is_gone_from_the_lists() -> None:
    net = Tree()
    del net.own
    del net.left
    assert [p.name for p in net.get_parameters()] == ["right.0.w"]
    with pytest.raises(AttributeError):
        net.left  # noqa: B018  # the access is under test


def test_super_init_comes_first() -> None:
    class Early(nn.Cell):
        def __init__(self) -> None:
            self.child = Leaf()

    with pytest.raises(AttributeError, match=r"For 'Early', call super\(\).__init__\(\) before 'child' is assigned"):
        Early()


def test_a_misspelt_attribute_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="'Tree' object has no attribute 'rigth'; did you mean 'right'"):
        Tree().rigth  # noqa: B018


# Children


def test_children_come_by_name_each_once_under_its_first_name() -> None:
    net = Tree()
    net.again, net.last = net.left, nn.ReLU()
    assert list(net.name_cells().items()) == [("left", net.left), ("right", net.right), ("last", net.last)]
    assert list(net.cells()) == [net.left, net.right, net.last]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda net: net.parameters_and_names(5), "parameters_and_names', 'name_prefix' must be a str or None"),
        (lambda net: net.cells_and_names(name_prefix=5), "cells_and_names', 'name_prefix' must be a str or None"),
        (lambda net: net.named_buffers(prefix=5), "named_buffers', 'prefix' must be a str or None"),
        (lambda net: net.cells_and_names(cells=5), "cells_and_names', 'cells' must be a set or None"),
    ],
)
def test_paths_begin_with_a_text(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^For 'Cell.{message}, but got int$"):
        call(nn.SequentialCell(nn.ReLU()))


def test_a_prefix_that_is_none_is_none() -> None:
    net = nn.SequentialCell(nn.Dense(1, 1, has_bias=False))
    for prefix in (None, ""):
        assert [path for path, _ in net.parameters_and_names(name_prefix=prefix)] == ["0.weight"]
        assert [path for path, _ in net.cells_and_names(name_prefix=prefix)] == ["", "0"]


@pytest.mark.parametrize("name", ["_cells", "_params", "_buffers"])
def test_what_holds_members_stays_a_dictionary(name: str) -> None:
    net = nn.SequentialCell(nn.ReLU())
    with pytest.raises(TypeError, match=f"^For 'SequentialCell', '{name}' must be a dict, but got int$"):
        setattr(net, name, 5)
    assert [path for path, _ in net.cells_and_names()] == ["", "0"]


def test_other_members_take_the_place_of_all() -> None:
    net, inner = nn.Cell(), nn.ReLU()
    net.old = nn.ReLU()
    net._cells = {"new": inner}
    assert net.new is inner and not hasattr(net, "old")
    net._cells = net._cells
    assert list(net._cells.items()) == [("new", inner)]


@pytest.mark.parametrize("name", ["_hooks", "_recompute", "_plain"])
def test_what_a_cell_keeps_of_itself_is_no_name_for_an_attribute(name: str) -> None:
    with pytest.raises(AttributeError, match=f"^For 'ReLU', '{name}' is kept by all cells: choose a different name$"):
        setattr(nn.ReLU(), name, 5)


def test_cells_come_with_their_paths_each_once() -> None:
    net = Tree()
    net.again = net.left
    assert [path for path, _ in net.cells_and_names()] == ["", "left", "right", "right.0", "right.1"]
    assert list(net.name_cells()) == ["left", "right"]
    assert list(net.cells()) == [net.left, net.right]


def test_paths_may_begin_with_a_given_name() -> None:
    net = Tree()
    plain, own = [path for path, _ in net.parameters_and_names()], [path for path, _ in net.cells_and_names()]
    assert [path for path, _ in net.parameters_and_names("net")] == [f"net.{path}" for path in plain]
    assert [path for path, _ in net.parameters_and_names("net", False)] == ["net.own"]
    assert [path for path, _ in net.cells_and_names(name_prefix="net")] == ["net", *(f"net.{path}" for path in own[1:])]


def test_a_cell_knows_its_prefix_once_it_is_told() -> None:
    net = nn.SequentialCell(Tree())
    assert net[0].right[0].param_prefix == ""
    net.update_cell_prefix()
    assert net[0].right[0].param_prefix == "0.right.0"
    assert net.param_prefix == ""


def test_get_sub_cell_follows_a_path() -> None:
    net = Tree()
    assert net.get_sub_cell("right.0") is net.right[0]
    assert net.get_sub_cell("") is net
    with pytest.raises(AttributeError, match=r"'Tree' has no cell 'rigth' \(in 'rigth.0'\); did you mean 'right.0'"):
        net.get_sub_cell("rigth.0")
    with pytest.raises(AttributeError, match="'own' .* is not a Cell, but Parameter"):
        net.get_sub_cell("own")


@pytest.mark.parametrize(
    ("name", "child", "error", "text"),
    [
        (3, Leaf(), TypeError, "'child_name' must be a str, but got int"),
        ("a", 3, TypeError, "'child_cell' must be a Cell, but got int"),
        ("", Leaf(), KeyError, "must not be empty or hold a dot"),
        ("a.b", Leaf(), KeyError, "must not be empty or hold a dot"),
        ("own", Leaf(), KeyError, "the name 'own' is taken"),
    ],
)
def test_insert_child_refuses(name: Any, child: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Tree().insert_child_to_cell(name, child)


def test_apply_reaches_children_before_parents() -> None:
    net, records = Tree(), []
    assert net.apply(lambda cell: records.append(type(cell).__name__)) is net
    assert records == ["Leaf", "Leaf", "ReLU", "SequentialCell", "Tree"]


def test_a_deep_copy_shares_nothing() -> None:
    net = Tree()
    copied = copy.deepcopy(net)
    copied.own.set_data(Tensor([9.0]))
    copied.left.w[0] = 9.0
    assert [p.item() for p in net.get_parameters()] == [2.0, 1.0, 1.0]
    assert [p.name for p in copied.get_parameters()] == ["own", "left.w", "right.0.w"]
    assert copied.left.w is copied._params.get("w", copied.left.w)
    assert [path for path, _ in copied.cells_and_names()] == ["", "left", "right", "right.0", "right.1"]
    assert [path for path, _ in copied.parameters_and_names()] == ["own", "left.w", "right.0.w"]
    assert copied(Tensor([1.0])).item() == 81.0


# Mode


def test_set_train_reaches_all_below_the_phase_only_the_cell() -> None:
    net = Tree()
    assert (net.training, net.phase) == (False, "train")
    assert net.set_train() is net
    assert all(cell.training for _, cell in net.cells_and_names())
    net.set_train(False)
    assert not any(cell.training for _, cell in net.cells_and_names())
    assert (net.phase, net.left.phase) == ("predict", "train")


def test_phase_is_a_string() -> None:
    with pytest.raises(TypeError, match="'phase' must be a str, but got int"):
        Leaf().phase = 1  # type: ignore[assignment]


def test_set_grad_reaches_below_only_in_a_sequential_cell() -> None:
    tree, sequence = Tree(), nn.SequentialCell(Leaf(), Leaf())
    tree.set_grad()
    sequence.set_grad()
    assert (tree.requires_grad, tree.left.requires_grad) == (True, False)
    assert [cell.requires_grad for cell in sequence] == [True, True]


def test_flags_are_attributes() -> None:
    net = nn.Cell(flags={"fast": True})
    net.add_flags(level=2)
    assert (net.fast, net.level, net.get_flags()) == (True, 2, {"fast": True, "level": 2})
    tree = Tree().add_flags_recursive(mark=1)
    assert all(cell.mark == 1 for _, cell in tree.cells_and_names())


def test_bprop_debug_is_a_bool() -> None:
    leaf = Leaf()
    leaf.bprop_debug = True
    assert leaf.bprop_debug
    with pytest.raises(TypeError, match="'bprop_debug' must be of type bool, but got int"):
        leaf.bprop_debug = 1  # type: ignore[assignment]


# Buffers


def test_buffers_are_listed_by_path_and_changed_in_place_only() -> None:
    net = Tree()
    net.left.register_buffer("count", Tensor([0]))
    net.register_buffer("empty", None)
    assert [name for name, _ in net.named_buffers()] == ["left.count"]
    assert list(net.buffers(recurse=False)) == []
    with pytest.raises(TypeError, match="'count' is a buffer; change its values with assign_value"):
        net.left.count = Tensor([1])
    net.left.count.assign_value(Tensor([5]))
    assert net.left.count.item() == 5
    net.left.count = None
    assert list(net.buffers()) == []


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        (3, Tensor([1]), TypeError, "'name' must be a str, but got int"),
        ("", Tensor([1]), KeyError, "must not be empty or hold a dot"),
        ("left", Tensor([1]), KeyError, "the name 'left' is taken"),
        ("b", 3, TypeError, "'tensor' must be a Tensor, but got int"),
    ],
)
def test_register_buffer_refuses(name: Any, value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Tree().register_buffer(name, value)


# Printing. The text is what MindSpore 2.10.0 prints, but for an initialiser's address that it shows as weight_init.


def test_a_network_prints_as_in_mindspore() -> None:
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.SequentialCell(nn.ReLU(), nn.Flatten()), nn.Dense(4, 2))
    assert repr(net) == (
        "SequentialCell(\n"
        "  (0): Conv2d(input_channels=1, output_channels=2, kernel_size=(3, 3), stride=(1, 1), pad_mode=same, "
        "padding=0, dilation=(1, 1), group=1, has_bias=False, weight_init=None, bias_init=None, format=NCHW)\n"
        "  (1): SequentialCell(\n"
        "    (0): ReLU()\n"
        "    (1): Flatten()\n"
        "  )\n"
        "  (2): Dense(input_channels=4, output_channels=2, has_bias=True)\n"
        ")"
    )


# Containers


def test_a_sequential_cell_is_a_list_of_cells() -> None:
    a, b, c = Leaf(), nn.ReLU(), Leaf()
    net = nn.SequentialCell([a, b])
    net.append(c)
    assert (len(net), list(net), net[-1], net[1:][0]) == (3, [a, b, c], c, b)
    assert isinstance(net[:2], nn.SequentialCell)
    assert list(net[1:]._cells) == ["1", "2"] and net.cell_list == [a, b, c]
    del net[0]
    assert [p.name for p in net.get_parameters()] == ["1.w"]
    net[0] = Leaf()
    assert [p.name for p in net.get_parameters()] == ["0.w", "1.w"]


def test_an_ordered_dictionary_names_the_cells() -> None:
    from collections import OrderedDict

    net = nn.SequentialCell(OrderedDict(first=Leaf(), second=nn.ReLU()))
    assert [p.name for p in net.get_parameters()] == ["first.w"]
    assert net(Tensor([-2.0])).item() == 0.0


def test_a_child_that_came_as_an_attribute_of_a_sequential_cell_is_not_run() -> None:  # as MindSpore 2.10
    class Times(nn.Cell):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def construct(self, x: Tensor) -> Tensor:
            return x * self.factor

    class Net(nn.SequentialCell):
        def __init__(self, *cells: nn.Cell) -> None:
            super().__init__(*cells)
            self.more = Times(5.0)

    net, x = Net(Times(2.0), Times(3.0)), Tensor([1.0])
    assert (net(x).item(), len(net), len(net.cell_list), net[-1].factor) == (6.0, 3, 2, 5.0)
    assert copy.deepcopy(net)(x).item() == 6.0 and Net()(x).item() == 1.0
    net.append(Times(7.0))
    assert net(x).item() == 210.0 and len(net.cell_list) == 4
    net.insert_child_to_cell("extra", Times(11.0))
    assert net(x).item() == 210.0
    net[0] = Times(1.0)
    assert net(x).item() == 1155.0
    assert net[1:](x).item() == 1155.0


def test_the_cells_of_a_slice_keep_their_names_where_one_is_deleted() -> None:  # as MindSpore 2.10
    net = nn.SequentialCell(Leaf(), Leaf(), Leaf())[1:]
    del net[0]
    assert list(net._cells) == ["2"] and [p.name for p in net.get_parameters()] == ["2.w"]
    inner = nn.SequentialCell(nn.SequentialCell(Leaf(), Leaf()), Leaf())[:]
    del inner[1]
    assert [p.name for p in inner.get_parameters()] == ["0.0.w", "0.1.w"]


def test_a_cell_list_grows_and_is_not_called() -> None:
    cells = nn.CellList([Leaf()])
    same = cells
    cells += [nn.ReLU()]
    assert cells is same and cells.extend([Leaf()]) is same
    cells.insert(0, nn.Tanh())
    assert [type(cell).__name__ for cell in cells] == ["Tanh", "Leaf", "ReLU", "Leaf"]
    assert [p.name for p in cells.get_parameters()] == ["1.w", "3.w"]
    del cells[2]
    assert [type(cell).__name__ for cell in cells] == ["Tanh", "Leaf", "Leaf"]
    assert [p.name for p in cells.get_parameters()] == ["1.w", "2.w"]
    assert isinstance(cells[1:], nn.CellList)
    with pytest.raises(NotImplementedError, match="a CellList is not called"):
        cells(Tensor(1.0))


def test_parts_of_a_cell_list_are_deleted_by_slices_and_places() -> None:
    leaves = [Leaf() for _ in range(6)]
    cells = nn.CellList(leaves)
    del cells[1:5:2]
    assert list(cells) == [leaves[0], leaves[2], leaves[4], leaves[5]]
    del cells[-1]
    assert list(cells) == [leaves[0], leaves[2], leaves[4]]
    assert [name for name, _ in cells.parameters_and_names()] == ["0.w", "1.w", "2.w"]
    assert [p.name for p in cells.get_parameters()] == ["0.w", "1.w", "2.w"]
    for index in (3, -4):
        with pytest.raises(IndexError, match=rf"the index must be in \[-3, 3\), but got {index}"):
            del cells[index]


def test_a_cell_list_names_parameters_by_their_places_unless_it_is_told_not_to() -> None:
    for keywords, names in (({}, ["0.w"]), ({"auto_prefix": True}, ["0.w"]), ({"auto_prefix": False}, ["w"])):
        assert [p.name for p in nn.CellList([Leaf()], **keywords).get_parameters()] == names


def test_a_container_in_a_network_keeps_its_prefix() -> None:
    net = nn.Cell()
    net.body, net.list = nn.SequentialCell(Leaf(), Leaf()), nn.CellList([Leaf()])
    net.body.append(Leaf())
    net.list.insert(0, Leaf())
    net.body[0] = Leaf()
    del net.body[1]
    assert [p.name for p in net.get_parameters()] == ["body.0.w", "body.1.w", "list.0.w", "list.1.w"]


def test_an_empty_container_is_falsy_and_passed_over() -> None:
    net = nn.Cell()
    net.empty = nn.CellList()
    assert not net.empty
    assert [path for path, _ in net.cells_and_names()] == [""]


def test_a_cell_dict_is_a_dictionary_of_cells() -> None:
    cells = nn.CellDict({"a": Leaf(), "b": nn.ReLU()})
    cells["c"] = Leaf()
    assert (list(cells), len(cells), "b" in cells) == (["a", "b", "c"], 3, True)
    assert list(cells.values()) == [cells["a"], cells["b"], cells["c"]]
    assert list(cells.items()) == list(zip(cells.keys(), cells.values(), strict=True))
    assert [*cells] == [*cells.keys()] == ["a", "b", "c"]
    assert [p.name for p in cells.get_parameters()] == ["a.w", "c.w"]
    cell = cells.pop("a")
    assert isinstance(cell, Leaf)
    assert list(cells.keys()) == ["b", "c"]
    cells.clear()
    assert len(cells) == 0 and bool(cells)  # true also without cells, as in MindSpore


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (lambda: nn.SequentialCell(3), TypeError, "For 'SequentialCell', give Cells, a list or an OrderedDict of them"),
        (lambda: nn.SequentialCell(Leaf(), 3), TypeError, "For 'SequentialCell', entry 1 must be a Cell, but got int"),
        (lambda: nn.SequentialCell(Leaf())[1], IndexError, r"the index must be in \[-1, 1\), but got 1"),
        (lambda: nn.SequentialCell(Leaf())["a"], TypeError, "an index must be an int or a slice, but got str"),
        (lambda: nn.CellList([3]), TypeError, "For 'CellList', an appended cell must be a Cell, but got int"),
        (lambda: nn.CellList().extend(3), TypeError, "'cells' must be a list of Cells, but got int"),  # type: ignore[arg-type]
        (lambda: nn.CellList().insert(1, Leaf()), IndexError, r"the index must be in \[0, 0\], but got 1"),
        (lambda: nn.CellDict({"a": 3}), TypeError, "entry 'a' must be a Cell, but got int"),
        (lambda: nn.CellDict({3: Leaf()}), TypeError, "a key must be a str, but got int"),
        (lambda: nn.CellDict({"a.b": Leaf()}), KeyError, "must not be empty or hold a dot"),
        (lambda: nn.CellDict()["a"], KeyError, "there is no cell 'a'"),
    ],
)
def test_containers_refuse(action: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        action()


# Parameter


def test_parameter_dtypes_are_mindspores() -> None:
    assert Parameter(3).dtype is ms.int32
    assert Parameter(2.5).dtype is ms.float32
    assert Parameter([1, 2]).dtype is ms.int64


def test_set_data_casts_keeps_the_object_and_leaves_the_source_alone() -> None:
    p, source = Parameter(Tensor([1.0, 2.0]), "p"), Tensor([5, 6])
    storage = p._array
    assert p.set_data(source) is p
    source[0] = 9
    p[1] = 7.0
    assert (p.tolist(), p.dtype, storage.tolist(), source.tolist()) == ([5.0, 7.0], ms.float32, [1.0, 2.0], [9, 6])


def test_set_data_shares_no_memory_with_a_source_of_the_same_dtype() -> None:
    p, source = Parameter(Tensor([1.0, 2.0]), "p"), Tensor([5.0, 6.0])
    p.set_data(source)
    source[0] = 9.0
    p[1] = 7.0
    assert (p.tolist(), source.tolist()) == ([5.0, 7.0], [9.0, 6.0])


def test_set_data_of_a_python_float_into_integers_is_refused_a_tensor_is_cast() -> None:
    p = Parameter(Tensor([1, 2], ms.int32), "p")
    with pytest.raises(TypeError, match="'p' is Int32, but 'data' is the float 1.5"):
        p.set_data(1.5)
    with pytest.raises(TypeError, match="'data' must be a Tensor, an int or a float, but got list"):
        p.set_data([1, 2])
    assert p.set_data(Tensor([1.7, 2.7])).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((None,), TypeError, "'default_input' must be a Tensor, .* but got NoneType"),
        (("abc",), TypeError, "but got str"),
        (((1, 2),), TypeError, "but got tuple"),
        ((True,), ValueError, "must not be a bool"),
        (([1.0], 3), ValueError, "'name' must be a str, but got int"),
        (([1.0], "x" * 1025), ValueError, "'name' may have 1024 characters, but got 1025"),
        (([1.0], "a", 1), TypeError, "'requires_grad' must be a bool, but got int"),
    ],
)
def test_parameter_refuses(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"For 'Parameter', .*{text}|For 'Parameter', {text}"):
        Parameter(*arguments)


def test_copies_of_a_parameter_are_parameters_of_their_own() -> None:
    p = Parameter(Tensor([1.0, 2.0]), "p", requires_grad=False)
    for copied in (p.clone(), copy.copy(p), copy.deepcopy(p)):
        assert isinstance(copied, Parameter)
        assert (copied.name, copied.requires_grad) == ("p", False)
        copied[0] = 9.0
    assert p.tolist() == [1.0, 2.0]
    assert p.clone("zeros").tolist() == [0.0, 0.0]


def test_parameter_tuple_refuses_names_twice_but_takes_one_parameter_twice() -> None:
    a, b = Parameter(Tensor([1.0]), "a"), Parameter(Tensor([2.0]), "b")
    assert len(ParameterTuple([a, a, b])) == 3
    with pytest.raises(ValueError, match="two parameters are named 'a': names must differ"):
        ParameterTuple([a, Parameter(Tensor([2.0]), "a")])
    with pytest.raises(TypeError, match="every entry must be a Parameter, but entry 1 is Tensor"):
        ParameterTuple([a, Tensor([1.0])])  # type: ignore[list-item]


def test_parameter_tuple_clones_under_a_prefix() -> None:
    pair = ParameterTuple([Parameter(Tensor([1.0]), "a"), Parameter(Tensor([2.0]), "b")])
    cloned = pair.clone("m", "zeros")
    assert [(p.name, p.item()) for p in cloned] == [("m.a", 0.0), ("m.b", 0.0)]
    for prefix, error in ((3, TypeError), ("a b", ValueError), ("", ValueError)):
        with pytest.raises(error, match="'prefix' must be"):
            pair.clone(prefix)  # type: ignore[arg-type]


class Own(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([1.0]), "w")


class Blocks(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.CellList()
        for _ in range(2):
            self.blocks.append(Own())


class Pair(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.l = nn.CellList([Own()])
        self.l.append(Own())
        self.m = nn.SequentialCell(Own())
        self.m.append(Own())


def names(cell: nn.Cell) -> list[str]:
    return [parameter.name for parameter in cell.get_parameters()]


@pytest.mark.parametrize("make", [nn.CellList, nn.SequentialCell])
def test_what_is_appended_is_named_behind_the_last_place_that_bears_the_first_ones_name(make: Any) -> None:
    # As recorded from MindSpore 2.10; checkpoints of pretrained networks have such names.
    cells = make()
    for _ in range(3):
        cells.append(Blocks())
    inner = ["0.blocks.1.blocks.0.w", "0.blocks.1.blocks.1.w", "0.blocks.2.blocks.0.w", "0.blocks.2.blocks.1.w"]
    assert names(cells) == ["0.blocks.0.w", "0.blocks.1.w", *inner]


def test_what_is_appended_to_an_attached_list_is_named_as_what_is_in_it() -> None:
    # As recorded from MindSpore 2.10: what was empty when it was attached does not know by which name.
    assert names(Blocks()) == ["0.w", "1.w"]
    assert names(Pair()) == ["l.0.w", "l.1.w", "m.0.w", "m.1.w"]


def test_of_several_places_that_bear_the_first_ones_name_that_counts_which_fits_the_second_too() -> None:
    # As recorded from MindSpore 2.10.
    class Net(nn.Cell):
        def __init__(self, count: int) -> None:
            super().__init__()
            self.blocks = nn.CellList([nn.CellList([Own(), Own()]) for _ in range(count)])

    first, two = (nn.SequentialCell(Net(count)) for count in (1, 2))
    for net in (first, two):
        net[0].blocks.append(nn.CellList([Own()]))
    assert names(first) == ["0.blocks.0.0.w", "0.blocks.0.1.w", "0.blocks.0.1.0.w"]
    assert names(two)[-3:] == ["0.blocks.1.0.w", "0.blocks.1.1.w", "0.blocks.2.0.w"]


def test_insertion_and_removal_change_that_part_of_the_names_alone() -> None:
    # As recorded from MindSpore 2.10.
    cells = nn.CellList()
    for _ in range(2):
        cells.append(Pair())
    first = ["0.l.0.w", "0.l.1.w", "0.m.0.w", "0.m.1.w"]
    second = ["0.l.1.l.0.w", "0.l.1.l.1.w", "0.l.1.m.0.w", "0.l.1.m.1.w"]
    assert names(cells) == first + second
    cells.insert(1, Own())
    assert names(cells) == [*first, "0.l.1.w", "0.l.2.l.0.w", "0.l.2.l.1.w", "0.l.2.m.0.w", "0.l.2.m.1.w"]
    plain = nn.CellList([Own(), Own(), Own()])
    del plain[0]
    assert names(plain) == ["0.w", "1.w"]
    plain.insert(0, Own())
    assert names(plain) == ["0.w", "1.w", "2.w"]


def test_what_comes_into_an_attached_cell_dict_is_named_by_its_path() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.d = nn.CellDict({"k": Own()})
            self.d["z"] = Own()
            self.d.update({"y": Own()})

    assert names(Net()) == ["d.k.w", "d.z.w", "d.y.w"]


def test_descriptors_slots_and_the_class_are_assigned_as_in_any_object() -> None:
    class Doubled:
        def __get__(self, cell: Any, kind: Any = None) -> Any:
            return self if cell is None else cell.__dict__["_value"] * 2

        def __set__(self, cell: Any, value: int) -> None:
            cell.__dict__["_value"] = value

        def __delete__(self, cell: Any) -> None:
            del cell.__dict__["_value"]

    class Described(nn.Cell):
        __slots__ = ("place",)
        scale = Doubled()

        def construct(self, x: Tensor) -> Tensor:
            return x * 2

    class Other(Leaf):
        def construct(self, x: Tensor) -> Tensor:
            return x * 3

    cell = Described()
    cell.scale = 4
    cell.place = 5
    assert (cell.scale, cell.place) == (8, 5)
    del cell.scale
    assert "_value" not in vars(cell)
    leaf = Leaf()
    leaf.__class__ = Other
    assert type(leaf) is Other and leaf(Tensor([1.0])).item() == 3
