"""Taps and checks that try the conditions on values, parameters, losses, optimizers and operators."""
