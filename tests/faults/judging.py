"""Findings of a session in each program of the corpus, compared with the planted faults.

python -m tests.faults.judging                  # all programs, with the missing finding of each
python -m tests.faults.judging NAME ...         # some, with every finding
python -m tests.faults.judging --mended         # the planted ones without their faults: there must be no finding
python -m tests.faults.judging --nudged SEED    # with weights that differ in their last bit, as on other processors
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.causes import Cause
from hookscope.engine.debug.diagnose.findings import Findings
from tests.faults.corpus import HEALTHY, MORE_HEALTHY, MORE_PLANTED, PLANTED
from tests.faults.programs import PLACES_OUTSIDE, Program

# The conditions that find each kind. A NaN is often that of an infinity; a first loss far too large, or a saturated
# activation, is caused by the weights before it if these are the planted fault.
FOUND_BY = {
    "inputs_not_normalized": {"inputs_not_normalized"},
    "one_class_only": {"one_class"},
    "labels_out_of_range_or_shifted": {"labels_out_of_range", "targets_out_of_range"},
    "loss_broadcasts": {"loss_broadcasts"},
    "softmax_twice": {"softmax_twice"},
    "softmax_over_batch_axis": {"softmax_over_batch"},
    "cross_entropy_wrong_sign": {"wrong_sign"},
    "first_loss_far_too_large": {"first_loss", "initial_weights"},
    "samples_leak": {"samples_leak"},
    "batch_of_one_under_batchnorm": {"batch_of_one"},
    "learning_rate_zero": {"learning_rate_zero"},
    "optimizer_other_parameters": {"optimizer_other_parameters"},
    "predict_mode_with_stale_statistics": {"wrong_mode"},
    "wrong_mode": {"wrong_mode"},
    "dead_relu": {"dead_relu"},
    "vanishing_gradient": {"vanishing_gradient"},
    "exploding_gradient": {"exploding_gradient"},
    "nan_produced": {"nan", "inf"},
    "inf_inside": {"inf"},
    "frozen_parameter": {"frozen_parameter"},
    "unused_parameter": {"unused_parameter"},
    "detached_graph": {"no_gradient", "all_zero", "lost_gradient"},
    "saturated_activation": {"saturated_sigmoid", "saturated_tanh", "initial_weights"},
    "wrong_bprop": {"wrong_bprop"},
    "learning_rate_too_large": {"learning_rate_too_large"},
    "learning_rate_too_small": {"learning_rate_too_small"},
    "bad_initialization": {"initial_weights"},
    "shared_parameter_by_mistake": {"shared_cell"},
}


def findings_of(
    program: Program, mended: bool = False, take_roots: bool = False, nudged: int | None = None
) -> Findings:
    """Return the findings while a program trains, also if it ends with the planted error.

    With ``take_roots`` the session has no network as argument; with ``nudged``, a seed, some of the weights begin one
    bit larger or smaller.
    """
    run = program.mended() if mended and program.mended is not None else program.build()
    if nudged is not None:
        nudge(run.net, nudged)
    session = DebugSession(None if take_roots else run.net, conditions=["all"])
    with warnings.catch_warnings(), session, suppress(*([program.raises] if program.raises and not mended else [])):
        warnings.simplefilter("ignore")
        run.train()
    return session.findings()


def nudge(net: nn.Cell, seed: int) -> None:
    """Move two thirds of the trainable weights to the next number above or below; zeros stay."""
    generator = np.random.default_rng(seed)
    for parameter in net.trainable_params():
        values = parameter.asnumpy()
        if values.dtype == np.float32 and values.size:
            towards = generator.choice(np.array([-np.inf, np.nan, np.inf], np.float32), values.shape)
            moved = np.where(np.isnan(towards) | (values == 0), values, np.nextafter(values, towards))
            parameter.set_data(Tensor(moved.astype(np.float32)))


def is_planted_fault(cause: Cause, program: Program) -> bool:
    """Return whether a cause names the planted fault: the kind, and the place or another one with the same symptom."""
    if cause.condition not in FOUND_BY[program.kind]:
        return False
    paths = {program.place, *program.also}
    return cause.place in paths or (cause.path in paths and cause.place not in PLACES_OUTSIDE)


def lines_of(causes: Iterable[Cause]) -> list[str]:
    """Return a line for each cause."""
    return [
        f"{cause.condition} at {cause.place!r}: {cause.message} [{len(cause.consequences)} folded]" for cause in causes
    ]


def compare_nudged(seed: int) -> None:
    """Print the programs whose first cause depends on the last bits of their weights."""
    for program in (*PLANTED, *MORE_PLANTED, *HEALTHY, *MORE_HEALTHY):
        for mended in (False, True) if program.mended is not None else (False,):
            plain, nudged = (findings_of(program, mended, nudged=argument).causes() for argument in (None, seed))
            if [(item.condition, item.place) for item in plain[:1]] != [
                (item.condition, item.place) for item in nudged[:1]
            ]:
                print(f"{program.name}{', mended' if mended else ''}")
                print(*(f"       plain:  {line[:230]}" for line in lines_of(plain)), sep="\n")
                print(*(f"       nudged: {line[:230]}" for line in lines_of(nudged)), sep="\n", flush=True)


def main(names: list[str]) -> None:
    if names[:1] == ["--nudged"]:
        compare_nudged(int(names[1]))
        return
    if names == ["--mended"]:
        for program in (*PLANTED, *MORE_PLANTED):
            for line in lines_of(findings_of(program, mended=True).causes()):
                print(f"{program.name}: {line[:230]}")
        return
    right = wrong = 0
    for program in (*PLANTED, *MORE_PLANTED, *HEALTHY, *MORE_HEALTHY):
        if names and program.name not in names:
            continue
        findings = findings_of(program)
        causes = findings.causes()
        good = bool(causes) and is_planted_fault(causes[0], program) if program.kind else not causes
        right, wrong = right + good, wrong + (not good)
        if names or not good:
            among = any(is_planted_fault(cause, program) for cause in causes) if program.kind else False
            what = f"{program.kind} at {program.place!r}" if program.kind else "healthy"
            print(f"{'ok  ' if good else 'MISS'} {program.name}: {what}{'; among' if among else ''}")
            print(*(f"       {line[:230]}" for line in lines_of(causes)[:6]), sep="\n")
            if names:
                print(
                    *(
                        f"         - {result.condition} {result.path!r} {result.first_step}: {result.message[:150]}"
                        for result in findings
                    ),
                    sep="\n",
                )
    print(f"{right} right, {wrong} not")


if __name__ == "__main__":
    main(sys.argv[1:])
