"""Types of the names that are created at import, as a user's type checker sees them: `make lint` checks this file.

It is not run. An unnecessary ignore is an error (mypy's `warn_unused_ignores`).
"""

from typing import assert_type

from hookscope.engine import Parameter, Tensor, mint, nn, ops


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(4, 2)
        self.relu = nn.ReLU()

    def construct(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return self.relu(self.dense(x)) * scale


def results(x: Tensor, weight: Parameter) -> None:
    assert_type(ops.add(x, x), Tensor)
    assert_type(ops.softmax(x, axis=1), Tensor)
    assert_type(ops.Softmax(axis=1)(x), Tensor)
    assert_type(x.reshape(1), Tensor)
    assert_type(x.sum(axis=1), Tensor)
    assert_type(x.sum(dim=1, keepdim=True), Tensor)
    assert_type(x.exp_(), Tensor)
    assert_type(x @ weight + 1, Tensor)
    assert_type(x.T, Tensor)
    assert_type(x > 0, Tensor)
    assert_type(mint.sum(x, dim=1), Tensor)
    assert_type(mint.nn.functional.gelu(x), Tensor)
    assert_type(nn.Dense(1, 2)(x), Tensor)
    assert_type(Net()(x), Tensor)


def errors(x: Tensor) -> None:
    x.no_such_method()  # type: ignore[attr-defined]
    x.softmax(axi=1)  # type: ignore[call-overload]
    ops.Softmax(dim=1)  # type: ignore[call-arg]
    Net()(x, scal=1.0)  # type: ignore[call-arg]
    nn.Dense(1, 2)()  # type: ignore[call-arg]
