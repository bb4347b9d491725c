"""What compiled kernels are written with: loops, products by BLAS, windows over images, random numbers, scalars."""
