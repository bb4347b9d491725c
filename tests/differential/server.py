"""Runs cases in one package: started by `talking.py` with the package's name; JSON texts in, each after a line with its
length, and out, one a line.

Knows nothing of the other files, as it runs in both environments. A fork answers until a gradient or a kernel
fails, or until a line says "fresh": MindSpore computes wrong gradients after some of its errors. A crash ends the fork
alone.
"""

import base64
import json
import linecache
import mmap
import os
import sys
import types
import warnings


def main(package):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a package's prints are not answers
    warnings.simplefilter("ignore")
    if package == "hookscope":
        import hookscope.engine as ms

        ms.set_context(bprop_forward_hooks=False)  # MindSpore's way; without it the page's is taken
    else:
        import mindspore as ms

        ms.runtime.launch_blocking()  # its threads wait busily for each other: five times as slow on a loaded machine
    say(answers, "ready")
    flag = mmap.mmap(-1, 1)  # shared with the forks: whether a case waits for its answer
    while True:
        fork = os.fork()
        if fork == 0:
            while True:
                text = line()
                if not text:
                    os._exit(0)
                if text == "fresh\n":
                    os._exit(1)
                flag[0] = 1
                answer = run(ms, json.loads(text))
                spoilt = answer.pop("spoilt", False)
                flag[0] = 0
                say(answers, answer)
                if spoilt:
                    os._exit(1)
        status = os.waitpid(fork, 0)[1]
        if flag[0]:  # not where it broke after its answer
            say(answers, {"error": "crash", "text": f"signal {os.WTERMSIG(status)}"})
            flag[0] = 0
        elif not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) == 0:
            return


def line():
    """Read the next text, and not a byte more, since the rest is for the next fork."""
    length = b""
    while not length.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return ""
        length += byte
    text = b""
    while len(text) < int(length):
        text += os.read(0, int(length) - len(text))
    return text.decode()


def say(answers, value):
    answers.write(json.dumps(value) + "\n")
    answers.flush()


def run(ms, case):
    try:
        names = program(case["source"])
        inputs = [tensor(ms, item) for item in case["inputs"]]
        if "layer" in names:
            return trained(ms, names, inputs, case["gradient"])
        result = names["run"](ms, *inputs)
        answer = {"result": description(ms, result)}
        indices = tuple(i for i, x in enumerate(inputs) if floating(ms, x))
        if case["gradient"] and indices and any(floating(ms, item) for item in flat(result)):
            try:
                slopes = ms.grad(lambda *x: weighted(ms, names["run"](ms, *x)), indices)(*inputs)
                answer["gradients"] = description(ms, slopes)
            except Exception as error:
                answer |= {"gradient error": [type(error).__name__, str(error)[:300]], "spoilt": True}
        return answer
    except Exception as error:
        # A case that computes gradients by itself may have failed within one.
        spoilt = "C++ Call Stack" in str(error) or not case["gradient"]
        return {"error": type(error).__name__, "text": str(error)[:300], "spoilt": spoilt}


def trained(ms, names, inputs, gradient):
    """Return the result of ``run(ms, layer, ...)`` with the layer of ``layer(ms)``, and the layer's state.

    The state is the parameters before and after it, and the gradients by inputs and by parameters.
    """
    import numpy as np

    layer = names["layer"](ms)
    for i, element in enumerate(layer.get_parameters()):
        values = 0.6 * np.sin(0.7 * np.arange(int(np.prod(element.shape))) + i).reshape(element.shape)
        values = np.abs(values) + 0.5 if "variance" in element.name else values
        element.set_data(ms.Tensor(values.astype(np.float32)).astype(element.dtype))
    indices = tuple(i for i, x in enumerate(inputs) if floating(ms, x))
    weights = layer.trainable_params()
    told_of = [
        [parameter.name, list(parameter.shape), str(parameter.dtype), parameter.requires_grad]
        for parameter in layer.get_parameters()
    ]
    result = names["run"](ms, layer, *inputs)
    after = [parameter.value() + 0 for parameter in layer.get_parameters() if not parameter.requires_grad]
    answer = {"result": description(ms, [result, told_of, after])}
    if gradient and (indices or weights) and any(floating(ms, item) for item in flat(result)):
        try:
            call = ms.grad(lambda *x: weighted(ms, names["run"](ms, layer, *x)), indices or None, weights or None)
            answer["gradients"] = description(ms, call(*inputs))
        except Exception as error:
            answer |= {"gradient error": [type(error).__name__, str(error)[:300]], "spoilt": True}
    return answer


def program(source):
    """Return a program's names. MindSpore requires modules for functions, and the source text of some."""
    module = sys.modules["case"] = types.ModuleType("case")
    module.__file__ = "case.py"
    linecache.cache["case.py"] = (len(source), None, source.splitlines(keepends=True), "case.py")
    exec(compile(source, "case.py", "exec"), module.__dict__)
    return module.__dict__


def floating(ms, value):
    return isinstance(value, ms.Tensor) and value.dtype in (ms.float16, ms.bfloat16, ms.float32, ms.float64)


def flat(value):
    return [item for part in value for item in flat(part)] if isinstance(value, tuple | list) else [value]


def weighted(ms, result):
    """Return one number of all floating results, each element with a weight of its own."""
    import numpy as np

    total = 0
    for i, item in enumerate(flat(result)):
        if floating(ms, item):
            dtype = ms.float64 if item.dtype == ms.float64 else ms.float32
            weights = np.cos(np.arange(int(np.prod(item.shape))) + i).reshape(item.shape).astype(np.float32)
            total = total + (item.astype(dtype) * ms.Tensor(weights).astype(dtype)).sum()
    return total


def tensor(ms, argument):
    import numpy as np

    array = np.frombuffer(base64.b64decode(argument["data"]), argument["numpy"]).reshape(argument["shape"]).copy()
    value = ms.Tensor(array)
    return value.astype(ms.bfloat16) if argument["dtype"] == "bfloat16" else value


def description(ms, value):
    """Return a function's result, as JSON."""
    import numpy as np

    if isinstance(value, tuple | list):
        return [description(ms, item) for item in value]
    if not isinstance(value, ms.Tensor):
        return {"value": value if isinstance(value, bool | int | float | str | None) else type(value).__name__}
    array = np.ascontiguousarray((value.astype(ms.float32) if value.dtype == ms.bfloat16 else value).asnumpy())
    return {
        "dtype": str(value.dtype),
        "shape": list(value.shape),
        "numpy": array.dtype.str,
        "data": base64.b64encode(array.tobytes()).decode(),
    }


if __name__ == "__main__":
    main(sys.argv[1])
