"""Installation of the pins in requirements.lock: with uv, or with pip if uv cannot do the same.

    python scripts/install.py build lab

Run by the Python of the target environment. Installs the lock's part for these extras, each file by its hash, then this
package without dependencies. uv is the environment's own, else the one on PATH, else pip fetches it by its hash. uv
does not read pip's configuration, so that is translated; a setting without a counterpart leaves the installation to
pip, and so does a failure of uv.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import locked

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


class UntranslatableError(Exception):
    """A setting of pip's without a counterpart in uv."""


@dataclass(frozen=True)
class ForUv:
    """pip's configuration in uv's form.

    Attributes:
        arguments: the arguments of `uv pip install`.
        environment: additional environment variables.
    """

    arguments: list[str]
    environment: dict[str, str]


def settings(listing: str) -> dict[str, str]:
    """Parse the output of `pip config list`; more specific sections take precedence.

    Args:
        listing: the text.

    Returns:
        the value of each setting, by its name without the section.
    """
    by_section: dict[str, dict[str, str]] = {}
    for line in listing.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        by_section.setdefault(section, {})[name] = str(ast.literal_eval(value))
    sections = ("global", "site", "user", "install", ":env:")
    return {name: text for section in sections for name, text in by_section.get(section, {}).items()}


_REPEATED = {  # settings with several values
    "extra-index-url": "--extra-index-url",
    "find-links": "--find-links",
    "no-binary": "--no-binary",
    "only-binary": "--only-binary",
    "trusted-host": "--allow-insecure-host",
}
_VARIABLES = {
    "cert": ("SSL_CERT_FILE",),
    "client-cert": ("SSL_CLIENT_CERT",),
    "proxy": ("HTTP_PROXY", "HTTPS_PROXY"),
    "timeout": ("UV_HTTP_TIMEOUT",),
    "default-timeout": ("UV_HTTP_TIMEOUT",),
    "retries": ("UV_HTTP_RETRIES",),
}
_WITHOUT_EFFECT = {  # on exact pins, installed into an empty environment
    "break-system-packages",
    "cache-dir",
    "compile",
    "config-file",
    "disable-pip-version-check",
    "exists-action",
    "log",
    "no-cache-dir",
    "no-color",
    "no-compile",
    "no-input",
    "no-warn-conflicts",
    "no-warn-script-location",
    "pre",
    "prefer-binary",
    "progress-bar",
    "quiet",
    "require-hashes",
    "require-virtualenv",
    "root-user-action",
    "upgrade-strategy",
    "use-deprecated",
    "use-feature",
    "verbose",
}


def for_uv(options: Mapping[str, str], pins: Iterable[str]) -> ForUv:
    """Translate pip's configuration.

    Args:
        options: the settings.
        pins: the names of the packages that will be installed.

    Returns:
        the arguments and variables for uv.

    Raises:
        UntranslatableError: a setting has no counterpart in uv.
    """
    # pip takes the best file from all indexes; the hash identifies that file.
    arguments, environment = ["--index-strategy", "unsafe-best-match"], dict[str, str]()
    for name, value in options.items():
        if name == "index-url":
            arguments += ["--index-url", value]
        elif name == "no-index":
            arguments += ["--no-index"] if value.lower() in ("1", "true", "yes", "on") else []
        elif name in _REPEATED:
            for item in re.split(r"[\s,]+" if name.endswith("binary") else r"\s+", value.strip()):
                arguments += [_REPEATED[name], os.path.expanduser(item)]
        elif name in _VARIABLES:
            environment |= dict.fromkeys(_VARIABLES[name], value)
        elif name == "constraint":
            _check_constraints(value.split(), set(pins))
        elif name not in _WITHOUT_EFFECT:
            raise UntranslatableError(f"pip's configuration has the setting {name!r}, which uv does not have")
    return ForUv(arguments, environment)


def _check_constraints(files: list[str], pins: set[str]) -> None:
    """Raise if a constraint concerns an installed package, since uv accepts none together with hashes."""
    for file in files:
        try:
            lines = Path(file).expanduser().read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise UntranslatableError(f"pip's constraints {file!r} cannot be read as a file") from error
        for line in map(str.strip, lines):
            if line and not line.startswith("#") and (line.startswith("-") or locked.name(line) in pins):
                raise UntranslatableError(f"pip's constraints {file!r} have the line {line!r}")


def find_uv(by_hash: Path) -> str | None:
    """Find uv, or fetch it.

    Args:
        by_hash: a file with the lock's entry for uv.

    Returns:
        the program; None if the index has none for this machine, or does not reply.
    """
    folder = str(Path(sys.executable).parent)
    program = shutil.which("uv", path=folder) or shutil.which("uv")
    if program is None:
        fetch = [*PIP, "install", "--quiet", "--no-deps", "--only-binary", "uv", "--require-hashes", "-r", str(by_hash)]
        subprocess.run(fetch, capture_output=True, check=False)
        program = shutil.which("uv", path=folder)
    return program


def with_uv(requirements: Path, uv_entry: Path, pins: Iterable[str], options: list[str]) -> bool:
    """Install with uv.

    Args:
        requirements: a file of pins with hashes.
        uv_entry: a file with the lock's entry for uv.
        pins: the names in `requirements`.
        options: options for the installation of this package.

    Returns:
        whether everything is installed; if not, a line says why.
    """
    listing = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False)
    try:
        translated = for_uv(settings(listing.stdout), pins)
    except (UntranslatableError, ValueError, SyntaxError) as error:
        print(f"{error}; pip installs, which takes a minute longer", flush=True)
        return False
    uv = find_uv(uv_entry)
    if uv is None:
        print("uv cannot be had from this index; pip installs, which takes a minute longer", flush=True)
        return False
    # The user's own settings of uv take precedence over a translation.
    environment = {**translated.environment, **os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    environment.pop("UV_SYSTEM_PYTHON", None)  # it contradicts --python
    command = [uv, "pip", "install", "--quiet", "--python", sys.executable]
    for arguments in (["--require-hashes", *translated.arguments, "-r", str(requirements)], ["--offline", *options]):
        if subprocess.run([*command, *arguments], env=environment, check=False).returncode:
            print("uv did not get through; pip installs, which takes a minute longer", flush=True)
            return False
    return True


def with_pip(requirements: Path, options: list[str]) -> int:
    """Install with pip.

    Args:
        requirements: a file of pins with hashes.
        options: options for the installation of this package.

    Returns:
        the exit status.
    """
    for arguments in (["--require-hashes", "-r", str(requirements)], options):
        status = subprocess.run([*PIP, "install", "--quiet", "--no-compile", *arguments], check=False).returncode
        if status:
            return status
    return 0


def main() -> int:
    """Install the requirements and this package.

    Returns:
        the exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*")
    parser.add_argument("--installer", choices=("uv", "pip"), default="uv", help="default: uv, else pip")
    arguments = parser.parse_args()
    lock = locked.LOCK.read_text()
    project = tomllib.loads(locked.PROJECT.read_text())["project"]
    part = locked.select(lock, locked.required(project, arguments.extras))
    pins = [name for name, _, _ in locked.entries(part)]
    # The package's own build system is among the pins, so nothing is fetched for it.
    options = ["--no-deps", "--no-build-isolation", "-e", str(locked.ROOT)]
    with tempfile.TemporaryDirectory() as folder:
        requirements, uv_entry = Path(folder, "requirements.txt"), Path(folder, "uv.txt")
        requirements.write_text(part)
        uv_entry.write_text(locked.select(lock, {"uv"}))
        print(f"installing {len(pins)} packages ...", flush=True)
        if arguments.installer == "uv" and with_uv(requirements, uv_entry, pins, options):
            return 0
        return with_pip(requirements, options)


if __name__ == "__main__":
    raise SystemExit(main())
