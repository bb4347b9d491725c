"""Tensors and parameters: dtypes, views, random numbers, devices, and the table of operators on them."""
