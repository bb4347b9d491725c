"""Taps and checks that apply the conditions to values, parameters, losses, optimizers and operators."""
