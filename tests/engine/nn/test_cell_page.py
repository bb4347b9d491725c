"""Every public name of MindSpore's ``nn.Cell``, those of its page in the documentation among them, has an effect that a
test shows, or says once that it has none here. A new name must come into one of the tables.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.nn import settings

FOLDER = Path(__file__).parents[1]
NAMES = (FOLDER / "names" / "cell.txt").read_text(encoding="utf-8").split()

# The test of each effect: a test of this file, or file::test.
EFFECTS: dict[str, str] = {
    "T_destination": "test_names_of_mindspores_own_books",
    "add_flags": "test_cell::test_flags_are_attributes",
    "add_flags_recursive": "test_cell::test_flags_are_attributes",
    "apply": "test_cell::test_apply_reaches_children_before_parents",
    "bprop_debug": "test_bprop::test_debugging_a_bprop_warns_where_it_is_not_the_automatic_gradient",
    "buffers": "test_cell::test_buffers_are_listed_by_path_and_changed_in_place_only",
    "cast_inputs": "test_cell_settings::test_inputs_are_cast_wherever_they_are",
    "cell_init_args": "test_cell_settings::test_a_setting_is_kept_and_of_its_type",
    "cells": "test_cell::test_children_come_by_name_each_once_under_its_first_name",
    "cells_and_names": "test_cell::test_cells_come_with_their_paths_each_once",
    "check_names": "test_cell::test_check_names_finds_two_of_one_name",
    "check_names_and_refresh_name": "test_names_that_two_parameters_share_are_made_paths",
    "cls_name": "test_names_of_mindspores_own_books",
    "compile": "compile/test_modes::test_compile_makes_a_plan_and_changes_nothing",
    "compile_and_run": "test_cell_settings::test_inputs_are_kept_and_the_ways_to_call_a_cell_call_it",
    "compile_cache": "test_cell_settings::test_caches_of_compiled_graphs_stay_as_they_are_left",
    "compile_phase": "test_cell_settings::test_a_setting_is_kept_and_of_its_type",
    "compiled": "test_cell_settings::test_what_a_compiler_or_a_cluster_would_read_is_kept",
    "construct": "test_a_call_is_construct",
    "create_time": "test_names_of_mindspores_own_books",
    "enable_backward_hook": "test_enable_backward_hook_is_no_attribute",
    "exist_names": "test_cell_settings::test_parameters_in_lists_are_known_by_name_and_no_two_share_one",
    "exist_objs": "test_cell_settings::test_parameters_in_lists_are_known_by_name_and_no_two_share_one",
    "extend_repr": "test_extend_repr_stands_in_the_text_of_a_cell",
    "generate_scope": "test_cell_settings::test_scopes_are_paths_with_classes",
    "get_buffer": "test_cell_state::test_a_buffer_is_found_by_its_path",
    "get_extra_state": "test_cell_state::test_extra_state_travels_along",
    "get_flags": "test_cell::test_flags_are_attributes",
    "get_func_graph_proto": "test_cell_settings::test_inputs_are_kept_and_the_ways_to_call_a_cell_call_it",
    "get_inputs": "test_cell_settings::test_inputs_are_kept_and_the_ways_to_call_a_cell_call_it",
    "get_mixed_precision_type": "test_cell_settings::test_the_type_that_was_set_can_be_read_and_taken_back",
    "get_parameters": "test_cell::test_parameters_are_named_by_their_path_own_ones_first",
    "get_scope": "test_cell_settings::test_scopes_are_paths_with_classes",
    "get_sub_cell": "test_cell::test_get_sub_cell_follows_a_path",
    "global_cells": "test_names_of_mindspores_own_books",
    "init_parameters_data": "test_cell_state::test_init_parameters_data_gives_each_to_itself",
    "insert_child_to_cell": "test_cell::test_attaching_renames_inserting_does_not",
    "insert_param_to_cell": "test_an_inserted_parameter_is_a_member",
    "jit_config_dict": "test_cell_settings::test_what_a_compiler_or_a_cluster_would_read_is_kept",
    "load_state_dict": "test_cell_state::test_loading_copies_values_and_keeps_objects",
    "name_cells": "test_cell::test_children_come_by_name_each_once_under_its_first_name",
    "named_buffers": "test_cell::test_buffers_are_listed_by_path_and_changed_in_place_only",
    "offload": "test_offload::test_offloading_changes_no_bit",
    "parallel_parameter_merge_net_dict": "test_cell_settings::test_a_setting_is_kept_and_of_its_type",
    "parallel_parameter_name_list": "test_cell_settings::test_a_setting_is_kept_and_of_its_type",
    "param_prefix": "test_cell::test_a_cell_knows_its_prefix_once_it_is_told",
    "parameter_layout_dict": "test_cell_settings::test_a_setting_is_kept_and_of_its_type",
    "parameters_and_names": "test_cell::test_parameters_are_named_by_their_path_own_ones_first",
    "parameters_broadcast_dict": (
        "test_cell_settings::test_parameters_to_send_to_all_processes_are_those_that_no_process_has_for_itself"
    ),
    "parameters_dict": "test_cell::test_parameters_are_named_by_their_path_own_ones_first",
    "phase": "test_cell::test_set_train_reaches_all_below_the_phase_only_the_cell",
    "phase_cache": "test_cell_settings::test_caches_of_compiled_graphs_stay_as_they_are_left",
    "pipeline_segment": "test_cell_settings::test_a_setting_is_kept_and_of_its_type",
    "pipeline_stage": "test_cell_settings::test_a_stage_is_not_negative_and_not_there_before_it_is_set",
    "recompute": "test_recompute::test_construct_runs_twice_and_the_cells_own_hooks_once",
    "register_backward_hook": "test_hooks::test_backward_pre_replaces_what_arrives_and_backward_what_leaves",
    "register_backward_pre_hook": "test_hooks::test_backward_pre_replaces_what_arrives_and_backward_what_leaves",
    "register_buffer": "test_cell::test_buffers_are_listed_by_path_and_changed_in_place_only",
    "register_forward_hook": "test_hooks::test_forward_pre_replaces_inputs_and_forward_replaces_the_output",
    "register_forward_pre_hook": "test_hooks::test_forward_pre_replaces_inputs_and_forward_replaces_the_output",
    "register_load_state_dict_post_hook": (
        "test_cell_state::test_hooks_around_saving_and_loading_see_their_cell_and_may_change_things"
    ),
    "register_load_state_dict_pre_hook": (
        "test_cell_state::test_hooks_around_saving_and_loading_see_their_cell_and_may_change_things"
    ),
    "register_parameter_forward_hook": "test_cell_settings::test_refused_in_one_line",
    "register_saved_tensors_hooks": "test_function::test_a_cell_has_hooks_of_its_own",
    "register_state_dict_post_hook": (
        "test_cell_state::test_hooks_around_saving_and_loading_see_their_cell_and_may_change_things"
    ),
    "register_state_dict_pre_hook": (
        "test_cell_state::test_hooks_around_saving_and_loading_see_their_cell_and_may_change_things"
    ),
    "run_construct": "test_cell_settings::test_inputs_are_kept_and_the_ways_to_call_a_cell_call_it",
    "set_extra_state": "test_extra_state_is_given_back_by_loading",
    "set_grad": "test_cell::test_set_grad_reaches_below_only_in_a_sequential_cell",
    "set_inputs": "test_cell_settings::test_inputs_are_kept_and_the_ways_to_call_a_cell_call_it",
    "set_jit_config": "compile/test_modes::test_a_jit_config_says_at_which_level_a_cell_s_graphs_run",
    "set_mixed_precision_type": "test_cell_settings::test_the_type_that_was_set_can_be_read_and_taken_back",
    "set_train": "test_cell::test_set_train_reaches_all_below_the_phase_only_the_cell",
    "shard": "test_cell_settings::test_refused_in_one_line",
    "state_dict": "test_cell_state::test_a_state_dict_holds_the_parameters_and_persistent_buffers_themselves",
    "to": "test_cell_state::test_to_changes_floating_dtypes_and_keeps_the_objects",
    "to_empty": "test_cell_state::test_to_changes_floating_dtypes_and_keeps_the_objects",
    "set_broadcast_flag": "distributed/checks_data_parallel::"
    "check_training_begins_with_the_first_ranks_parameters_unless_that_is_switched_off",
    "set_comm_fusion": "distributed/checks_data_parallel::check_settings_decide_what_is_sent_together",
    "to_float": "test_cell_settings::test_operators_compute_in_the_asked_type_and_parameters_keep_theirs",
    "trainable_params": "test_cell::test_trainable_follows_requires_grad",
    "untrainable_params": "test_cell::test_trainable_follows_requires_grad",
    "update_cell_prefix": "test_cell::test_a_cell_knows_its_prefix_once_it_is_told",
    "update_parameters_name": "test_a_prefix_comes_before_the_names_of_parameters",
}

# MindSpore's own books, which no program reads: a list of private attributes, and how many cells were made.
NOT_HERE = ("IGNORE_LIST", "total_instance_count")

# Methods that warn at a call that they have no effect here.
SAYS_SO: dict[str, Callable[[nn.Cell], Any]] = {
    "remove_redundant_parameters": lambda cell: cell.remove_redundant_parameters(),
    "set_boost": lambda cell: cell.set_boost("less_bn"),
    "set_data_parallel": lambda cell: cell.set_data_parallel(),
    "update_cell_type": lambda cell: cell.update_cell_type("quant"),
}
OPTIONS: dict[str, Callable[[nn.Cell], Any]] = {
    "recompute(mp_comm_recompute=True)": lambda cell: cell.recompute(mp_comm_recompute=True),
    "recompute(parallel_optimizer_comm_recompute=True)": lambda cell: cell.recompute(
        parallel_optimizer_comm_recompute=True
    ),
    "recompute(recompute_slice_activation=True)": lambda cell: cell.recompute(recompute_slice_activation=True),
}


def test_every_public_name_has_an_effect_or_says_that_it_has_none() -> None:
    assert sorted([*EFFECTS, *SAYS_SO, *NOT_HERE]) == sorted(NAMES)
    assert [name for name in NAMES if not hasattr(nn.Cell, name) and not hasattr(Two(), name)] == [
        "IGNORE_LIST",
        "enable_backward_hook",
        "total_instance_count",
    ]


@pytest.mark.parametrize("name", EFFECTS)
def test_the_test_that_is_named_is_there_and_uses_the_name(name: str) -> None:
    file, _, test = EFFECTS[name].rpartition("::")
    source = next(FOLDER.rglob(f"{file or 'test_cell_page'}.py")).read_text(encoding="utf-8")
    [function] = [
        statement
        for statement in ast.parse(source).body
        if isinstance(statement, ast.FunctionDef) and statement.name == test
    ]
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    text = "\n".join(source.splitlines()[first - 1 : function.end_lineno])
    assert re.search(rf"""[."']{name}\b|\bdef {name}\b""", text)


@pytest.mark.parametrize("name", [*SAYS_SO, *OPTIONS])
def test_what_has_no_effect_says_so_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_warned_methods", set())
    call = (SAYS_SO | OPTIONS)[name]
    with pytest.warns(UserWarning, match=rf"^'Cell\.{re.escape(name)}' has no effect here: ") as notices:
        call(nn.Dense(2, 2))
    assert [warning.filename for warning in notices] == [__file__]
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        call(nn.Dense(2, 2))
    assert not again


@pytest.mark.filterwarnings("ignore:.*has no effect here")
@pytest.mark.parametrize("name", [*SAYS_SO, *OPTIONS])
def test_what_says_that_it_has_no_effect_changes_no_bit(name: str) -> None:
    net = nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.ReLU()).set_train()
    x = Tensor([[0.1, -0.2, 0.3], [1.1, 0.7, -2.0]])

    def bits() -> list[bytes]:
        moving = [net[1].moving_mean, net[1].moving_variance]
        for item, value in zip(moving, (0.0, 1.0), strict=True):
            item.set_data(ms.ops.full((4,), value, dtype=ms.float32))
        output, (of_x, of_weights) = ms.value_and_grad(net, 0, net.trainable_params())(x)
        return [t.asnumpy().tobytes() for t in (output, of_x, *of_weights, *moving)]

    before = bits()
    (SAYS_SO | OPTIONS)[name](net)
    assert bits() == before


# Effects that no other file shows


class Two(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([2.0]), "w")
        self.inner = nn.Dense(1, 1)

    def construct(self, x: Tensor, y: Any = 1.0) -> Tensor:
        return x * self.w * y

    def extend_repr(self) -> str:
        return "power=2"

    def get_extra_state(self) -> Any:
        return {"steps": 3}

    def set_extra_state(self, state: Any) -> None:
        self.loaded = state


def test_a_call_is_construct() -> None:
    net = Two()
    assert net(Tensor([3.0]), y=2.0).tolist() == net.construct(Tensor([3.0]), 2.0).tolist() == [12.0]


def test_extend_repr_stands_in_the_text_of_a_cell() -> None:
    assert Two().extend_repr() == "power=2" and repr(Two()).splitlines()[:2] == ["Two(", "  power=2"]


def test_extra_state_is_given_back_by_loading() -> None:
    net, other = Two(), Two()
    other.load_state_dict(net.state_dict())
    assert other.loaded == {"steps": 3}
    with pytest.raises(RuntimeError, match="set_extra_state"):
        nn.Cell().set_extra_state(3)


def test_an_inserted_parameter_is_a_member() -> None:
    net = Two()
    argument = Parameter(Tensor([5.0]), "other")
    net.insert_param_to_cell("v", argument)
    assert net.v is argument and [p.name for p in net.get_parameters()] == ["w", "other", "inner.weight", "inner.bias"]


def test_a_prefix_comes_before_the_names_of_parameters() -> None:
    net = Two()
    net.update_parameters_name("left.", recurse=False)
    assert [p.name for p in net.get_parameters()] == ["left.w", "inner.weight", "inner.bias"]
    net.update_parameters_name("net.")  # as recorded from MindSpore 2.10: a second one takes the place of the first
    assert [p.name for p in net.get_parameters()] == ["net.w", "net.inner.weight", "net.inner.bias"]


def test_names_that_two_parameters_share_are_made_paths() -> None:
    net = nn.SequentialCell(Two(), Two())
    for p in net.get_parameters():
        p.name = p.name.rpartition(".")[2]
    net.check_names_and_refresh_name()
    paths = ["0.w", "0.inner.weight", "0.inner.bias", "1.w", "1.inner.weight", "1.inner.bias"]
    assert [p.name for p in net.get_parameters()] == paths


def test_enable_backward_hook_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute '_?enable_backward_hook'"):  # as in MindSpore 2.10
        _ = nn.Cell().enable_backward_hook


def test_names_of_mindspores_own_books() -> None:
    first, second = Two(), Two()
    assert first.cls_name == "Two" and first.create_time <= second.create_time
    assert nn.Cell.T_destination.__name__ == "T_destination" and not nn.Cell.global_cells
