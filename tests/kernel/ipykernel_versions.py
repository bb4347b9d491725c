"""The tests of the kernel with each version of ipykernel that Hookscope allows.

    python tests/kernel/ipykernel_versions.py [--versions 7.1,7.4] [pytest's arguments ...]

For each minor version that the package index has, from the first that pyproject.toml allows, makes a virtual
environment under build/ipykernel with the newest release of that version. All else in it comes from the environment
whose Python runs this script, so that nothing differs but ipykernel. Then runs pytest in it: the files of `CORE`, or
what is named instead. Ends with a table, and with status 1 where a version failed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import sysconfig
import time
import tomllib
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENTS = REPOSITORY / "build" / "ipykernel"

CORE = [
    f"tests/kernel/test_{name}.py"
    for name in (
        "ipykernel_adapter",
        "answers",
        "debugger_attached",
        "front_ends",
        "inbox",
        "kernel_ends",
        "kernel_start",
        "panels",
        "pause",
        "pause_in_company",
        "paused_names",
        "variables",
        "visible_pause",
    )
]
"""What depends on ipykernel."""

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def allowed() -> str:
    """Return the requirement of pyproject.toml on ipykernel, such as ">=7.1,<8"."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (requirement,) = [text for text in project["dependencies"] if re.match(r"ipykernel\b", text)]
    return str(requirement).removeprefix("ipykernel")


def newest_releases(available: list[str], specifier: str) -> dict[str, str]:
    """Return the newest final release of each minor version that a specifier allows, oldest first.

    Args:
        available: the releases.
        specifier: such as ">=7.1,<8".
    """
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    releases = sorted(Version(text) for text in available)
    allowed_releases = SpecifierSet(specifier)
    return {
        f"{release.major}.{release.minor}": str(release)
        for release in releases
        if release in allowed_releases and not release.is_prerelease
    }


def available_releases() -> list[str]:
    """Return the releases of ipykernel that pip's indexes have."""
    command = [*PIP, "index", "versions", "ipykernel"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (line,) = [line for line in listing.splitlines() if line.startswith("Available versions:")]
    return [text.strip() for text in line.partition(":")[2].split(",")]


def make_environment(release: str) -> Path:
    """Make an environment with a release of ipykernel and this environment behind it; return its Python."""
    folder = ENVIRONMENTS / release
    python = folder / "bin" / "python"
    done = folder / "done"
    if not done.exists():
        venv.create(folder, clear=True, symlinks=True, with_pip=False)
        paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
        packages = sysconfig.get_paths()["purelib"]
        # Behind the environment's own packages, with the .pth files that are there.
        Path(paths["purelib"], "rest.pth").write_text(f"import site; site.addsitedir({packages!r})\n", encoding="utf-8")
        command = [*PIP, "--python", str(python), "install", "--quiet", f"ipykernel=={release}"]
        subprocess.run(command, check=True)
        done.touch()
    return python


def run(release: str, arguments: list[str]) -> tuple[int, str]:
    """Run pytest with a release of ipykernel; return its status and its last line."""
    python = make_environment(release)
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "JUPYTER_PATH": str(Path(sysconfig.get_paths()["data"], "share", "jupyter")),
    }
    check = "import ipykernel, hookscope.kernel; print(ipykernel.__version__)"
    version = subprocess.run([str(python), "-c", check], check=True, capture_output=True, text=True, env=environment)
    if version.stdout.strip() != release:
        raise RuntimeError(f"{python} has ipykernel {version.stdout.strip()}, not {release}")
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    last = ""
    with subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode, last


def main() -> int:
    """Run the tests with each version, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", help="minor versions such as 7.1,7.4; all that are allowed by default")
    options, arguments = parser.parse_known_args()
    known = newest_releases(available_releases(), allowed())
    chosen = options.versions.split(",") if options.versions else list(known)
    if unknown := set(chosen) - set(known):
        parser.error(f"no version {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if not any(argument.partition("::")[0].endswith(".py") for argument in arguments):
        arguments += CORE
    rows = []
    for version in chosen:
        print(f"\nipykernel {known[version]}", flush=True)
        begin = time.monotonic()
        status, last = run(known[version], arguments)
        rows.append((known[version], status, last, time.monotonic() - begin))
    print()
    for release, status, last, seconds in rows:
        print(f"ipykernel {release}: {'passed' if status == 0 else 'FAILED'} in {seconds:.0f} s: {last}")
    return int(any(status for _, status, _, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
