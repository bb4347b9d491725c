"""Networks for tables of categories and for graphs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.common.initializer import initializer
from networks.steps import filled, integers, program, state, trained, wave


def mlp(sizes: list[int], activation: str = "relu") -> nn.SequentialCell:
    layers: list[nn.Cell] = []
    for i, (inp, out) in enumerate(pairwise(sizes)):
        layers.append(nn.Dense(inp, out, activation=activation if i < len(sizes) - 2 else None))
    return nn.SequentialCell(layers)


@program
def deepfm() -> dict[str, Any]:
    class DeepFM(nn.Cell):
        def __init__(self, vocab: int = 40, dim: int = 5, fields: int = 4) -> None:
            super().__init__()
            self.w = Parameter(initializer("normal", (vocab, 1)), name="fm_w")
            self.v = Parameter(initializer("normal", (vocab, dim)), name="fm_v")
            self.gather = ops.Gather()
            self.reduce_sum = ops.ReduceSum(keep_dims=False)
            self.deep = mlp([fields * dim, 12, 8, 1])
            self.l2_loss = ops.L2Loss()

        def construct(self, ids: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
            values = ops.ExpandDims()(values, 2)
            linear = self.reduce_sum(self.gather(self.w, ids, 0) * values, 1)
            e = self.gather(self.v, ids, 0) * values
            second = 0.5 * self.reduce_sum(ops.square(self.reduce_sum(e, 1)) - self.reduce_sum(ops.square(e), 1), 1)
            deep = self.deep(ops.Reshape()(e, (e.shape[0], -1)))
            return linear + second.expand_dims(1) + deep, self.l2_loss(self.v) + self.l2_loss(self.w)

    net = filled(DeepFM())
    net.set_train()

    def forward(ids: Tensor, values: Tensor, label: Tensor) -> Any:
        logits, l2 = net(ids, values)
        log_loss = ops.SigmoidCrossEntropyWithLogits()(logits, label)
        return (ops.ReduceMean()(log_loss) + 1e-2 * l2) * 1024.0, logits

    ids, label = integers(6, 4, below=40), integers(6, 1, below=2, dtype=np.float32)
    optimizer = nn.Adam(net.trainable_params(), 1e-2, eps=1e-3, loss_scale=1024.0)
    return trained(net, forward, optimizer, ids, wave(6, 4), label)


@program
def wide_and_deep() -> dict[str, Any]:
    class WideAndDeep(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.wide_w = Parameter(initializer("zeros", (30, 1)), name="wide.w")
            self.wide_b = Parameter(Tensor([0.1], ms.float32), name="wide.b")
            self.deep_embedding = nn.Embedding(30, 4, embedding_table="normal")
            self.deep = mlp([12, 10, 6, 1])

        def construct(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
            mask = ops.expand_dims(mask, -1)
            wide = (ops.gather(self.wide_w, ids, 0) * mask).sum(1) + self.wide_b
            deep = self.deep((self.deep_embedding(ids) * mask).reshape(ids.shape[0], -1))
            return wide, deep

    net = filled(WideAndDeep())
    net.set_train()
    wide = ParameterTuple([p for p in net.trainable_params() if p.name.startswith("wide")])
    deep = ParameterTuple([p for p in net.trainable_params() if not p.name.startswith("wide")])
    optimizer_w = nn.FTRL(wide, learning_rate=5e-2, l1=0.0, l2=1e-3, initial_accum=1.0)
    optimizer_d = nn.LazyAdam(deep, learning_rate=3.5e-3, eps=1e-3)

    def forward(ids: Tensor, mask: Tensor, label: Tensor) -> Any:
        w, d = net(ids, mask)
        return nn.BCEWithLogitsLoss()(w + d, label), w, d

    mask, label = integers(5, 3, below=2, dtype=np.float32), integers(5, 1, below=2, dtype=np.float32)
    step = ops.value_and_grad(forward, grad_position=None, weights=(*wide, *deep), has_aux=True)
    (loss, w, d), gradients = step(integers(5, 3, below=30), mask, label)
    results = {"loss": loss, "output wide": w, "output deep": d}
    results |= {f"gradient {p.name}": g for p, g in zip((*wide, *deep), gradients, strict=True)}
    optimizer_w(gradients[: len(wide)])
    optimizer_d(gradients[len(wide) :])
    return results | state(net)


@program
def deep_interest_network() -> dict[str, Any]:
    """Attend with a candidate to a history, with Dice's BatchNorm over the last axis."""

    class Dice(nn.Cell):
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.bn = nn.BatchNorm1d(dim, affine=False)
            self.alpha = Parameter(Tensor(np.zeros((1, dim)), ms.float32))

        def construct(self, x: Tensor) -> Tensor:
            p = ops.sigmoid(self.bn(x))
            return p * x + (1 - p) * self.alpha * x

    class DIN(nn.Cell):
        def __init__(self, items: int = 25, dim: int = 4) -> None:
            super().__init__()
            self.item = nn.Embedding(items, dim, padding_idx=0)
            self.attention = nn.SequentialCell(nn.Dense(dim * 4, 6), nn.LogSigmoid(), nn.Dense(6, 1))
            self.fc1, self.dice, self.fc2 = nn.Dense(dim * 3, 6), Dice(6), nn.Dense(6, 1)

        def construct(self, history: Tensor, lengths: Tensor, candidate: Tensor) -> tuple[Tensor, Tensor]:
            keys, query = self.item(history), self.item(candidate)
            t = keys.shape[1]
            queries = ops.tile(query.expand_dims(1), (1, t, 1))
            scores = self.attention(ops.concat([queries, keys, queries - keys, queries * keys], -1)).squeeze(-1)
            mask = ops.arange(t).view(1, -1) < lengths.view(-1, 1)
            scores = ops.where(mask, scores, ops.fill(scores.dtype, scores.shape, -(2.0**31)))
            weights = nn.Softmax()(scores / keys.shape[-1] ** 0.5)
            interest = ops.matmul(weights.unsqueeze(1), keys).squeeze(1)
            x = ops.concat((interest, query, interest * query), 1)
            return self.fc2(self.dice(self.fc1(x))).view(-1), weights

    net = filled(DIN())
    net.set_train()

    def forward(*x: Tensor) -> Any:
        logits, weights = net(*x[:-1])
        return ops.binary_cross_entropy(ops.sigmoid(logits), x[-1], ops.ones_like(logits)), logits, weights

    optimizer = nn.ProximalAdagrad(net.trainable_params(), learning_rate=0.05, l1=1e-3, l2=1e-3)
    history, candidate = integers(5, 6, below=25), integers(5, below=25)
    label = integers(5, below=2, dtype=np.float32)
    return trained(net, forward, optimizer, history, Tensor([6, 2, 4, 1, 3]), candidate, label)


@program
def matrix_factorization() -> dict[str, Any]:
    """Train neural collaborative filtering by pairs, with cosine embeddings."""

    class NCF(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.users, self.items = nn.Embedding(10, 6), nn.Embedding(12, 6)
            self.bias = nn.Embedding(12, 1, embedding_table="zeros")
            self.mlp = mlp([12, 8, 4], "sigmoid")
            self.predict = nn.Dense(10, 1, has_bias=False)
            self.global_bias = Parameter(Tensor(0.5, ms.float32), name="global_bias")

        def construct(self, user: Tensor, item: Tensor) -> Tensor:
            u, i = self.users(user), self.items(item)
            both = ops.concat((u * i, self.mlp(ops.concat((u, i), axis=-1))), -1)
            return (self.predict(both) + self.bias(item)).squeeze(-1) + self.global_bias

    net = filled(NCF())

    def forward(user: Tensor, better: Tensor, worse: Tensor) -> Any:
        a, b = net(user, better), net(user, worse)
        bpr = -ops.log(ops.sigmoid(a - b) + 1e-8).mean()
        near = nn.CosineEmbeddingLoss(margin=0.2)(net.users(user), net.items(better), ops.ones(user.shape, ms.int32))
        ranking = nn.MarginRankingLoss(margin=0.3, reduction="sum")(a, b, ops.ones_like(a))
        return bpr + near + 0.1 * ranking, a, b

    users, better, worse = integers(6, below=10), integers(6, below=12, k=2), integers(6, below=12, k=5)
    return trained(net, forward, nn.SGD(net.trainable_params(), 0.5, weight_decay=0.01), users, better, worse)


# ---- Graphs


def adjacency(n: int = 9) -> np.ndarray:
    i = np.arange(n)
    a = ((i[:, None] * 3 + i[None] * 5) % 4 == 0) | ((i[:, None] + 1) % n == i[None])
    return (a | a.T | np.eye(n, dtype=bool)).astype(np.float32)


@program
def gcn() -> dict[str, Any]:
    class GraphConvolution(nn.Cell):
        def __init__(self, inp: int, out: int, activation: Any = None) -> None:
            super().__init__()
            self.fc = nn.Dense(inp, out, weight_init="XavierUniform", has_bias=False, activation=activation)
            self.bias = Parameter(initializer("zeros", [out]), name="bias")
            self.matmul = ops.MatMul()

        def construct(self, adj: Tensor, x: Tensor) -> Tensor:
            return self.matmul(adj, self.fc(x)) + self.bias

    class GCN(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layer0 = GraphConvolution(5, 8, nn.ReLU())
            self.layer1 = GraphConvolution(8, 3)

        def construct(self, adj: Tensor, x: Tensor) -> Tensor:
            return self.layer1(adj, self.layer0(adj, x))

    a = adjacency()
    d = 1 / np.sqrt(a.sum(1))
    net = filled(GCN())
    net.set_train()
    train = Tensor(np.arange(9) % 3 != 0)

    def forward(adj: Tensor, x: Tensor, label: Tensor) -> Any:
        logits = net(adj, x)
        loss = ops.SoftmaxCrossEntropyWithLogits()(logits, ops.OneHot()(label, 3, Tensor(1.0), Tensor(0.0)))[0]
        weight = train.astype(ms.float32)
        loss = (loss * (weight / weight.mean())).mean()
        decay = sum((ops.reduce_sum(p**2) for p in net.layer0.trainable_params()), 0.0)
        return loss + 5e-3 * 0.5 * decay, logits

    optimizer = nn.Adam(net.trainable_params(), nn.inverse_decay_lr(0.01, 0.5, 6, 2, 1), eps=1e-3)
    return trained(net, forward, optimizer, Tensor(a * d[:, None] * d), wave(9, 5), integers(9, below=3))


@program
def gat() -> dict[str, Any]:
    class AttentionHead(nn.Cell):
        def __init__(self, inp: int, out: int, residual: bool = False) -> None:
            super().__init__()
            self.feature = nn.Dense(inp, out, has_bias=False)
            self.f_1 = nn.Dense(out, 1)
            self.f_2 = nn.Dense(out, 1, has_bias=False)
            self.leaky = nn.LeakyReLU(alpha=0.2)
            self.bias = Parameter(initializer("zeros", out), name="bias")
            self.residual = nn.Dense(inp, out) if residual else None

        def construct(self, x: Tensor, bias_mat: Tensor) -> Tensor:
            h = self.feature(x)
            logits = self.f_1(h) + ops.Transpose()(self.f_2(h), (1, 0))
            coefficients = ops.Softmax()(bias_mat + self.leaky(logits))
            out = ops.MatMul()(coefficients, h)
            out = ops.BiasAdd()(out, self.bias)
            return out if self.residual is None else out + self.residual(x)

    class GAT(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.heads = nn.CellList([AttentionHead(5, 4), AttentionHead(5, 4, residual=True)])
            self.out = AttentionHead(8, 3)

        def construct(self, x: Tensor, bias_mat: Tensor) -> Tensor:
            return self.out(nn.ELU()(ops.Concat(-1)([head(x, bias_mat) for head in self.heads])), bias_mat)

    net = filled(GAT())

    def forward(x: Tensor, bias_mat: Tensor, label: Tensor) -> Any:
        logits = net(x, bias_mat)
        return ops.nll_loss(ops.LogSoftmax()(logits), label, weight=Tensor([1.0, 0.5, 2.0])), logits

    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, weight_decay=1e-3)
    return trained(net, forward, optimizer, wave(9, 5), Tensor((adjacency() - 1) * 1e9), integers(9, below=3))


@program
def message_passing() -> dict[str, Any]:
    """Compute sums, largest and mean of the messages along edges of several graphs, and each graph's readout."""

    class Layer(nn.Cell):
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.message = nn.Dense(2 * dim + 2, dim, activation="relu")
            self.update = nn.GRUCell(3 * dim, dim)
            self.norm = nn.LayerNorm((dim,))

        def construct(self, x: Tensor, edges: Tensor, of_edges: Tensor) -> Tensor:
            source, target = edges[0], edges[1]
            n = x.shape[0]
            m = self.message(ops.concat((x[source], x[target], of_edges), 1))
            total = ops.unsorted_segment_sum(m, target, n)
            count = ops.unsorted_segment_sum(ops.ones((m.shape[0], 1), ms.float32), target, n)
            most = ops.unsorted_segment_max(m, target, n)
            most = ops.where(count > 0, most, ops.zeros_like(most))
            return self.norm(self.update(0.2 * ops.concat((total, most, total / ops.maximum(count, 1.0)), 1), x))

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(5, 4)
            self.layers = nn.CellList([Layer(4), Layer(4)])
            self.readout = nn.Dense(4, 1)

        def construct(self, kinds: Tensor, edges: Tensor, of_edges: Tensor, graph: Tensor) -> Tensor:
            x = self.embed(kinds)
            for layer in self.layers:
                x = layer(x, edges, of_edges)
            sums = ops.TensorScatterAdd()(ops.zeros((2, 4), ms.float32), graph.expand_dims(1), x)
            return self.readout(sums).squeeze(1)

    net = filled(Net())
    edges = np.stack([np.arange(14) * 5 % 8, np.arange(14) * 3 % 7]).astype(np.int32)

    def forward(*x: Tensor) -> Any:
        y = net(*x[:-1])
        return ops.huber_loss(y, x[-1], delta=0.5), y

    return trained(
        net,
        forward,
        nn.RMSProp(net.trainable_params(), 1e-2, 0.9),
        integers(8, below=5),
        Tensor(edges),
        wave(14, 2),
        Tensor([0, 0, 0, 1, 1, 1, 1, 0], ms.int32),
        Tensor([1.0, -1.0], ms.float32),
    )
