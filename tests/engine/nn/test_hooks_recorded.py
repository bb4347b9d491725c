"""Arguments of hooks, their order and structure, case by case as recorded from MindSpore 2.10.

The cases and the recording are in ``hook_cases.py``. If MindSpore contradicts itself or the mathematics, ``OTHERWISE``
has the correct lines, and docs/differences.md a row.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hook_cases import CASES, recorded, seen_in

import hookscope.engine as ms

RECORDED = recorded()

# Errors of MindSpore, and the lines here.
OTHERWISE: dict[str, tuple[str, list[str]]] = {
    "a_shared_cell_called_twice_with_constants": (
        "two calls of one cell are mixed up",
        [
            "backward_pre net (<1>,)",
            "backward_pre a (<6>,)",
            "backward_pre a (<8>,)",
            "backward net (None,) (<1>,)",
            "backward a (None,) (<6>,)",
            "backward a (None,) (<8>,)",
            "= (<48>,)",
        ],
    ),
    "a_recomputed_cell_of_a_constant": (
        "recompute changes what hooks see",
        [
            "forward_pre net (<3>,)",
            "forward_pre a (<3>,)",
            "forward_pre a.a (<3>,)",
            "forward a.a (<3>,) <6>",
            "forward_pre a.b (<6>,)",
            "forward a.b (<6>,) <36>",
            "forward a (<3>,) <36>",
            "forward_pre b (<36>,)",
            "forward b (<36>,) <144>",
            "forward net (<3>,) <144>",
            "backward_pre net (<1>,)",
            "backward_pre b (<1>,)",
            "backward b (<4>,) (<1>,)",
            "backward_pre a (<4>,)",
            "forward_pre a.a (<3>,)",
            "forward a.a (<3>,) <6>",
            "forward_pre a.b (<6>,)",
            "forward a.b (<6>,) <36>",
            "backward_pre a.b (<4>,)",
            "backward a.b (<48>,) (<4>,)",
            "backward_pre a.a (<48>,)",
            "backward net (None,) (<1>,)",
            "backward a (None,) (<4>,)",
            "backward a.a (None,) (<48>,)",
            "= (<144>, <36>)",
        ],
    ),
    "an_input_computed_from_weights_that_are_not_asked_for": (
        "known only of arguments and of parameters themselves",
        ["backward_pre net (<1>,)", "backward net (<28>, None) (<1>,)", "= (<84>,)"],
    ),
    "the_hook_of_a_parameter_used_by_two_branches": (
        "two calls of one cell are mixed up",
        [
            "backward_pre net (<1>,)",
            "backward_pre a.a (<1>,)",
            "backward_pre a (<1>,)",
            "backward_pre a.b (<1>,)",
            "backward a.b (<12>,) (<1>,)",
            "backward_pre a.a (<12>,)",
            "parameter b.w <42>",
            "backward net (None,) (<1>,)",
            "backward a.a (None,) (<1>,)",
            "backward a (None,) (<1>,)",
            "backward a.a (None,) (<12>,)",
            "= (<42>,)",
        ],
    ),
    "a_list_as_output": (
        "a list or dictionary, and tensors that are only deep inside, are taken for no output",
        [
            "forward_pre net (<6>,)",
            "forward net (<6>,) [<36>, <18>]",
            "backward_pre net (<18>, <36>)",
            "backward net (<324>,) (<18>, <36>)",
            "= (<972>,)",
        ],
    ),
    "a_dictionary_as_output": (
        "a list or dictionary, and tensors that are only deep inside, are taken for no output",
        [
            "forward_pre net (<6>,)",
            "forward net (<6>,) {p: <36>, q: <18>}",
            "backward_pre net (<18>, <36>)",
            "backward net (<324>,) (<18>, <36>)",
            "= (<972>,)",
        ],
    ),
    "containers_of_the_network_itself": (
        "a list or dictionary, and tensors that are only deep inside, are taken for no output",
        [
            "forward_pre net ((<3>, <5>), {z: <7>})",
            "forward net ((<3>, <5>), {z: <7>}) {sum: <30>, product: <6>}",
            "backward_pre net (<1>, None)",
            "backward net (None,) (<1>, None)",
            "= (<15>,)",
        ],
    ),
    "hooks_that_replace_containers": (
        "a list or dictionary, and tensors that are only deep inside, are taken for no output",
        [
            "forward_pre net ((<12>, <3>),)",
            "forward net ((<12>, <3>),) [<12>, <144>]",
            "backward_pre net (None, <1>)",
            "backward net (None,) (None, <1>)",
            "= (<72>,)",
        ],
    ),
    "tensors_only_deep_inside_the_output": (
        "a list or dictionary, and tensors that are only deep inside, are taken for no output",
        [
            "forward_pre net (<6>,)",
            "forward net (<6>,) ((<36>,), (<18>,))",
            "backward_pre net (<18>, <36>)",
            "backward net (<324>,) (<18>, <36>)",
            "= (<972>,)",
        ],
    ),
    "a_dictionary_with_a_tuple_as_output": (
        "a list or dictionary, and tensors that are only deep inside, are taken for no output",
        [
            "forward_pre net (<6>,)",
            "forward net (<6>,) {p: <36>, q: (<18>,)}",
            "backward_pre net (<18>,)",
            "backward net (<324>,) (<18>,)",
            "= <648>",
        ],
    ),
    "a_list_as_output_of_a_constant": (
        "a list or dictionary, and tensors that are only deep inside, are taken for no output",
        [
            "forward_pre net (<3>,)",
            "forward net (<3>,) [<6>, <3>]",
            "backward_pre net (<1>, None)",
            "backward net (None,) (<1>, None)",
            "= (<3>,)",
        ],
    ),
    "an_argument_of_integers": (
        "a gradient of integers",
        [
            "backward_pre net (<1>,)",
            "backward_pre a (<1>,)",
            "backward a (<5>, None) (<1>,)",
            "backward net (<10>, None) (<1>,)",
            "= <10>",
        ],
    ),
    "labels_that_were_an_argument_before": (
        "what an earlier gradient was of is remembered",
        [
            "backward_pre net (<1>,)",
            "backward net (None,) (<1>,)",
            "backward_pre net (<1>,)",
            "backward net (<2>, None) (<1>,)",
            "backward_pre net (<2>,)",
            "backward net (None,) (<2>,)",
            "= (<6>,)",
        ],
    ),
}


@pytest.fixture(autouse=True)
def _without_forward_hooks_of_bprops() -> Iterator[None]:
    """Skip forward hooks of cells that have a ``bprop``, as MindSpore does."""
    ms.set_context(bprop_forward_hooks=False)
    yield
    ms.set_context(bprop_forward_hooks=True)


@pytest.mark.parametrize("name", CASES)
def test_hooks_are_called_as_in_mindspore(name: str) -> None:
    _, lines = OTHERWISE.get(name, ("", RECORDED[name]))
    assert seen_in(name) == lines


def test_every_case_is_recorded_and_what_is_otherwise_is_needed() -> None:
    assert list(RECORDED) == list(CASES)
    assert all(RECORDED[name] != lines for name, (_, lines) in OTHERWISE.items())
