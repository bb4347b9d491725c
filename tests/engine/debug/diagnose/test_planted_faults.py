"""The debugger names each planted fault first, and finds nothing in healthy networks."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from healthy_networks import HEALTHY, Healthy
from planted_faults import FAULTS, Fault
from training_scripts import Script

import hookscope.engine as ms
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.findings import Finding, Findings


def findings_of(script: Script) -> Findings:
    with DebugSession(script.net, conditions=("all",)) as session:
        script.train()
    return session.findings()


def is_expected(fault: Fault, finding: Finding) -> bool:
    return (
        finding.condition == fault.condition and fnmatchcase(finding.path, fault.path) and fault.says in finding.message
    )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_named_first(fault: Fault) -> None:
    ms.set_seed(0)
    findings = findings_of(fault.script())
    assert findings, "nothing found"
    causes = [cause.finding for cause in findings.causes()]
    assert any(is_expected(fault, finding) for finding in (causes if fault.among else causes[:1])), str(findings)


@pytest.mark.parametrize("healthy", HEALTHY, ids=lambda healthy: healthy.name)
def test_nothing_is_found_in_a_healthy_network(healthy: Healthy) -> None:
    ms.set_seed(0)
    findings = findings_of(healthy.script())
    assert not findings, str(findings)


def test_the_suite_is_as_large_as_it_says() -> None:
    names = [row.name for row in (*FAULTS, *HEALTHY)]
    assert len(FAULTS) >= 40 and len(HEALTHY) >= 20 and len(set(names)) == len(names)
