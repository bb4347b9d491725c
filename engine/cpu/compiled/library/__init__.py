"""Parts of compiled kernels: loops, products by BLAS, windows over images, random numbers, scalars."""
