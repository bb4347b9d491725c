"""Cells in containers that grow and shrink, with parameters, buffers, settings and hooks; a few steps of training.

Compared are names, shapes and settings of all parameters after each change, outputs, losses, gradients, states.
"""

from __future__ import annotations

import numpy as np

from tests.differential.cases import Case
from tests.differential.writing import HEAD, WRITES_DOWN, Writer

HELPERS = (
    WRITES_DOWN
    + """
def names(net):
    saw("names " + repr([(p.name, p.requires_grad, str(p.dtype), p.shape) for p in net.get_parameters()]))
    saw("cells " + repr([(name, type(cell).__name__, cell.training) for name, cell in net.cells_and_names()]))

def states(net):
    for key, value in net.state_dict().items():
        saw("state " + key, value)

def filled(net):
    for place, p in enumerate(net.get_parameters()):
        values = [((7 * i + 3 * place) % 11 - 5) / 4 for i in range(p.size)]
        values = [abs(v) + 0.5 for v in values] if "variance" in p.name else values
        p.set_data(FILL(values).reshape(p.shape).astype(p.dtype))

def hook(name, how, place):
    def called(cell, *given):
        saw(name, *given)
        value = given[place]
        if how == "changed":
            return tuple(v * 1.5 for v in value) if isinstance(value, tuple) else value * 1.5
        if how == "removes" and HANDLES:
            HANDLES.pop().remove()
        if how == "adds":
            cell.register_forward_hook(lambda cell, inputs, output: saw("added " + name, output))
        return None
    return called

HANDLES = []

"""
)
# Cells from three numbers to three numbers.
LAYERS = {
    "nn.Dense(3, 3)": 8,
    "nn.Dense(3, 3, has_bias=False)": 4,
    "nn.ReLU()": 3,
    "nn.Tanh()": 1,
    "nn.Identity()": 1,
    "nn.LayerNorm((3,))": 2,
    "nn.Dropout(p=0.0)": 2,
    "nn.BatchNorm1d(3)": 2,
    "Scaled()": 6,
    "Buffered()": 4,
    "Two()": 4,
    "nn.SequentialCell(nn.Dense(3, 3), Scaled())": 3,
    "nn.SequentialCell(Scaled(), nn.ReLU())": 2,
    "nn.SequentialCell([Scaled(), Two()])": 2,
    "shared": 2,
    "Listed()": 3,
    "Keyed()": 3,
    "nn.SequentialCell(OrderedDict([('first', Scaled()), ('second', Buffered())]))": 2,
    "Own()": 2,
}
CLASSES = """\
    from collections import OrderedDict
    global FILL
    FILL = lambda values: Tensor(np.array(values, np.float32))
    HANDLES.clear()
    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.array([1.5, -0.5, 0.25], np.float32)), {named})
        def construct(self, x):
            return x * self.w
    class Buffered(nn.Cell):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", Tensor(np.array([0.5, 1.0, 2.0], np.float32)), {persistent})
            self.scale = Parameter(Tensor(np.array([2.0], np.float32)), name="scale", requires_grad={trained})
        def construct(self, x):
            if self.training:
                self.kept = self.kept * 0.5 + 1.0
            return x * self.scale + self.kept
    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first, self.second = Scaled(), nn.Dense(3, 3)
            {tied}
        def construct(self, x):
            return self.second(self.first(x)) + x
    class Own(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = nn.Dense(3, 3)
        def construct(self, x):
            return ops.sin(self.inner(x))
        def bprop(self, x, out, dout):
            saw('bprop', x, out, dout)
            return (dout * 2.0,)
    class Listed(nn.Cell):
        def __init__(self):
            super().__init__()
            self.parts = nn.CellList([Scaled(), nn.Dense(3, 3)])
            {more}
        def construct(self, x):
            for part in self.parts:
                x = part(x) + 1.0
            return x
    class Keyed(nn.Cell):
        def __init__(self):
            super().__init__()
            self.parts = nn.CellDict({{'one': Scaled(), 'two': Two()}})
            {update}
        def construct(self, x):
            for key in self.parts:
                x = self.parts[key](x)
            return x
    shared = Scaled()
"""
GROWN = (
    "net.append({a})",
    "net.append({a})",
    "del net[{i}]",
    "net[{i}] = {a}",
    "del net[-1]",
    "net[-1] = {a}",
    "net = net[{i}:]",
    "net = nn.SequentialCell(*net, {a})",
    "net.insert_child_to_cell('extra', {a})",
)
SET = (
    "net.set_train()",
    "net.set_train(False)",
    "net[0].set_train(False)",
    "net.update_parameters_name('all_')",
    "net.parameters_and_names()",
    "net.to_float(ms.float16)",
    "net[0].to_float(ms.float16)",
    "net[-1].requires_grad = False",
    "[p.__setattr__('requires_grad', False) for p in net[0].get_parameters()]",
    "net.set_grad()",
    "filled(net)",
    "net[0].add_flags(note=True)",
    "net.apply(lambda cell: cell.set_train())",
    "net.init_parameters_data()",
    "saw(repr([p.name for p in net.trainable_params()]))",
    "saw(repr([p.name for p in net.untrainable_params()]))",
    "saw(repr(sorted(net.parameters_dict())))",
    "saw(repr(list(net.name_cells())))",
    "saw(repr(len(net)))",
    "saw(repr([name for name, _ in net.named_buffers()]))",
    "saw(repr([name for name, _ in net.parameters_and_names()]))",
    "saw(repr([name for name, _ in net.parameters_and_names(expand=False)]))",
    "saw(repr(net.load_state_dict(net.state_dict())))",
    "saw(repr(ms.load_param_into_net(net, {{p.name: Parameter(p + 2.0, p.name) for p in net.get_parameters()}})))",
    "saw(repr(net.load_state_dict({{'nothing': x0}}, strict=False)))",
    "saw(net[0].cls_name, repr(net[-1].param_prefix))",
    "saw(repr(type(net.get_sub_cell('0')).__name__))",
    "net.register_buffer('outer', x0)",
    "saw(repr([type(cell).__name__ for cell in net.cells()]))",
    "saw(repr([type(cell).__name__ for _, cell in net.cells_and_names()]))",
    "print(net, file=TEXT)",
    "net.recompute()",
    "saw(repr([(p.name, p.layerwise_parallel, p.parallel_optimizer) for p in net.get_parameters()]))",
)
OPTIMIZERS = (
    "nn.SGD(ws, 0.125)",
    "nn.SGD(ws, 0.125, momentum=0.5)",
    "nn.Momentum(ws, 0.125, 0.5)",
    "nn.Adam(ws, 0.125)",
    "nn.SGD([{{'params': ws[:1], 'lr': 0.5}}, {{'params': ws[1:]}}], 0.125)",
    "nn.SGD(ws, 0.125, weight_decay=0.25)",
)


class _Writer(Writer):
    """Writer of a network, and of its use."""

    hooks = 0

    def write(self, line: str) -> None:
        self.lines.append(f"    {line}")

    def layer(self) -> str:
        return self.pick(LAYERS)

    def hook(self) -> None:
        kind = self.one(("forward_pre", "forward", "backward_pre", "backward"))
        target = self.one(("net", "net[0]", "net[-1]"))
        how = self.pick({"none": 6, "changed": 3, "removes": 1, "adds": 1})
        self.hooks += 1
        code = f"{target}.register_{kind}_hook(hook('{kind} {self.hooks}', {how!r}, {int(kind == 'forward')}))"
        self.write(f"HANDLES.append({code})" if self.chance(0.6) else code)

    def step(self) -> None:
        how = self.pick({"train": 4, "out": 4, "grad": 3, "names": 3, "states": 2})
        if how == "out":
            self.write("saw('out', net(x0))")
        elif how == "names":
            self.write("names(net)")
        elif how == "states":
            self.write("states(net)")
        elif how == "grad":
            self.write("saw('gradients', ms.grad(loss, 0)(x0))")
        else:
            self.write("ws = net.trainable_params()")
            self.write("if ws:")
            self.write(f"    opt = {self.one(OPTIMIZERS)}".replace("{{", "{").replace("}}", "}"))
            self.write(f"    for _ in range({int(self.rng.integers(1, 3))}):")
            self.write("        value, found = ms.value_and_grad(loss, None, ws)(x0)")
            self.write("        saw('loss', value, found)")
            self.write("        opt(found)")
            self.write("saw('weights', [p.value() + 0 for p in net.get_parameters()])")


def draw(rng: np.random.Generator, only: str) -> Case:
    """Draw a network in a container, and its use."""
    writer = _Writer(rng)
    name = writer.one(("'w'", "'weight'", "None", "'0.w'"))
    more = writer.one(
        (
            "pass",
            "self.parts.append(Two())",
            "self.parts.insert(0, Scaled())",
            "self.parts.extend([Scaled()])",
            "self.parts += [Scaled()]",
            "del self.parts[0]",
        )
    )
    update = writer.one(
        (
            "pass",
            "self.parts.update({'three': Scaled()})",
            "self.parts['two'] = Scaled()",
            "self.parts.pop('one')",
            "del self.parts['two']",
        )
    )
    tied = writer.one(("pass", "pass", "self.third = self.first", "self.first.w = self.second.bias"))
    classes = CLASSES.format(
        named=name, more=more, update=update, tied=tied, persistent=writer.chance(0.7), trained=writer.chance(0.8)
    )
    layers = ", ".join(writer.layer() for _ in range(int(rng.integers(1, 4))))
    writer.write(f"net = nn.SequentialCell({layers})")
    writer.write("filled(net)")
    writer.write("def loss(x):")
    writer.write("    return total(net(x))")
    for _ in range(int(rng.integers(2, 8))):
        how = writer.pick({"grow": 3, "set": 4, "hook": 3, "step": 4})
        if how == "grow":
            writer.write(writer.one(GROWN).format(a=writer.layer(), i=int(rng.integers(0, 3))))
            writer.write("filled(net)")
            if writer.chance(0.3):
                writer.write("names(net)")
        elif how == "set":
            writer.write(writer.one(SET).replace("{{", "{").replace("}}", "}"))
        elif how == "hook":
            writer.hook()
        else:
            writer.step()
    writer.step()
    writer.write("names(net)")
    writer.write("saw('weights', [p.value() + 0 for p in net.get_parameters()])")
    writer.write("return LOG")
    head = HEAD.replace("x0, x1", "x0")
    source = HELPERS + head + classes + "\n".join([*writer.lines, ""])
    source = source.replace("    LOG.clear()\n", "    import io\n    TEXT = io.StringIO()\n    LOG.clear()\n")
    inputs = [np.array(rng.normal(size=(2, 3)), np.float32)]
    return Case("cells", source, inputs, ["float32"], gradient=False, helpers=(HELPERS + head + classes).count("\n"))
