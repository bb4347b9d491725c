"""Runs the examples of docstrings in one package: started by `examples.py`, one JSON text a line in and out.

Knows nothing of the other files, as it runs in both environments. Each example is a fork of its own with a namespace
and an empty directory of its own: what it sets, starts or breaks ends with it.
"""

import ast
import contextlib
import json
import linecache
import os
import shutil
import signal
import sys
import tempfile
import time
import types
import warnings

SECONDS = 120
# Imports that the reference's pages omit.
PREAMBLE = """
import numpy as np
import mindspore
import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.text as text
import mindspore.dataset.transforms as transforms
import mindspore.dataset.vision as vision
import mindspore.numpy as mnp
from mindspore import Parameter, Tensor, context, mint, nn, ops, train

class LeNet5(nn.Cell):
    def __init__(self, num_class=10, num_channel=1, include_top=True):
        super().__init__()
        self.conv1 = nn.Conv2d(num_channel, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_class)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(self.flatten(x))))))

def create_dataset(path="", batch_size=32, **kwargs):
    numbers = np.random.default_rng(0)
    images = numbers.random((64, 1, 32, 32), np.float32)
    labels = numbers.integers(0, 10, 64).astype(np.int32)
    return ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=False).batch(batch_size)
"""


def main(package):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a package's prints are not answers
    warnings.simplefilter("ignore")
    if package == "hookscope":
        import hookscope

        hookscope.install_as_mindspore()
    names = {}
    for statement in ast.parse(PREAMBLE).body:
        with contextlib.suppress(ImportError):  # in an older tree
            exec(compile(ast.Module([statement], []), "preamble", "exec"), names)
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(run_one_example(request["statements"], request["seed"], names)), file=answers, flush=True)


def run_one_example(statements, seed, names):
    """Return the printed text and error of each statement, as many as ran within the time."""
    folder = tempfile.mkdtemp()
    report = os.path.join(folder, "..", os.path.basename(folder) + ".told")
    fork = os.fork()
    if fork == 0:
        os.setsid()
        try:
            run(statements, seed, dict(names), folder, report)
        finally:
            os._exit(0)
    end = time.monotonic() + SECONDS
    how = "ended early"
    while os.waitpid(fork, os.WNOHANG)[0] == 0:
        if time.monotonic() > end:
            how = "hangs"
            os.killpg(fork, signal.SIGKILL)
            os.waitpid(fork, 0)
            break
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):  # the processes that it started
        os.killpg(fork, signal.SIGKILL)
    results = []
    if os.path.exists(report):
        with open(report) as file:
            results = [json.loads(line) for line in file]
        os.remove(report)
    shutil.rmtree(folder, ignore_errors=True)
    if len(results) < len(statements) and not (results and results[-1]["error"]):
        results.append({"printed": "", "error": how, "text": ""})
    return results


def run(statements, seed, names, folder, report):
    os.chdir(folder)
    names["ms"].set_seed(seed)
    # A file, and a module of it: what compiles reads the source.
    path = os.path.join(folder, "example.py")
    with open(path, "w") as file:
        file.write("".join(statements))
    linecache.checkcache(path)
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__dict__.update({name: value for name, value in names.items() if not name.startswith("__")})
    sys.modules["__main__"] = module
    printed = os.path.join(folder, "printed.txt")
    os.dup2(os.open(printed, os.O_RDWR | os.O_CREAT | os.O_APPEND), 1)
    sys.stdout = os.fdopen(os.dup(1), "w")
    line = index = 0
    with open(report, "w") as answers:
        for statement in statements:
            error, text = "", ""
            try:
                body = ast.parse("\n" * line + statement, path).body
                exec(compile(ast.Interactive(body), path, "single"), module.__dict__)
            except BaseException as raised:
                builtin = next(item for item in type(raised).__mro__ if item.__module__ == "builtins")
                error, text = builtin.__name__, str(raised)[:600]
            sys.stdout.flush()
            with open(printed, "rb") as file:
                file.seek(index)
                output = file.read(1 << 18).replace(folder.encode(), b"")
            index = os.path.getsize(printed)
            line += statement.count("\n")
            answers.write(json.dumps({"printed": output.decode(errors="replace"), "error": error, "text": text}) + "\n")
            answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
