"""No explanation is false if a layer of a healthy script is made for another number of features."""

from __future__ import annotations

import pytest

from tests.faults.scripts.judging import HEALTHY_SCRIPTS
from tests.faults.scripts.script import Script

from .resized import explained, is_in_the_making, layers_of


def name_of(script: Script) -> str:
    return script.name


@pytest.mark.cases(4)
@pytest.mark.parametrize("script", HEALTHY_SCRIPTS, ids=name_of)
def test_explanations_of_resized_layers_are_true(script: Script) -> None:
    for resized in layers_of(script):
        error, text, false = explained(resized)
        if error is not None and not is_in_the_making(error):
            assert false == [], f"{resized.kind} {resized.index}\n{text}"
