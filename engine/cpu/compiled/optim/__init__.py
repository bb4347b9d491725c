"""Compiled update rules of optimizers."""
