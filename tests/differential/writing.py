"""Common parts of programs of several lines: their beginning, and the log of their values."""

from __future__ import annotations

import numpy as np

WRITES_DOWN = """\
LOG = []

def structure(v):
    if isinstance(v, (tuple, list)):
        return type(v).__name__ + "(" + ", ".join(structure(one) for one in v) + ")"
    if isinstance(v, dict):
        return "{" + ", ".join(str(key) + ": " + structure(one) for key, one in v.items()) + "}"
    return "T" if hasattr(v, "asnumpy") else repr(v)

def flat(v):
    if isinstance(v, dict):
        v = list(v.values())
    if isinstance(v, (tuple, list)):
        return [t for one in v for t in flat(one)]
    return [v + 0] if hasattr(v, "asnumpy") else []

def saw(what, *values):
    LOG.append([what + " " + structure(values), flat(values)])

def total(v):
    out = 0
    for place, t in enumerate(flat(v)):
        out = out + (t * (place + 1.0)).sum()
    return out

"""
HEAD = """def run(ms, x0, x1):
    import numpy as np
    nn, ops, Tensor, Parameter = ms.nn, ms.ops, ms.Tensor, ms.Parameter
    LOG.clear()
"""


class Writer:
    """Writer of a program's lines, with its random choices."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.lines: list[str] = []

    def pick(self, weights: dict[str, int]) -> str:
        """Return one of the keys, by their weights."""
        return str(self.rng.choice(list(weights), p=np.array(list(weights.values())) / sum(weights.values())))

    def one(self, texts: tuple[str, ...] | list[str]) -> str:
        return texts[int(self.rng.integers(len(texts)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)
