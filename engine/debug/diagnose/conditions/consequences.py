"""Rules of consequences: a consequence is folded under its cause, and needs no fix of its own.

A consequence is downstream of its cause: a value at the cause or after it in the forward pass, a gradient at the cause
or after it in the backward pass, the loss and the optimizer in any case. ``anywhere`` is for causes that affect the
whole network.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["RULES", "Rule"]


class Rule(NamedTuple):
    """One rule.

    Attributes:
        causes: names of conditions.
        consequences: names of the conditions that each of them explains.
        anywhere: whether it explains them in every cell, and not only downstream.
        after: it explains only findings first seen at least this many steps later; None if the cause is present from
            the beginning and only observed later.
    """

    causes: tuple[str, ...]
    consequences: tuple[str, ...]
    anywhere: bool = False
    after: int | None = None


_AT_REST = ("dead_relu", "saturated_sigmoid", "saturated_tanh")
_NOT_FINITE = ("nan", "inf", "overflow")
_GONE = ("all_zero", "vanishing_gradient", "no_gradient")
_LARGE = ("exploding_gradient", "update_too_large", "learning_rate_too_large")
_SMALL = ("unchanged_weight", "update_too_small", "learning_rate_too_small")
_LOSS = ("loss_not_decreasing", "first_loss")
# Many faults make the outputs of a network the same for all samples.
_COLLAPSED = "collapsed_output"
_COLLAPSES = (
    *_NOT_FINITE,
    *_AT_REST,
    *_LARGE,
    "all_zero",
    "vanishing_gradient",
    "inputs_not_normalized",
    "one_class",
    "targets_not_normalized",
    "labels_out_of_range",
    "targets_out_of_range",
    "batch_of_one",
    "softmax_over_batch",
    "loss_broadcasts",
    "wrong_sign",
    "wrong_bprop",
    "wrong_mode",
    "initial_weights",
)

RULES = (
    # Non-finite values produce more of them, and the parameters that they reach are lost.
    Rule(("nan", "inf"), (*_NOT_FINITE, *_LARGE, *_SMALL, *_GONE, *_AT_REST, *_LOSS), anywhere=True, after=0),
    # Data.
    Rule(("inputs_not_normalized",), (*_AT_REST, *_GONE, *_LARGE, *_SMALL, *_LOSS, "overflow"), anywhere=True),
    Rule(
        ("one_class", "labels_out_of_range", "targets_out_of_range"), (*_GONE, *_LARGE, *_SMALL, *_LOSS), anywhere=True
    ),
    Rule(("targets_not_normalized",), (*_GONE, *_AT_REST, *_LARGE, *_SMALL, *_LOSS, "overflow"), anywhere=True),
    Rule(("random_target",), (*_SMALL, *_LOSS), anywhere=True),
    Rule(("trained_target",), (*_SMALL, *_LOSS, _COLLAPSED), anywhere=True),
    Rule(("batch_of_one",), (*_GONE, *_AT_REST, *_SMALL, *_LOSS)),
    # The loss.
    Rule(
        ("loss_broadcasts", "softmax_twice", "softmax_over_batch"),
        (*_GONE, *_LARGE, *_SMALL, *_LOSS, "samples_leak"),
        anywhere=True,
    ),
    Rule(("same_operands",), (*_GONE, *_SMALL, *_LOSS), anywhere=True),
    Rule(("wrong_sign",), (*_AT_REST, *_NOT_FINITE, *_GONE, *_LARGE, *_SMALL, *_LOSS), anywhere=True),
    Rule(("loss_falls_without_bound",), (*_AT_REST, *_NOT_FINITE, *_GONE, *_LARGE, *_SMALL, *_LOSS), anywhere=True),
    Rule(("wrong_sign", "nan", "inf"), ("loss_falls_without_bound",), anywhere=True, after=0),
    Rule(
        ("detached_term", "attached_advantage", "loss_term_drowned", "loss_weight_vanishes"),
        ("loss_not_decreasing", _COLLAPSED),
        anywhere=True,
    ),
    Rule(("target_is_input", "mask_after_softmax"), ("loss_not_decreasing",), anywhere=True),
    Rule(("lost_gradient",), (*_GONE, *_SMALL, *_LOSS, _COLLAPSED), anywhere=True),
    # The optimizer.
    Rule(("optimizer_other_parameters",), ("no_gradient",), anywhere=True),
    Rule(("optimizer_other_parameters", "learning_rate_zero"), (*_SMALL, "loss_not_decreasing"), anywhere=True),
    Rule(("learning_rate_too_large",), (*_AT_REST, *_NOT_FINITE, *_GONE, *_LARGE, *_LOSS), anywhere=True, after=1),
    Rule(("learning_rate_too_small",), ("update_too_small", "unchanged_weight", "loss_not_decreasing"), anywhere=True),
    Rule(("learning_rate_too_large",), ("update_too_large",), anywhere=True),
    Rule(
        ("gradients_accumulate", "opposed_updates"),
        (*_AT_REST, *_NOT_FINITE, *_GONE, *_LARGE, *_SMALL, *_LOSS),
        anywhere=True,
    ),
    Rule(("weight_decay_too_large",), (*_AT_REST, *_GONE, *_SMALL, *_LARGE, *_LOSS), anywhere=True),
    Rule(("updates_undone", "gradients_scaled_down", "optimizer_not_called"), (*_SMALL, *_LOSS), anywhere=True),
    # The network.
    Rule(("wrong_bprop",), (*_GONE, *_LARGE, *_SMALL, *_NOT_FINITE, *_LOSS)),
    Rule(("wrong_mode",), ("unchanged_weight", *_LOSS), anywhere=True),
    Rule(("shared_cell",), ("unchanged_weight", "no_gradient", "unused_parameter"), anywhere=True),
    # What is not trained, or is made smaller in each step, shows in the values, the updates and the loss.
    Rule(
        ("unregistered_cell", "copied_weight"),
        ("no_gradient", "unchanged_weight", "unused_parameter", "frozen_parameter", *_LOSS),
        anywhere=True,
    ),
    Rule(("growing_statistic",), (*_AT_REST, *_GONE, *_LARGE, *_SMALL, *_LOSS, "overflow")),
    Rule(("unused_parameter",), ("no_gradient", "unchanged_weight")),
    Rule(("frozen_parameter",), ("loss_not_decreasing",)),
    Rule(("initial_weights",), (*_AT_REST, *_GONE, *_LARGE, *_SMALL, *_LOSS, *_NOT_FINITE)),
    Rule(("first_loss",), ("update_too_large", "learning_rate_too_large", "loss_not_decreasing"), anywhere=True),
    Rule(_COLLAPSES, (_COLLAPSED,), anywhere=True),
    Rule((_COLLAPSED,), ("no_gradient", *_SMALL, *_LOSS), anywhere=True),
    # Values at cells.
    Rule(_AT_REST, (*_GONE, *_AT_REST, *_SMALL, "loss_not_decreasing")),
    Rule(("all_zero",), (*_GONE, *_SMALL, "loss_not_decreasing")),
    # The gradient of a weight is the output gradient times its input: zeros in either produce zeros.
    Rule(("dead_relu", "all_zero"), ("no_gradient", "unchanged_weight", "update_too_small"), anywhere=True),
    Rule(("no_gradient", "vanishing_gradient"), (*_GONE, *_SMALL, "loss_not_decreasing")),
    Rule(("exploding_gradient",), (*_LARGE, *_AT_REST, *_NOT_FINITE, *_GONE, *_LOSS)),
    Rule(("update_too_large",), (*_LARGE, *_AT_REST, *_NOT_FINITE, *_GONE, *_LOSS), after=1),
    Rule(("unchanged_weight", "update_too_small"), (*_SMALL, "loss_not_decreasing"), anywhere=True),
)
