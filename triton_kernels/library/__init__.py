"""Parts that several families of kernels share."""
