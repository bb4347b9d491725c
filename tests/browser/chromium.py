"""System packages of the browser tests: a Chromium, and the library that Playwright's driver is linked with.

`python tests/browser/chromium.py --install` is what `make test` calls: it installs Debian's packages where this
user may, says so first, and leaves it where HOOKSCOPE_NO_APT is set. Where something is missing the tests in this
folder are skipped and say so; with CI=true they fail, so that a broken set-up is not taken for a pass.
"""

from __future__ import annotations

import ctypes.util
import os
import shutil
import subprocess
import sys

REFUSE = "HOOKSCOPE_NO_APT"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Return the path of a Chromium: HOOKSCOPE_CHROMIUM's, else the first on the PATH."""
    configured = os.environ.get("HOOKSCOPE_CHROMIUM")
    if configured:
        return shutil.which(configured)
    return next((path for path in map(shutil.which, NAMES) if path), None)


def missing_packages() -> list[str]:
    """Return the Debian packages that the browser tests need and this machine lacks."""
    missing = [] if find_chromium() else ["chromium"]
    if ctypes.util.find_library("atomic") is None:
        missing.append("libatomic1")  # needed by Playwright's node; a minimal Debian lacks it
    return missing


def how_to(missing: list[str]) -> str:
    """Return one line that says how to install them."""
    advice = "" if find_chromium() else ", or name a browser: HOOKSCOPE_CHROMIUM=/path/to/chromium"
    return f"no {' and no '.join(missing)}. On Debian: apt-get install {' '.join(missing)}{advice}"


def install(packages: list[str]) -> None:
    """Install Debian packages, with a message, if apt-get is there and this user may use it."""
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if os.environ.get(REFUSE) or shutil.which("apt-get") is None or (as_root and shutil.which("sudo") is None):
        return
    by = "sudo apt-get" if as_root else "apt-get"
    print(f"the browser tests need {' and '.join(packages)}: installing with {by} ({REFUSE}=1 prevents it)", flush=True)
    apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        if subprocess.run([*apt, *arguments], check=False, stdout=subprocess.DEVNULL).returncode:
            return


def main() -> int:
    missing = missing_packages()
    if missing and "--install" in sys.argv[1:]:
        install(missing)
        missing = missing_packages()
    if missing:
        print(f"the browser tests cannot run: {how_to(missing)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
