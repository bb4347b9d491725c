"""The engine's own tests with all tensors on the strict device: layers, losses, optimizers, trainings, the debugger.

They run a second time here, so a few cases of each test are enough; `make nightly` runs all.

The excluded tests read the memory of NumPy's arrays, or assert that the device is the CPU.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[1]
ROOT = ENGINE.parents[1]
SUITES = {
    "layers": (
        "nn/layers/test_layer*.py",
        "nn/test_cell*.py",
        "nn/test_wrap.py",
        "tensors/test_parameter.py",
        "ops/test_control.py",
    ),
    "losses and hooks": (
        "nn/layers/test_loss_layers.py",
        "ops/neural/test_losses.py",
        "nn/test_hooks.py",
        "nn/test_recompute.py",
        "tensors/test_views.py",
        "tape/test_taps.py",
    ),
    "gradients": ("autograd/test_grad.py", "nn/test_bprop.py", "tensors/test_tensor.py", "ops/sparse"),
    "optimizers": ("nn/optim/test_optimizers.py", "nn/optim/test_schedules.py", "nn/optim/test_experimental_optim.py"),
    "checkpoints": (
        "formats/test_export.py",
        "formats/test_serialization.py",
        "formats/test_serialization_files.py",
        "formats/test_safetensors.py",
    ),
    "trainings": ("train",),
    "conditions": ("debug/diagnose",),
    "comparing": ("debug/compare/test_*.py",),
    "captures": ("debug/record", "debug/test_cures.py", "debug/test_events.py", "debug/test_parameter_edits.py"),
    "pauses": ("debug/stop",),
}
LEFT_OUT = (
    "test_writing_never_changes_what_is_held_elsewhere",
    "test_a_step_changes_no_value_that_is_held_elsewhere",
    "test_the_sole_owner_writes_without_a_copy",
    "test_writing_row_by_row_leaves_the_array_that_somebody_holds",
    "test_no_tensor_is_pinned_or_shared_and_the_device_prints_as_a_tuple",
    "test_attributes_describe_the_array",
    "test_target_and_unique_are_kept_for_readers",
    "test_a_gradient_that_grows_is_clipped_by_a_hook_where_it_is_first_too_long",
    # Class numbers out of range are reported at the next read of values, which test_deferred_checks.py tests.
    "test_a_loss_of_class_numbers_names_itself_in_its_errors",
    "test_shapes_and_settings_that_do_not_fit_are_refused",
    "test_losses_refuse",
    "test_operators_are_told_only_to_those_who_ask",  # there are more of them on a GPU
    "test_products_of_integers_are_exact",  # CuPy's sparse matrices have no integers
)


@pytest.mark.ci_only
@pytest.mark.timeout(900)
@pytest.mark.parametrize("suite", SUITES)
def test_the_engines_tests_pass_on_the_device(suite: str, tmp_path: Path) -> None:
    files = [str(path) for pattern in SUITES[suite] for path in sorted(ENGINE.glob(pattern))]
    assert all(list(ENGINE.glob(pattern)) for pattern in SUITES[suite])
    command = [
        *(sys.executable, "-m", "pytest", "-q", "--maxfail=20", "--tb=short", "-p", "tests.engine.on_device.plugin"),
        *(() if os.environ.get("HOOKSCOPE_ALL_CASES") == "1" else ("--most-cases", "2")),
        "--ignore-glob=*/diagnose/test_*errors.py",  # explanations read frames and shapes, which no device changes
        *("-p", "no:cacheprovider", "-p", "no:xdist", "-k", " and ".join(f"not {name}" for name in LEFT_OUT), *files),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=880)
    assert process.returncode == 0, process.stdout[-20000:] + process.stderr
    assert " passed" in process.stdout
