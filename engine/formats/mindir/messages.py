"""Protobuf messages of MindSpore's MINDIR files and graph dumps, built from a description.

Field names and numbers are those of ``mindspore/train/mind_ir_pb2`` and ``anf_ir_pb2`` in the 2.10.0 wheel, limited to
the fields that are written or read here. Other fields of a file are ignored.
"""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["anf_ir", "mind_ir"]

# Each entry is a message and its fields: name, number, type; "*" after a type marks a repeated field.
_MIND_IR = """
Attribute: name 1 string, f 2 float, i 3 int64, d 4 double, s 5 bytes, floats 8 float*, doubles 9 double*,
    ints 10 int64*, strings 11 bytes*, tensors 12 Tensor*, type 16 int32, values 17 Attribute*, seq_info 18 Sequence
Sequence: is_dyn_len 1 bool
ValueInfo: name 1 string, tensor 2 Tensor*, denotation 4 string, attr_info 5 Attribute
Node: input 1 string*, output 2 string*, name 3 string, op_type 4 string, attribute 5 Attribute*, domain 7 string
Model: ir_version 1 string, producer_name 2 string, model_version 5 string, graph 7 Graph, functions 8 Graph*,
    little_endian 10 bool, primitives 12 Primitive*, mind_ir_version 13 int64
Graph: node 1 Node*, name 2 string, parameter 3 Tensor*, input 5 ValueInfo*, output 6 ValueInfo*,
    map_parameter 10 bytes*
Tensor: dims 1 int64*, data_type 2 int32, name 7 string, raw_data 9 bytes, external_data 12 bytes, ref_key 13 string,
    compression_type 16 int32
Primitive: name 1 string, op_type 2 string, attribute 3 Attribute*, instance_name 4 string, prim_type 5 int32
"""
_ANF_IR = """
Value: dtype 1 int32, bool_val 2 bool, int_val 3 int64, float_val 5 float, double_val 6 double, str_val 7 string,
    tensor_val 8 Tensor, values 18 Value*
Attribute: name 1 string, value 2 Value
NamedValue: key 1 string, value 2 Value
Dimension: size 1 int64
Shape: dim 1 Dimension*
TensorType: elem_type 1 int32, shape 2 Shape
SequenceType: elem_types 1 Type*
Type: data_type 1 int32, tensor_type 2 TensorType, sequence_type 3 SequenceType
Parameter: name 1 string, type 2 Type
Output: name 1 string, type 2 Type
Input: name 1 string, type 2 int32
Node: input 1 Input*, name 2 string, op_type 3 string, scope 4 string, attribute 5 Attribute*, output_type 6 Type,
    full_name 8 string, instance_name 10 string
Model: ir_version 1 int64, graph 4 Graph
Graph: node 1 Node*, name 2 string, parameters 3 Parameter*, outputs 4 Output*, const_vals 5 NamedValue*
Tensor: dims 1 int64*, data_type 2 int32, raw_data 8 bytes
"""


@cache
def mind_ir() -> dict[str, Any]:
    """Return the message classes of a MINDIR file by name; "Model" is the root."""
    return _classes("hookscope_mind_ir", _MIND_IR)


@cache
def anf_ir() -> dict[str, Any]:
    """Return the message classes of ``Cell.get_func_graph_proto`` by name; "Model" is the root."""
    return _classes("hookscope_anf_ir", _ANF_IR)


def _classes(package: str, description: str) -> dict[str, Any]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    for line in description.replace(",\n   ", ",").strip().splitlines():
        name, _, fields = line.partition(":")
        message = file.message_type.add(name=name)
        for field_text in fields.split(","):
            key, number, kind = field_text.split()
            entry = message.field.add(name=key, number=int(number), label=field.LABEL_OPTIONAL)
            if kind.endswith("*"):
                entry.label, kind = field.LABEL_REPEATED, kind[:-1]
            if kind[0].isupper():
                entry.type, entry.type_name = field.TYPE_MESSAGE, f".{package}.{kind}"
            else:
                entry.type = getattr(field, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = [message.name for message in file.message_type]
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in names}
