"""Update rules of optimizers, on NumPy's and CuPy's arrays, and one compiled call for all tensors of a step."""
