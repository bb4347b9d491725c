"""Kernels of layers, forward and backward: convolution and pooling (``windows`` chooses how), normalization, attention,
recurrent layers, activations, dropout and losses."""
