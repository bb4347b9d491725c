"""Sessions at random in a real JupyterLab: a person who runs, edits, deletes, docks, reloads, loses the connection, and
debugs meanwhile, in any order.

    python -m tests.browser.random_sessions --seed 1 --count 300 --workers 2
    python -m tests.browser.random_sessions --seed 17 --keep 0,3,4     # of session 17 only these actions

The promises are in `random_checks.py`. A session that fails is printed with its seed and its actions, saves a picture,
and the next one begins. The same seed repeats the actions, as far as a browser and a kernel keep their pace.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Error, Playwright, sync_playwright

from tests.browser import witness
from tests.browser.chromium import find_chromium, how_to, missing_packages
from tests.browser.lab import CHROMIUM_ARGUMENTS, lab_server
from tests.browser.random_checks import PATIENCE_SECONDS, BrokenPromiseError
from tests.browser.random_page import SCRIPT
from tests.browser.random_person import RandomSession


def run(
    playwright: Playwright,
    seeds: Collection[int],
    folder: Path,
    keep: Collection[int] | None = None,
    patience: float = PATIENCE_SECONDS,
    say: Callable[[str], object] = print,
) -> tuple[Counter[str], dict[int, str]]:
    """Run these sessions on one server and one browser; return the counts of actions, and the failures by seed."""
    counts: Counter[str] = Counter()
    failures: dict[int, str] = {}
    startup = folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    shutil.copy(witness.__file__, startup / "00-witness.py")
    chromium = find_chromium()
    if chromium is None:
        raise RuntimeError(how_to(missing_packages()))
    with lab_server(folder) as server:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.set_default_timeout(30_000)
        context.add_init_script(SCRIPT)
        page = None
        for seed in seeds:
            if page is None:
                page = context.new_page()
                page.goto(f"{server.url}/lab/workspaces/first?reset")
                page.wait_for_function("() => window.jupyterapp?.shell.currentWidget")
            begin = time.monotonic()
            session = RandomSession(server, context, page, seed, keep, patience)
            failed = _failure(session)
            counts += session.done
            counts["sessions"] += 1
            seconds = time.monotonic() - begin
            message = f"session {seed}: {failed or 'ok'}, {seconds:.0f} s"
            say("\n    ".join([message, *session.trace, *(f"note: {note}" for note in session.notes)]))
            if failed:
                failures[seed] = failed
                for tab in session.tabs:
                    with suppress(Error):
                        tab.page.screenshot(path=folder / f"session{seed}-{tab.name[-1]}.png")
            session.leave()
            if failed:
                page.close()
                page = None
        browser.close()
    return counts, failures


def _failure(session: RandomSession) -> str:
    try:
        session.run()
    except BrokenPromiseError as violation:
        return str(violation)
    except Exception:  # an error of the driver, or of JupyterLab: it is printed, and the next session begins
        return f"the driver itself: {traceback.format_exc()}"
    return ""


def _numbers(text: str) -> set[int]:
    return {int(number) for number in text.split(",")}


def main() -> int:
    parser = argparse.ArgumentParser(description="Sessions at random in a real JupyterLab.")
    parser.add_argument("--seed", type=int, default=1, help="of the first session")
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--keep", type=_numbers, help="of one session, do only these actions: 0,3,4")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--patience", type=float, default=PATIENCE_SECONDS, help="seconds until a page has settled")
    parser.add_argument("--folder", type=Path, help="for notebooks, logs and pictures")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="random-sessions-"))
    begin = time.monotonic()
    if options.workers > 1:
        return _in_parallel(seeds, options.workers, options.patience, folder)
    with sync_playwright() as playwright:
        say = functools.partial(print, flush=True)
        done, failures = run(playwright, seeds, folder, options.keep, options.patience, say)
    print(f"{len(seeds)} sessions in {time.monotonic() - begin:.0f} s, {len(failures)} failed; {folder}")
    for what, count in sorted(done.items()):
        print(f"{count:8d} {what}")
    for seed, failure in failures.items():
        print(f"FAILED, session {seed}: {failure}")
    return 1 if failures else 0


def _in_parallel(seeds: range, workers: int, patience: float, folder: Path) -> int:
    share = -(-len(seeds) // workers)
    command = [sys.executable, "-m", "tests.browser.random_sessions", f"--patience={patience}"]
    parts = [seeds[k : k + share] for k in range(0, len(seeds), share)]
    options = [[f"--seed={part[0]}", f"--count={len(part)}", f"--folder={folder / str(part[0])}"] for part in parts]
    running = [subprocess.Popen([*command, *option]) for option in options]
    return max(process.wait() for process in running)


if __name__ == "__main__":
    sys.exit(main())
