"""Explanations of exceptions: which operand has which shape, where it comes from, and what does not fit.

``explain_error`` works from what an exception leaves behind: the frames of its traceback, the arguments in them, the
tape and the captures, in which an array is identified by its identity. It runs nothing of the user's and costs nothing
until an exception is raised. Every statement is read from these values. If they do not show it, nothing is said.
"""

from .explanation import explain_error

__all__ = ["explain_error"]
