"""Graphs as ONNX files: ``write`` makes one, ``read`` reads one."""
