"""Networks for text and sequences, as MindNLP and the model zoo write them."""

from __future__ import annotations

import math
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, mint, nn, ops
from mindspore.common.initializer import Normal, One, Zero, initializer
from mindspore.ops import composite as C  # noqa: N812
from mindspore.ops import functional as F  # noqa: N812
from mindspore.ops import operations as P  # noqa: N812
from networks.steps import filled, integers, program, state, trained, wave

# ---- BERT


class BertEmbeddings(nn.Cell):
    def __init__(self, vocab: int, hidden: int, positions: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, hidden, padding_idx=0, embedding_table=Normal(0.02))
        self.position_embeddings = nn.Embedding(positions, hidden, embedding_table="normal")
        self.token_type_embeddings = nn.Embedding(2, hidden)
        self.layer_norm = nn.LayerNorm((hidden,), epsilon=1e-12)
        self.dropout = nn.Dropout(p=0.0)

    def construct(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        seq_len = input_ids.shape[1]
        position_ids = ops.arange(seq_len).expand_dims(0).expand_as(input_ids)
        words = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
        return self.dropout(self.layer_norm(words + self.token_type_embeddings(token_type_ids)))


class BertLayer(nn.Cell):
    def __init__(self, hidden: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads, self.head_dim = heads, hidden // heads
        self.query, self.key, self.value = nn.Dense(hidden, hidden), nn.Dense(hidden, hidden), nn.Dense(hidden, hidden)
        self.attention_output = nn.Dense(hidden, hidden)
        self.attention_norm = nn.LayerNorm((hidden,), epsilon=1e-12)
        self.intermediate = nn.Dense(hidden, inner, activation=nn.GELU(approximate=False))
        self.output = nn.Dense(inner, hidden)
        self.output_norm = nn.LayerNorm((hidden,), epsilon=1e-12)

    def transpose_for_scores(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, self.head_dim).transpose(0, 2, 1, 3)

    def construct(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (self.transpose_for_scores(layer(x)) for layer in (self.query, self.key, self.value))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / ops.sqrt(Tensor(self.head_dim, ms.float32)) + mask
        probs = ops.softmax(scores, axis=-1)
        context_layer = ops.matmul(probs, v).transpose(0, 2, 1, 3)
        context_layer = context_layer.view(*context_layer.shape[:-2], -1)
        x = self.attention_norm(self.attention_output(context_layer) + x)
        return self.output_norm(self.output(self.intermediate(x)) + x), probs


class BertForMaskedLM(nn.Cell):
    def __init__(self, vocab: int = 30, hidden: int = 16, layers: int = 1) -> None:
        super().__init__()
        self.embeddings = BertEmbeddings(vocab, hidden, 12)
        self.layer = nn.CellList([BertLayer(hidden, 2, 24) for _ in range(layers)])
        self.pooler = nn.Dense(hidden, hidden, activation="tanh")
        self.seq_relationship = nn.Dense(hidden, 2)
        self.transform = nn.SequentialCell(nn.Dense(hidden, hidden), nn.GELU(), nn.LayerNorm((hidden,)))
        self.decoder = nn.Dense(hidden, vocab, has_bias=False)
        self.decoder.weight = self.embeddings.word_embeddings.embedding_table  # tied
        self.bias = Parameter(initializer("zeros", (vocab,)), "bias")

    def construct(self, input_ids: Tensor, mask: Tensor, token_type_ids: Tensor) -> Any:
        x = self.embeddings(input_ids, token_type_ids)
        extended = (1.0 - mask[:, None, None, :].astype(ms.float32)) * -10000.0
        for layer in self.layer:
            x, probs = layer(x, extended)
        scores = self.decoder(self.transform(x)) + self.bias
        return scores, self.seq_relationship(self.pooler(x[:, 0])), probs


@program
def bert_for_masked_lm() -> dict[str, Any]:
    net = filled(BertForMaskedLM())
    net.set_train()
    ids = integers(2, 8, below=30)
    mask = Tensor(np.array([[1] * 8, [1] * 5 + [0] * 3]))
    labels = integers(2, 8, below=30, k=3).asnumpy()
    labels[:, ::3] = -100

    def forward(ids: Tensor, mask: Tensor, types: Tensor, labels: Tensor, following: Tensor) -> Any:
        scores, relation, probs = net(ids, mask, types)
        mlm = ops.cross_entropy(scores.view(-1, 30), labels.view(-1), ignore_index=-100)
        return mlm + ops.cross_entropy(relation, following), scores, relation, probs

    groups = [
        {"params": [p for p in net.trainable_params() if "norm" not in p.name], "weight_decay": 0.01},
        {"params": [p for p in net.trainable_params() if "norm" in p.name]},
    ]
    optimizer = nn.AdamWeightDecay(groups, nn.WarmUpLR(1e-2, 2), eps=1e-3)
    types, following = integers(2, 8, below=2), Tensor([0, 1], ms.int32)
    return trained(net, forward, optimizer, ids, mask, types, Tensor(labels), following)


# ---- GPT


class CausalSelfAttention(nn.Cell):
    def __init__(self, dim: int, heads: int, length: int) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Dense(dim, 3 * dim)
        self.c_proj = nn.Dense(dim, dim)
        self.bias = Tensor(np.tril(np.ones((1, 1, length, length))), ms.bool_)

    def construct(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = self.c_attn(x).split(c, axis=2)
        k = k.view(b, t, self.heads, -1).transpose(0, 2, 1, 3)
        q = q.view(b, t, self.heads, -1).transpose(0, 2, 1, 3)
        v = v.view(b, t, self.heads, -1).transpose(0, 2, 1, 3)
        att = ops.bmm(q, k.transpose(0, 1, 3, 2)) * (1.0 / math.sqrt(k.shape[-1]))
        att = ops.masked_fill(att, ops.logical_not(self.bias[:, :, :t, :t]), Tensor(float("-inf"), att.dtype))
        att = ops.softmax(att, -1)
        return self.c_proj((att @ v).transpose(0, 2, 1, 3).reshape(b, t, c))


class GPT(nn.Cell):
    def __init__(self, vocab: int = 24, dim: int = 12, length: int = 8) -> None:
        super().__init__()
        self.wte = Parameter(initializer(Normal(0.02), [vocab, dim]), name="wte")
        self.wpe = Parameter(initializer(Normal(0.02), [length, dim]), name="wpe")
        self.h = nn.CellList()
        for _ in range(2):
            self.h.append(
                nn.CellList(
                    [
                        nn.LayerNorm((dim,), epsilon=1e-5),
                        CausalSelfAttention(dim, 3, length),
                        nn.LayerNorm((dim,), epsilon=1e-5),
                        nn.SequentialCell([nn.Dense(dim, 2 * dim), nn.GELU(approximate=True), nn.Dense(2 * dim, dim)]),
                    ]
                )
            )
        self.ln_f = nn.LayerNorm((dim,))

    def construct(self, ids: Tensor) -> Tensor:
        t = ids.shape[1]
        x = ops.gather(self.wte, ids, 0) + self.wpe[:t].expand_dims(0)
        for ln_1, attn, ln_2, mlp in self.h:
            x = x + attn(ln_1(x))
            x = x + mlp(ln_2(x))
        return ops.matmul(self.ln_f(x), self.wte.T)


@program
def gpt() -> dict[str, Any]:
    net = filled(GPT())
    net.set_train()
    weights = ParameterTuple(net.trainable_params())
    optimizer = nn.Adam(weights, learning_rate=1e-2, beta2=0.95, eps=1e-3)
    ids = integers(2, 9, below=24)

    def forward(ids: Tensor) -> tuple[Tensor, Tensor]:
        logits = net(ids[:, :-1])
        log_probs = ops.log_softmax(logits, axis=-1)
        picked = ops.gather_elements(log_probs, 2, ids[:, 1:].expand_dims(-1).astype(ms.int64))
        return -picked.mean(), logits

    step = ops.value_and_grad(forward, None, weights, has_aux=True)
    (loss, logits), gradients = step(ids)
    clipped = ops.clip_by_global_norm(gradients, 0.5)
    optimizer(clipped)
    results = {"loss": loss, "output 0": logits}
    results |= {f"gradient {p.name}": g for p, g in zip(weights, gradients, strict=True)}
    results |= {f"clipped {p.name}": g for p, g in zip(weights, clipped, strict=True)}
    return results | state(net)


# ---- LLaMA, in mint


class RMSNorm(nn.Cell):
    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = Parameter(mint.ones(dim))
        self.variance_epsilon = eps

    def construct(self, hidden_states: Tensor) -> Tensor:
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(ms.float32)
        variance = mint.mean(mint.square(hidden_states), dim=-1, keepdim=True)
        hidden_states = mint.mul(hidden_states, mint.rsqrt(variance + self.variance_epsilon))
        return mint.mul(self.weight, hidden_states.to(input_dtype))


def rotate_half(x: Tensor) -> Tensor:
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return mint.cat((mint.neg(x2), x1), dim=-1)


class LlamaAttention(nn.Cell):
    """Two heads of queries for each head of keys and values."""

    def __init__(self, dim: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.q_proj = mint.nn.Linear(dim, heads * self.head_dim, bias=False)
        self.k_proj = mint.nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.v_proj = mint.nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.o_proj = mint.nn.Linear(heads * self.head_dim, dim, bias=False)

    def construct(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        b, t, _ = x.shape
        q = mint.transpose(self.q_proj(x).view(b, t, self.heads, self.head_dim), 1, 2)
        k = self.k_proj(x).view(b, t, self.kv_heads, self.head_dim).transpose(0, 2, 1, 3)
        v = self.v_proj(x).reshape(b, t, self.kv_heads, self.head_dim).transpose(0, 2, 1, 3)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k = ops.repeat_interleave(k, self.heads // self.kv_heads, 1)
        v = v.repeat_interleave(self.heads // self.kv_heads, 1)
        weights = mint.matmul(q, mint.transpose(k, 2, 3)) / math.sqrt(self.head_dim)
        causal = mint.triu(ops.full((t, t), -3e38, dtype=ms.float32), diagonal=1)
        weights = mint.nn.functional.softmax(weights + causal, dim=-1, dtype=ms.float32)
        out = mint.matmul(weights, v).transpose(0, 2, 1, 3).reshape(b, t, -1)
        return self.o_proj(out)


class LlamaLayer(nn.Cell):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(dim)
        self.self_attn = LlamaAttention(dim, 4, 2)
        self.post_attention_layernorm = RMSNorm(dim)
        self.gate_proj = mint.nn.Linear(dim, 16, bias=False)
        self.up_proj = mint.nn.Linear(dim, 16, bias=False)
        self.down_proj = mint.nn.Linear(16, dim, bias=False)

    def construct(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        h = self.post_attention_layernorm(x)
        return x + self.down_proj(mint.nn.functional.silu(self.gate_proj(h)) * self.up_proj(h))


class Llama(nn.Cell):
    def __init__(self, vocab: int = 20, dim: int = 16) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.CellList([LlamaLayer(dim)])
        self.norm = RMSNorm(dim)
        self.lm_head = mint.nn.Linear(dim, vocab, bias=False)
        inv_freq = 1.0 / (10000 ** (ops.arange(0, 4, 2).float() / 4))
        freqs = ops.arange(8).float()[:, None] * inv_freq[None, :]
        emb = mint.cat((freqs, freqs), dim=-1)
        self.cos, self.sin = emb.cos(), mint.sin(emb)

    def construct(self, ids: Tensor) -> Tensor:
        x = self.embed_tokens(ids)
        t = ids.shape[1]
        for layer in self.layers:
            x = layer(x, self.cos[:t], self.sin[:t])
        return self.lm_head(self.norm(x))


@program
def llama() -> dict[str, Any]:
    net = filled(Llama())
    net.set_train()
    loss_fn = nn.CrossEntropyLoss(ignore_index=3)

    def forward(ids: Tensor) -> Any:
        logits = net(ids[:, :-1])
        return loss_fn(logits.view(-1, 20), mint.flatten(ids[:, 1:]).astype(ms.int32)), logits

    optimizer = ms.experimental.optim.AdamW(net.trainable_params(), lr=1e-2, eps=1e-3, weight_decay=0.1)
    return trained(net, forward, optimizer, integers(2, 8, below=20, dtype=np.int64))


# ---- Encoders and decoders


class RelativeBias(nn.Cell):
    """T5's: one number a head for each bucket of distances."""

    def __init__(self, buckets: int, max_distance: int, heads: int, bidirectional: bool) -> None:
        super().__init__()
        self.buckets, self.max_distance, self.bidirectional = buckets, max_distance, bidirectional
        self.relative_attention_bias = nn.Embedding(buckets, heads)

    def bucket(self, relative: Tensor) -> Tensor:
        buckets, result = self.buckets, 0
        if self.bidirectional:
            buckets //= 2
            result = result + (relative > 0).astype(ms.int32) * buckets
            relative = ops.abs(relative)
        else:
            relative = -ops.minimum(relative, ops.zeros_like(relative))
        exact = buckets // 2
        far = ops.log(relative.astype(ms.float32) / exact + 1e-6) / math.log(self.max_distance / exact)
        far = exact + (far * (buckets - exact)).astype(ms.int32)
        far = ops.minimum(far, ops.full_like(far, buckets - 1))
        return result + ops.where(relative < exact, relative, far)

    def construct(self, queries: int, keys: int) -> Tensor:
        relative = ops.arange(keys)[None, :] - ops.arange(queries)[:, None]
        values = self.relative_attention_bias(self.bucket(relative.astype(ms.int32)))
        return values.transpose(2, 0, 1).unsqueeze(0)


class T5Attention(nn.Cell):
    def __init__(self, dim: int, heads: int, relative: Any = None) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Dense(dim, dim, has_bias=False) for _ in range(4))
        self.relative = relative

    def construct(self, x: Tensor, memory: Any = None, mask: Any = None) -> Tensor:
        memory = x if memory is None else memory
        b, n, c = x.shape
        q, k, v = (
            F.transpose(F.reshape(y, (b, -1, self.heads, c // self.heads)), (0, 2, 1, 3))
            for y in (self.q(x), self.k(memory), self.v(memory))
        )
        scores = P.BatchMatMul(transpose_b=True)(q, k)
        if self.relative is not None:
            scores += self.relative(n, memory.shape[1])
        if mask is not None:
            scores = ops.select(mask, scores, ops.ones_like(scores) * -1e9)
        out = ops.bmm(P.Softmax(-1)(scores), v)
        return self.o(out.permute(0, 2, 1, 3).reshape(b, n, c))


class T5(nn.Cell):
    def __init__(self, vocab: int = 16, dim: int = 12) -> None:
        super().__init__()
        self.shared = nn.Embedding(vocab, dim, embedding_table=Normal(0.05))
        self.encoder_attention = T5Attention(dim, 2, RelativeBias(8, 16, 2, True))
        self.decoder_attention = T5Attention(dim, 2, RelativeBias(6, 16, 2, False))
        self.cross_attention = T5Attention(dim, 2)
        self.wi = nn.Dense(dim, 2 * dim, has_bias=False, activation="relu")
        self.wo = nn.Dense(2 * dim, dim, has_bias=False)
        self.scales = ParameterTuple([Parameter(Tensor(np.ones(dim), ms.float32), name=f"scale_{i}") for i in range(3)])

    def normalized(self, x: Tensor, i: int) -> Tensor:
        return x * ops.rsqrt(ops.square(x).mean(-1, keep_dims=True) + 1e-6) * self.scales[i]

    def construct(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.shared(source)
        memory = memory + self.encoder_attention(self.normalized(memory, 0))
        x = self.shared(target)
        n = target.shape[1]
        mask = ops.ones((n, n), ms.float32).tril().bool()
        x = x + self.decoder_attention(self.normalized(x, 1), mask=ops.broadcast_to(mask, (x.shape[0], 2, n, n)))
        x = x + self.cross_attention(x, memory)
        x = x + self.wo(self.wi(self.normalized(x, 2)))
        return ops.matmul(x * (x.shape[-1] ** -0.5), self.shared.embedding_table.swapaxes(0, 1))


@program
def t5() -> dict[str, Any]:
    net = filled(T5())
    net.set_train()
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="none")

    def forward(source: Tensor, target: Tensor) -> Any:
        start = ops.zeros((target.shape[0], 1), target.dtype)
        logits = net(source, ops.concat((start, target[:, :-1]), 1))
        weights = (target != 0).astype(ms.float32).reshape(-1)
        loss = loss_fn(logits.reshape((-1, 16)), target.reshape((-1,)))
        return (loss * weights).sum() / weights.sum(), logits

    optimizer = nn.Adagrad(net.trainable_params(), accum=0.1, learning_rate=0.02)
    return trained(net, forward, optimizer, integers(2, 7, below=16), integers(2, 5, below=16, k=7))


@program
def transformer_of_layers() -> dict[str, Any]:
    """Train nn.Transformer itself, with masks for the future and for padding."""

    class Translator(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.source = nn.Embedding(14, 8)
            self.target = nn.Embedding(14, 8)
            position = np.arange(8)[:, None] / 10000 ** (np.arange(0, 8, 2)[None] / 8)
            table = np.stack((np.sin(position), np.cos(position)), -1).reshape(8, 8)
            self.positions = Parameter(Tensor(table, ms.float32), name="positions", requires_grad=False)
            self.transformer = nn.Transformer(
                d_model=8,
                nhead=2,
                num_encoder_layers=1,
                num_decoder_layers=1,
                dim_feedforward=12,
                dropout=0.0,
                activation="gelu",
                batch_first=True,
            )
            self.generator = nn.Dense(8, 14)

        def construct(self, source: Tensor, target: Tensor) -> Tensor:
            x = self.source(source) + self.positions[: source.shape[1]]
            y = self.target(target) + self.positions[: target.shape[1]]
            future = ops.triu(ops.ones((target.shape[1], target.shape[1]), ms.bool_), 1)
            padding = ops.equal(source, 0)
            return self.generator(
                self.transformer(x, y, tgt_mask=future, src_key_padding_mask=padding, memory_key_padding_mask=padding)
            )

    net = filled(Translator())
    net.set_train()
    source = integers(2, 6, below=13).asnumpy() + 1
    source[1, 4:] = 0

    def forward(source: Tensor, target: Tensor) -> Any:
        logits = net(source, target)
        return nn.NLLLoss()(ops.log_softmax(logits.reshape(-1, 14), 1), target.reshape(-1)), logits

    optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9, dampening=0.0)
    return trained(net, forward, optimizer, Tensor(source), integers(2, 5, below=14, k=4))


# ---- Recurrent networks


@program
def crnn_with_ctc() -> dict[str, Any]:
    class CRNN(nn.Cell):
        def __init__(self, classes: int = 6) -> None:
            super().__init__()
            self.conv = nn.SequentialCell(
                nn.Conv2d(1, 4, 3, pad_mode="same", weight_init="HeNormal"),
                nn.BatchNorm2d(4),
                nn.ReLU(),
                nn.MaxPool2d((2, 2), (2, 2)),
                nn.Conv2d(4, 8, (4, 2), pad_mode="valid"),
                nn.BatchNorm2d(8),
                nn.ReLU(),
            )
            self.rnn1 = nn.LSTM(8, 5, bidirectional=True)
            self.embedding1 = nn.Dense(10, 6)
            self.rnn2 = nn.LSTM(6, 5, bidirectional=True)
            self.embedding2 = nn.Dense(10, classes)

        def construct(self, x: Tensor) -> Tensor:
            x = self.conv(x)
            x = ops.transpose(x.squeeze(axis=2), (2, 0, 1))
            x, _ = self.rnn1(x)
            t, b, h = x.shape
            x = self.embedding1(x.view(t * b, h)).view(t, b, -1)
            x, _ = self.rnn2(x)
            return self.embedding2(x)

    net = filled(CRNN())
    net.set_train()
    labels = Tensor(np.array([[1, 2, 2], [3, 5, 1]], np.int32))

    def forward(x: Tensor) -> Any:
        logits = net(x)
        t, b, _ = logits.shape
        lengths = Tensor(np.full(b, t), ms.int32)
        loss = ops.ctc_loss(
            ops.log_softmax(logits, axis=2), labels, lengths, Tensor([3, 2], ms.int32), blank=0, reduction="mean"
        )
        return (loss[0] if isinstance(loss, tuple) else loss), logits

    optimizer = nn.Adadelta(net.trainable_params(), 1.0, epsilon=1e-3)
    return trained(net, forward, optimizer, wave(2, 1, 8, 24))


clip_grad = C.MultitypeFuncGraph("clip_grad")


@clip_grad.register("Number", "Number", "Tensor")
def _clip_grad(clip_type: int, clip_value: float, grad: Tensor) -> Tensor:
    if clip_type not in (0, 1):
        return grad
    dt = F.dtype(grad)
    if clip_type == 0:
        return ops.clip_by_value(
            grad, F.cast(F.tuple_to_array((-clip_value,)), dt), F.cast(F.tuple_to_array((clip_value,)), dt)
        )
    return nn.ClipByNorm()(grad, F.cast(F.tuple_to_array((clip_value,)), dt))


class ClippedTrainOneStepCell(nn.TrainOneStepCell):
    """A training step written as the model zoo writes it."""

    def __init__(self, network: nn.Cell, optimizer: nn.Optimizer, sens: float = 1.0) -> None:
        super().__init__(network, optimizer, sens)
        self.cast = P.Cast()
        self.hyper_map = C.HyperMap()
        self.gradients: Any = ()

    def construct(self, tokens: Tensor, labels: Tensor) -> Tensor:
        weights = self.weights
        loss = self.network(tokens, labels)
        sens = P.Fill()(P.DType()(loss), P.Shape()(loss), self.sens)
        grads = self.grad(self.network, weights)(tokens, labels, sens)
        grads = self.hyper_map(F.partial(clip_grad, 0, 0.05), grads)
        if self.reducer_flag:
            grads = self.grad_reducer(grads)
        self.gradients = grads
        return F.depend(loss, self.optimizer(grads))


class TextClassifier(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 6, use_one_hot=False)
        self.rnn = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 4, batch_first=True)
        self.cell = nn.RNNCell(4, 3, nonlinearity="relu")
        self.fc = nn.Dense(13, 2, weight_init=One(), bias_init=Zero())
        self.concat = P.Concat(1)

    def construct(self, tokens: Tensor) -> Tensor:
        embedded = self.embedding(tokens)
        out, (hidden, _) = self.rnn(embedded)
        again, _ = self.gru(out)
        state = ops.zeros((tokens.shape[0], 3), ms.float32)
        for i in range(again.shape[1]):
            state = self.cell(again[:, i], state)
        return self.fc(self.concat((hidden[-2], hidden[-1], state)))


@program
def lstm_text_classifier() -> dict[str, Any]:
    net = filled(TextClassifier())
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = ClippedTrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer, sens=4.0)
    step.set_train()
    losses = [step(integers(3, 7, below=20, k=k), Tensor([0, 1, 1], ms.int32)) for k in (1, 2)]
    results = {"loss 0": losses[0], "loss 1": losses[1]}
    results |= {f"gradient {p.name}": g for p, g in zip(step.weights, step.gradients, strict=True)}
    return results | state(net) | {"names of the step": [p.name for p in step.get_parameters()]}


@program
def textcnn() -> dict[str, Any]:
    class TextCNN(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(20, 8)
            self.convs = nn.CellList([nn.Conv1d(8, 4, k, pad_mode="valid", has_bias=True) for k in (2, 3)])
            self.highway = nn.BiDense(8, 8, 6)
            self.fc = nn.Dense(6, 3, activation=nn.Sigmoid())

        def construct(self, tokens: Tensor) -> Tensor:
            x = self.embedding(tokens).swapaxes(1, 2)
            pooled = [ops.relu(conv(x)).max(axis=-1) for conv in self.convs]
            x = ops.concat(pooled, axis=-1)
            return self.fc(ops.tanh(self.highway(x, x)))

    net = filled(TextCNN())
    net.set_train()
    targets = integers(4, 3, below=2, dtype=np.float32)

    def forward(tokens: Tensor, targets: Tensor) -> Any:
        probs = net(tokens)
        return nn.BCELoss(weight=ops.ones_like(targets) + targets, reduction="mean")(probs, targets), probs

    optimizer = nn.ASGD(net.trainable_params(), 0.1, lambd=1e-3)
    return trained(net, forward, optimizer, integers(4, 9, below=20), targets)
