"""Kernels of layers, forward and backward.

Convolution and pooling (``windows`` chooses how), normalization, attention, recurrent layers, activations, dropout and
losses.
"""
