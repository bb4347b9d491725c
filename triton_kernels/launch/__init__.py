"""Plans of kernels and their launch on the device, or in Triton's interpreter."""
