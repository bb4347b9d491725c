"""`import mindspore` gives the engine: the names that it binds, those that it refuses, and an unchanged engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookscope.kernel.alias import TABLE

REAL = '__version__ = "2.10.0"\n'


def python(code: str, *arguments: str, path: Path | None = None) -> str:
    """Run code in a new Python and return what it printed; its traceback fails the test."""
    environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
    process = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=240, env=environment
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.fixture
def real_mindspore(tmp_path: Path) -> Path:
    """Return a folder with an installed package called mindspore."""
    (tmp_path / "mindspore").mkdir()
    (tmp_path / "mindspore" / "__init__.py").write_text(REAL)
    return tmp_path


INSTALL = "from hookscope.kernel import install_as_mindspore, uninstall; install_as_mindspore()\n"


def test_every_row_of_the_table_gives_the_engines_own_module() -> None:
    code = (
        INSTALL
        + f"""
import importlib
for alias, target in {TABLE!r}.items():
    alias = f"mindspore.{{alias}}".rstrip(".")
    module = importlib.import_module(alias)
    if target is None:
        continue
    target = f"hookscope.engine.{{target}}".rstrip(".")
    assert module is importlib.import_module(target), alias
    assert module.__name__ == module.__spec__.name == target, alias
"""
    )
    python(code)


def test_the_usual_imports_work() -> None:
    python(
        INSTALL
        + """
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Parameter, Tensor, context, nn as nn2, ops as ops2
import mindspore.common.dtype as mstype
from mindspore.common import initializer
from mindspore.common.initializer import Normal, initializer as make
from mindspore.ops import operations as P, functional as F
from mindspore.train.serialization import load_checkpoint
import hookscope.engine
assert ms is hookscope.engine and nn is nn2 is ms.nn and ops is ops2 is ms.ops
assert initializer.initializer is make and mstype.float32 is ms.float32 and callable(Normal)
assert callable(P.Add()) and callable(F.add)
import mindspore._c_expression.typing
from mindspore._c_expression import typing
from mindspore._c_expression.typing import Type
assert mindspore._c_expression.typing is typing and isinstance(ms.float32, Type)
"""
    )


def test_a_star_import_leaves_the_name_mindspore_to_the_program() -> None:
    """The engine has a package of that name, too."""
    assert python(INSTALL + "import mindspore\nfrom mindspore import *\nprint(mindspore.Tensor is Tensor)") == "True\n"


def test_aliasing_changes_no_name_of_the_engine() -> None:
    code = """
import sys
import hookscope.engine
def names():
    return {(name, key): id(value) for name, module in list(sys.modules.items())
            if name.startswith("hookscope.engine") for key, value in vars(module).items()}
before = names()
import mindspore.common.initializer, mindspore.common.dtype, mindspore.ops.functional, mindspore.train.serialization
after = names()
print([key for key in before if after[key] != before[key]])
"""
    assert python(INSTALL + code) == "[]\n"


def test_the_version_tells_who_answers() -> None:
    code = "import mindspore, hookscope.engine as e; print(mindspore.__hookscope__ == e.__hookscope__)\n"
    assert python(INSTALL + code + "print(mindspore.__version__ == e.__version__)") == "True\nTrue\n"


def test_the_alias_works_without_ipython() -> None:
    foreign = "('IPython', 'ipykernel', 'ipywidgets')"
    code = f"import mindspore.nn, sys; print([m for m in {foreign} if m in sys.modules])"
    assert python(INSTALL + code) == "[]\n"


def test_installing_imports_no_engine() -> None:
    assert python(INSTALL + "import sys; print('hookscope.engine' in sys.modules, 'numpy' in sys.modules)") == (
        "False False\n"
    )


def test_installing_twice_is_installing_once() -> None:
    code = "import sys; before = list(sys.meta_path); install_as_mindspore(); print(sys.meta_path == before)"
    assert python(INSTALL + code) == "True\n"


def test_it_refuses_when_mindspore_itself_is_imported(real_mindspore: Path) -> None:
    code = """
import mindspore
from hookscope.kernel import install_as_mindspore
try: install_as_mindspore()
except ImportError as error: print(error)
print(mindspore.__version__)
"""
    assert python(code, path=real_mindspore) == (
        "hookscope cannot stand in for mindspore: MindSpore 2.10.0 is already imported. Restart Python and "
        "install the alias before the first `import mindspore`.\n2.10.0\n"
    )


def test_it_goes_before_an_installed_mindspore_and_uninstall_gives_that_back(real_mindspore: Path) -> None:
    code = """
import mindspore, hookscope.engine
assert mindspore is hookscope.engine
uninstall()
import mindspore
print(mindspore.__version__, hookscope.engine.__name__)
"""
    assert python(INSTALL + code, path=real_mindspore) == "2.10.0 hookscope.engine\n"


def test_a_module_it_does_not_have_is_named_with_the_nearest() -> None:
    code = """
try: import mindspore.nn.cel
except ModuleNotFoundError as error: print(error, error.name, sep="|")
"""
    assert python(INSTALL + code) == (
        "hookscope, which stands in for mindspore here, has no module 'mindspore.nn.cel'; the nearest is "
        "'mindspore.nn.cell'|mindspore.nn.cel\n"
    )


def test_no_file_of_the_engine_loads_a_second_time_under_its_alias() -> None:
    code = """
import mindspore.nn, pkgutil, sys
for module in pkgutil.iter_modules(mindspore.nn.__path__):
    try: __import__("mindspore.nn." + module.name)
    except ModuleNotFoundError: pass
print([name for name, module in sys.modules.items() if module.__name__.startswith("mindspore")
       and getattr(module, "__file__", None)])
"""
    assert python(INSTALL + code) == "[]\n"


@pytest.mark.parametrize(
    ("installed", "answer"), [("package", "True\n"), ("folder", "False\n"), ("nothing", "False\n")]
)
def test_installed_means_a_package_not_just_a_folder_of_that_name(tmp_path: Path, installed: str, answer: str) -> None:
    if installed != "nothing":
        (tmp_path / "mindspore").mkdir()
    if installed == "package":
        (tmp_path / "mindspore" / "__init__.py").write_text(REAL)
    code = "import sys; from hookscope.kernel.alias import mindspore_is_installed as f; print(f())"
    assert python(code, path=tmp_path) == answer


PLUGIN_TEST = """
import mindspore
def test_who(): assert mindspore.__name__ == "hookscope.engine"
"""


@pytest.mark.parametrize(("options", "outcome"), [(["--alias-mindspore"], "1 passed"), ([], "1 failed")])
def test_the_pytest_option_decides_who_answers(real_mindspore: Path, options: list[str], outcome: str) -> None:
    (real_mindspore / "conftest.py").write_text("import mindspore\n")
    (real_mindspore / "test_who.py").write_text(PLUGIN_TEST)
    # The plugin is an argument, so that the test does not depend on installed plugins.
    plugin = ["-p", "hookscope.kernel.pytest_plugin", "-p", "no:cacheprovider"]
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, *options, "test_who.py"],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=real_mindspore,
        env={**os.environ, "PYTHONPATH": str(real_mindspore), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert outcome in process.stdout, process.stdout + process.stderr


def test_classes_of_a_file_with_a_name_below_mindspore_print_it() -> None:
    code = """
import inspect, mindspore as ms, mindspore.train
from mindspore import nn, Tensor, Parameter
from mindspore.common.initializer import Normal
print(type(Tensor(1.0)), Parameter, Normal, nn.Cell, ms.train.Model, sep="\\n")
print(inspect.getsource(Tensor).startswith("class Tensor"), inspect.getsource(nn.Cell).startswith("class Cell"))
import copy; print(type(copy.deepcopy(Tensor(1.0))) is Tensor)
uninstall()
print(Tensor, nn.Cell, ms.train.Model)
"""
    assert python(INSTALL + code) == (
        "<class 'mindspore.common.tensor.Tensor'>\n<class 'mindspore.common.parameter.Parameter'>\n"
        "<class 'mindspore.common.initializer.Normal'>\n<class 'mindspore.nn.cell.Cell'>\n"
        "<class 'mindspore.train.model.Model'>\nTrue True\nTrue\n"
        "<class 'hookscope.engine.tensors.tensor.Tensor'> <class 'hookscope.engine.nn.cell.Cell'> "
        "<class 'hookscope.engine.train.model.Model'>\n"
    )


# MindSpore 2.10's output.
CLASSES = """
mindspore.communication._comm_helper.GlobalComm
mindspore.context.ParallelMode
mindspore.dataset.engine.datasets_user_defined.GeneratorDataset
mindspore.dataset.engine.samplers.RandomSampler
mindspore.dataset.transforms.transforms.Compose
mindspore.dataset.vision.transforms.Resize
mindspore.experimental.optim.adamw.AdamW
mindspore.mint.nn.layer.conv.Conv2d
mindspore.mint.nn.layer.activation.Sigmoid
mindspore.mint.nn.CrossEntropyLoss
mindspore.nn.cell.GraphCell
mindspore.nn.layer.activation.ReLU
mindspore.nn.layer.basic.Dense
mindspore.nn.layer.basic.Dropout
mindspore.nn.layer.container.CellList
mindspore.nn.layer.normalization.BatchNorm2d
mindspore.nn.layer.rnns.LSTM
mindspore.nn.loss.loss.CrossEntropyLoss
mindspore.nn.optim.adam.Adam
mindspore.nn.probability.distribution.normal.Normal
mindspore.nn.wrap.cell_wrapper.TrainOneStepCell
mindspore.ops.auto_generate.gen_ops_prim.Add
mindspore.ops.composite.base.GradOperation
mindspore.ops.auto_generate.gen_ops_prim.Range
mindspore.ops.operations.comm_ops.ReduceOp
mindspore.ops.operations.nn_ops.SGD
mindspore.ops.primitive.Primitive
mindspore.train.callback._callback.Callback
mindspore.train.metrics.accuracy.Accuracy
mindspore.train.metrics.cosine_similarity.CosineSimilarity
mindspore.train.loss_scale_manager.FixedLossScaleManager
"""


def test_public_classes_print_the_module_that_mindspore_prints_whichever_way_they_are_reached() -> None:
    code = """
import mindspore as ms
from mindspore import dataset, mint, nn, ops
for one in (
    ms.communication.GlobalComm, ms.ParallelMode, dataset.GeneratorDataset, dataset.RandomSampler,
    dataset.transforms.Compose, dataset.vision.Resize, ms.experimental.optim.AdamW, mint.nn.Conv2d, mint.nn.Sigmoid,
    mint.nn.CrossEntropyLoss,
    nn.GraphCell, nn.ReLU, nn.Dense, nn.Dropout, nn.CellList, nn.BatchNorm2d, nn.LSTM, nn.CrossEntropyLoss, nn.Adam,
    nn.probability.distribution.Normal, nn.TrainOneStepCell, ops.Add, ops.GradOperation, ops.Range, ops.ReduceOp,
    ops.SGD, ops.Primitive, ms.Callback, nn.Accuracy, nn.CosineSimilarity, ms.FixedLossScaleManager,
):
    print(str(one).split("'")[1])
"""
    assert "\n" + python(INSTALL + code) == CLASSES


def test_no_public_class_prints_a_module_of_the_engine() -> None:
    code = """
import sys
from importlib import import_module
from pathlib import Path
import hookscope
sys.path.insert(0, str(Path(hookscope.__file__).parent.parent))
from scripts.modules import offered
own = set()
for module, names in offered().items():
    try: held = import_module(module)
    except ImportError: continue
    for one in (getattr(held, name, None) for name in names):
        if isinstance(one, type) and one.__module__.startswith("hookscope."): own.add(one.__qualname__)
print(sorted(own))
"""
    # DType stands for a class of C++ for each dtype; no code makes a QuantDtype.
    assert python(INSTALL + code) == "['QuantDtype']\n"


def test_source_and_copies_of_classes_with_the_names_of_mindspore_are_found_and_uninstall_gives_back_what_was() -> None:
    code = """
import copy, inspect, pickle
getfile = inspect.getfile
from mindspore import Tensor, mint, nn, ops, train
for one in (nn.Dense, nn.Dropout, nn.Adam, mint.nn.Conv2d, ops.GradOperation, train.Callback):
    assert inspect.getsource(one).startswith(f"class {one.__name__}"), one
    assert pickle.loads(pickle.dumps(one)) is one and copy.deepcopy(one) is one, one
assert copy.deepcopy(nn.Dense(1, 1)).weight.shape == pickle.loads(pickle.dumps(nn.Dense(1, 1))).weight.shape == (1, 1)
assert inspect.getsource(nn.Dense.construct).lstrip().startswith("def construct")
uninstall()
assert inspect.getfile is getfile
print(nn.Dense, mint.nn.Conv2d, train.Callback)
"""
    assert python(INSTALL + code) == (
        "<class 'hookscope.engine.nn.layers.linear.Dense'> <class 'hookscope.engine.mindspore.mint.nn.layers.Conv2d'> "
        "<class 'hookscope.engine.train.callback.base.Callback'>\n"
    )


def test_a_users_callback_is_still_told_from_the_engines_own() -> None:
    code = """
from mindspore import nn, train
from hookscope.engine.base.module_names import is_of_the_engine
class Mine(train.Callback): pass
print(is_of_the_engine(train.LossMonitor), is_of_the_engine(nn.Dense), is_of_the_engine(Mine))
uninstall()
print(is_of_the_engine(train.LossMonitor), is_of_the_engine(nn.Dense), is_of_the_engine(Mine))
"""
    assert python(INSTALL + code) == "True True False\n" * 2
