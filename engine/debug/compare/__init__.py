"""Gradients beside others, and one run beside another."""
