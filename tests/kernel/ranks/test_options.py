"""Options of `hookscope run` that start many ranks, and its errors for others."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

import pytest

from hookscope.kernel.checked_script import add_options, with_values
from hookscope.kernel.ranks.launch import _command
from hookscope.kernel.ranks.options import WITH_VALUE, Plan, plan_of


def parsed(*arguments: str) -> argparse.Namespace:
    run = argparse.ArgumentParser(allow_abbrev=False)
    add_options(run)
    run.add_argument("script", nargs="?")
    run.add_argument("arguments", nargs=argparse.REMAINDER)
    return run.parse_args(with_values(["run", *arguments])[1:])


def plan(*arguments: str) -> Plan | None:
    return plan_of(parsed(*arguments, "train.py", "--ranks", "9"))


def test_without_a_word_of_ranks_none_are_started() -> None:
    assert plan() is None
    assert plan("--check") is None


@pytest.mark.parametrize(
    ("arguments", "ranks"),
    [
        (["--ranks", "4"], 4),
        (["--ranks=1"], 1),
        (["--worker_num=4"], 4),
        (["--worker_num", "2", "--local_worker_num", "2"], 2),
        (["--ranks", "2", "--worker_num=2"], 2),
        (["--worker_num=2", "--master_addr=localhost", "--node_rank=-1", "--join=False"], 2),
        (["--join=True"], 8),
        (["--local_worker_num=8", "--cluster_time_out", "300"], 8),
    ],
)
def test_the_number_of_ranks_has_two_names_and_msruns_default(arguments: list[str], ranks: int) -> None:
    result = plan(*arguments)
    assert result is not None and result.ranks == ranks


@pytest.mark.parametrize(
    ("text", "ranks"),
    [("-1", [0, 1, 2, 3]), ("0,2", [0, 2]), ("[0,3]", [0, 3]), ("[0, 3]", [0, 3]), ("2", [2]), ("4", [])],
)
def test_the_output_of_some_ranks_is_shown(text: str, ranks: list[int]) -> None:
    result = plan("--worker_num=4", f"--tail_worker_log={text}")
    assert result is not None
    assert [rank for rank in range(4) if result.shows(rank)] == ranks


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ranks", "0"], "--ranks is the number of ranks, an integer of at least 1, got '0'"),
        (["--ranks", "two"], "--ranks is the number of ranks, an integer of at least 1, got 'two'"),
        (["--worker_num=-1"], "--worker_num is the number of ranks, an integer of at least 1, got '-1'"),
        (["--ranks=2", "--worker_num=3"], "--ranks 2 and --worker_num 3 differ: give one of them"),
        (["--worker_num=8", "--local_worker_num=4"], "--local_worker_num 4 beside 8 ranks asks for several machines"),
        (["--local_worker_num=4"], "--local_worker_num 4 beside 8 ranks (msrun's default) asks for several machines"),
        (["--ranks=2", "--master_addr=10.0.0.1"], "--master_addr 10.0.0.1 is another machine's, only 127.0.0.1"),
        (["--ranks=2", "--node_rank", "1"], "--node_rank 1 is for several machines, only 0 is allowed"),
        (["--bind_core=True"], "--bind_core is for Ascend hosts; leave it out"),
        (["--bind_numa", "True"], "--bind_numa is for Ascend hosts; leave it out"),
        (["--sim_level=0"], "--sim_level is to simulate an Ascend cluster; leave it out"),
        (["--sim_rank_id=0"], "--sim_rank_id is to simulate an Ascend cluster; leave it out"),
        (["--rank_table_file=t.json"], "--rank_table_file is for Ascend clusters; start the ranks of several machines"),
        (["--ranks=2", "--join=perhaps"], "--join is True or False, got 'perhaps'"),
        (["--ranks=2", "--master_port=no"], "--master_port is a number, got 'no'"),
        (["--ranks=2", "--cluster_time_out=no"], "--cluster_time_out is a number, got 'no'"),
        (
            ["--ranks=2", "--tail_worker_log=first"],
            "--tail_worker_log is -1 or ranks such as 0,2 or [0,4], got 'first'",
        ),
        (["--ranks=2", "--log_dir="], "--log_dir is a folder, got ''"),
    ],
)
def test_what_cannot_be_meant_here_is_named_with_what_to_do(arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        plan(*arguments)


def test_an_error_of_the_options_is_one_line() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "hookscope", "run", "--ranks", "0", "train.py"],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "hookscope run: --ranks is the number of ranks, an integer of at least 1, got '0'\n"


def test_the_value_of_an_option_is_not_taken_for_the_script() -> None:
    for option in WITH_VALUE:
        options = parsed(option, "1", "--check", "train.py", "--json")
        assert (options.script, options.arguments, options.check) == ("train.py", ["--json"], ["all"])


def test_every_option_that_does_not_start_ranks_is_passed_on_to_them() -> None:
    options = ["--check=nan,inf", "--stop-on", "nan", "--break", "a.b", "-b", "c", "--json=d/found.json", "--ranks=2"]
    options += ["--serve=job-7", "--serve-address", "tcp://127.0.0.1:*"]
    passed = _command(parsed(*options, "train.py", "--lr", "--", "1"), 1, 2)
    run = argparse.ArgumentParser()
    add_options(run)
    own = {word.partition("=")[0] for word in passed[passed.index("run") :]}
    for action in run._actions:
        names = set(action.option_strings)
        assert names & {"--help", *WITH_VALUE} or names & own, f"{names} does not reach the ranks"
    assert passed[passed.index("run") :] == [
        "run",
        "--check=nan,inf",
        "--stop-on=nan",
        "--break=a.b",
        "--break=c",
        "--serve=job-7",
        "--serve-address=tcp://127.0.0.1:*",
        "--json=d/found.1.json",
        "--",
        "train.py",
        "--lr",
        "--",
        "1",
    ]
