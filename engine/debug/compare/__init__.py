"""Comparisons: gradients with other gradients, runs with runs, and ranks with ranks."""
