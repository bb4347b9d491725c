"""Importing the engine imports little and changes nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import hookscope.engine as ms

Run = Callable[..., "subprocess.CompletedProcess[str]"]
# Needed by single features only, each imported where it is used.
DEFERRED = (
    "ml_dtypes",
    "google.protobuf",
    "safetensors",
    "scipy",
    "pandas",
    "hookscope.engine.debug",
    "hookscope.kernel",
    "difflib",
    "numpy.random",
    "secrets",
    "tempfile",
)


def test_libraries_of_single_features_are_imported_on_use(run_python: Run) -> None:
    code = (
        "import sys, numpy; before = set(sys.modules); import hookscope.engine; "
        f"print([name for name in {DEFERRED!r} if name in sys.modules and name not in before])"
    )
    assert run_python(code).stdout.strip() == "[]"


def test_a_bfloat16_tensor_brings_its_library(run_python: Run) -> None:
    code = "import sys, hookscope.engine as ms; ms.Tensor([1.0], ms.bfloat16); print('ml_dtypes' in sys.modules)"
    assert run_python(code).stdout.strip() == "True"


def test_importing_leaves_numpys_settings_and_random_numbers_alone(run_python: Run) -> None:
    code = (
        "import numpy as np; before = np.geterr(), np.get_printoptions(), np.random.get_state()[1].tolist(); "
        "import hookscope.engine; "
        "print(before == (np.geterr(), np.get_printoptions(), np.random.get_state()[1].tolist()))"
    )
    assert run_python(code).stdout.strip() == "True"


def test_the_engine_is_mindspore_by_its_names() -> None:
    for name in (
        "Tensor",
        "Parameter",
        "grad",
        "value_and_grad",
        "nn",
        "ops",
        "set_context",
        "save_checkpoint",
        "float32",
    ):
        assert hasattr(ms, name)
    assert ms.common.Parameter is ms.Parameter


def test_the_version_is_that_of_the_mindspore_it_follows_beside_its_own() -> None:
    import hookscope

    assert (ms.__version__, ms.__hookscope__) == ("2.10.0", hookscope.__version__)
