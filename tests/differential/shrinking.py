"""A case with fewer lines that differs in the same way."""

from __future__ import annotations

import dataclasses

from tests.differential.accepted import reason_for
from tests.differential.cases import Case
from tests.differential.comparing import Difference, compare
from tests.differential.talking import Package


def shrunk(case: Case, difference: Difference, mindspore: Package, hookscope: Package) -> tuple[Case, Difference]:
    """Return the case without the lines that the difference does not need.

    Lines are taken out eight at a time, then fewer, down to one; both packages refuse an invalid program,
    which is therefore not a difference.
    """
    lines = case.source.split("\n")
    size = 8
    while size:
        index = len(lines)
        while index > case.helpers:
            index -= size
            if index < case.helpers:
                break
            fewer = lines[:index] + lines[index + size :]
            smaller = dataclasses.replace(case, source="\n".join(fewer))
            reference, answer = mindspore.run(smaller), hookscope.run(smaller)
            result = compare(reference, answer)
            if (
                result.kind == difference.kind
                and reason_for(smaller, reference, answer, result, mindspore, hookscope) is None
            ):
                lines, case, difference = fewer, smaller, result
        size //= 2
    return case, difference
