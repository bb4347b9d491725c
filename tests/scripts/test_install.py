"""`scripts/install.py`: the same packages by the same hashes, with uv where it can be had and with pip elsewhere."""

from __future__ import annotations

import base64
import hashlib
import importlib
import os
import shutil
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def script(repository: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(repository / "scripts"))
    return importlib.import_module("install")


def test_of_two_places_that_configure_pip_the_nearer_one_counts(script: ModuleType) -> None:
    listing = "\n".join(
        [
            ":env:.find-links='/env'",
            "global.find-links='/global'",
            "global.timeout='9'",
            "install.index-url='https://user:p.w=d@mirror/simple'",
            "user.timeout='10'",
        ]
    )
    assert script.settings(listing) == {
        "find-links": "/env",
        "timeout": "10",
        "index-url": "https://user:p.w=d@mirror/simple",
    }


def test_indexes_certificates_and_proxies_of_pip_are_those_of_uv(script: ModuleType) -> None:
    options = {
        "index-url": "https://mirror/simple",
        "extra-index-url": "file:///a/simple\nhttps://b/simple",
        "find-links": "/wheels ~/more",
        "trusted-host": "mirror b",
        "only-binary": ":all:",
        "no-index": "false",
        "cert": "/ca.crt",
        "proxy": "http://proxy:3128",
        "default-timeout": "180",
        "disable-pip-version-check": "1",
    }
    translated = script.for_uv(options, ["numpy"])
    assert translated.arguments == [
        "--index-strategy",
        "unsafe-best-match",
        "--index-url",
        "https://mirror/simple",
        "--extra-index-url",
        "file:///a/simple",
        "--extra-index-url",
        "https://b/simple",
        "--find-links",
        "/wheels",
        "--find-links",
        os.path.expanduser("~/more"),
        "--allow-insecure-host",
        "mirror",
        "--allow-insecure-host",
        "b",
        "--only-binary",
        ":all:",
    ]
    assert translated.environment == {
        "SSL_CERT_FILE": "/ca.crt",
        "HTTP_PROXY": "http://proxy:3128",
        "HTTPS_PROXY": "http://proxy:3128",
        "UV_HTTP_TIMEOUT": "180",
    }
    assert "--no-index" in script.for_uv({"no-index": "true"}, []).arguments


@pytest.mark.parametrize("name", ["target", "user", "keyring-provider", "a-setting-of-tomorrow"])
def test_what_uv_has_no_counterpart_of_is_left_to_pip(name: str, script: ModuleType) -> None:
    with pytest.raises(script.UntranslatableError, match=name):
        script.for_uv({name: "1"}, [])


def test_constraints_matter_where_they_are_on_a_package_that_is_installed(script: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "constraints.txt"
    file.write_text("# of this machine\nTorch<=2.14\n\n")
    assert script.for_uv({"constraint": str(file)}, ["numpy"]) == script.for_uv({}, [])
    for text in ("NumPy<2\n", "-r more.txt\n"):
        file.write_text(text)
        with pytest.raises(script.UntranslatableError, match="constraints"):
            script.for_uv({"constraint": str(file)}, ["numpy"])
    with pytest.raises(script.UntranslatableError, match="cannot be read"):
        script.for_uv({"constraint": "https://somewhere/constraints.txt"}, ["numpy"])


class Clone:
    """A small project with its lock and these scripts, and an environment that finds this one's libraries.

    Attributes:
        folder: the project's.
        python: the environment's interpreter.
    """

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder = folder / "a clone"
        (self.folder / "scripts").mkdir(parents=True)
        for name in ("install.py", "locked.py"):
            shutil.copy(repository / "scripts" / name, self.folder / "scripts" / name)
        (self.folder / "small.py").touch()
        (self.folder / "pyproject.toml").write_text(
            '[project]\nname = "small"\nversion = "1"\ndependencies = ["something"]\n'
            '[project.optional-dependencies]\nlab = []\n[build-system]\nrequires = ["hatchling"]\n'
            'build-backend = "hatchling.build"\n[tool.hatch.build.targets.wheel]\nonly-include = ["small.py"]\n'
        )
        environment = folder / "an environment"
        venv.create(environment, symlinks=True)
        self.python = environment / "bin" / "python"
        (self.packages,) = environment.glob("lib/python*/site-packages")
        self.calls = folder / "calls"
        self.wheels = folder / "wheels"
        self.lock(self.wheel())

    def wheel(self) -> str:
        """Write the one wheel that there is; its hash."""
        self.wheels.mkdir()
        info = "something-1.0.dist-info"
        texts = {
            "something.py": "",
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: something\nVersion: 1.0\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        digests = {
            name: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            for name, text in texts.items()
        }
        record = "".join(f"{name},sha256={digests[name]},{len(texts[name])}\n" for name in texts)
        texts[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
        path = self.wheels / "something-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def lock(self, digest: str) -> None:
        """Write a lock with this hash of the wheel."""
        (self.folder / "requirements.lock").write_text(
            f"something==1.0 \\\n    --hash=sha256:{digest}\n    # via small (pyproject.toml)\n"
            f"uv==0.13.9 \\\n    --hash=sha256:{'0' * 64}\n    # via small (pyproject.toml)\n"
        )

    def pretend(self, name: str, text: str) -> None:
        """Put a program into the environment that notes how it was called."""
        program = self.python.parent / name
        program.write_text(f'#!/bin/sh\necho "{name} $@" >> "{self.calls}"\n{text}\n')
        program.chmod(0o755)

    def pretend_pip(self, text: str = "") -> None:
        """Put a pip into the environment that notes how it was called, and then runs this code."""
        (self.packages / "pip").mkdir()
        lines = f"import sys\nopen({str(self.calls)!r}, 'a').write(' '.join(['pip', *sys.argv[1:]]) + '\\n')\n{text}\n"
        (self.packages / "pip" / "__main__.py").write_text(lines)

    def install(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the script with this environment's python and no uv on PATH."""
        environment = {name: text for name, text in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
        environment |= {"PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": os.devnull} | variables
        return subprocess.run(
            [str(self.python), "scripts/install.py", *arguments, "lab"],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    def called(self) -> list[str]:
        """Return the calls that were noted."""
        return self.calls.read_text().splitlines()


@pytest.fixture
def clone(tmp_path: Path, repository: Path) -> Clone:
    return Clone(tmp_path, repository)


def test_uv_installs_by_hashes_what_pip_would_have(clone: Clone) -> None:
    clone.pretend("uv", "")
    clone.pretend_pip("if 'list' in sys.argv: print(\"user.find-links='/wheels'\")")
    assert clone.install().returncode == 0
    config, packages, own = clone.called()
    assert config.endswith("config list")
    assert (
        packages.startswith("uv pip install ") and "--require-hashes" in packages and "--find-links /wheels" in packages
    )
    assert own.endswith(f"--offline --no-deps --no-build-isolation -e {clone.folder}")


def test_uv_is_fetched_by_its_hash_where_there_is_none(clone: Clone) -> None:
    clone.pretend_pip()
    clone.pretend("the-uv", "")
    uv = clone.python.parent / "uv"
    path = clone.packages / "pip" / "__main__.py"
    path.write_text(f"{path.read_text()}import os\nif 'uv' in sys.argv: os.symlink('the-uv', {str(uv)!r})\n")
    assert clone.install().returncode == 0
    _, fetch, *installed = clone.called()
    assert fetch.startswith("pip ") and "--only-binary uv --require-hashes -r " in fetch
    assert [call.split()[0] for call in installed] == ["the-uv", "the-uv"]


@pytest.mark.parametrize("why", ["there is no uv", "uv fails", "a setting is pip's alone", "it is asked for"])
def test_without_uv_pip_installs_by_the_same_hashes(why: str, clone: Clone) -> None:
    clone.pretend_pip("if 'list' in sys.argv: print(\"user.target='/x'\")" if why == "a setting is pip's alone" else "")
    if why != "there is no uv":
        clone.pretend("uv", "exit 2")
    process = clone.install(*(("--installer", "pip") if why == "it is asked for" else ()))
    assert process.returncode == 0
    *_, packages, own = clone.called()
    assert packages.startswith("pip ") and "--require-hashes -r " in packages
    assert own.startswith("pip ") and own.endswith(f"--no-deps --no-build-isolation -e {clone.folder}")
    assert ("; pip installs" in process.stdout) is (why != "it is asked for")


def test_a_failure_of_pip_is_the_exit_status(clone: Clone) -> None:
    clone.pretend_pip("sys.exit(3 if '--require-hashes' in sys.argv else 0)")
    assert clone.install().returncode == 3
    assert not [call for call in clone.called() if call.endswith(str(clone.folder))]


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_file_with_another_hash_is_not_installed(installer: str, clone: Clone, tmp_path: Path) -> None:
    """With the programs themselves, from a folder of wheels that pip's configuration names."""
    (clone.packages / "libraries.pth").write_text("\n".join(site.getsitepackages()))
    variables = {"PIP_FIND_LINKS": str(clone.wheels), "PIP_NO_INDEX": "1", "UV_CACHE_DIR": str(tmp_path / "cache")}
    if installer == "uv":
        (clone.python.parent / "uv").symlink_to(Path(sys.executable).parent / "uv")
    clone.lock("0" * 64)
    refused = clone.install("--installer", installer, **variables)
    assert refused.returncode != 0 and "hash" in refused.stderr.lower()
    assert not (clone.packages / "something.py").exists()

    clone.lock(hashlib.sha256((clone.wheels / "something-1.0-py3-none-any.whl").read_bytes()).hexdigest())
    process = clone.install("--installer", installer, **variables)
    assert process.returncode == 0, process.stdout + process.stderr
    assert ("pip installs" in process.stdout) is False
    assert (clone.packages / "something.py").exists()
    assert list(clone.packages.glob("small-1.dist-info/METADATA"))
