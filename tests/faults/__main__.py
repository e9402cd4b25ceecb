"""Disturb the writers of this package and count what went wrong: `python -m tests.faults --rounds 100`.

    kill          signal 9 at a random moment; then nothing that looks complete is wrong, and the same work
                  done again ends with the result of an undisturbed run and leaves no other file behind
    full disk     no file may grow beyond a random size; then an error or the right result
    concurrent    several processes do the same or other work on one output; whoever ends well is right

Every disturbed work runs in a fork of this process, which has imported everything and computed nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path

import numpy as np
import torch

from tests.faults.works import WORKS, Work, diffuse
from tests.helpers.full_disk import full_disk

_LEFT_BEHIND = (".gadc-tmp", ".unfinished", ".note", ".lock")
# Exit codes of a child: anything else went wrong; the system refused; another process holds the lock.
FAILED, REFUSED, LOCKED = 1, 3, 4


def start(action: Callable[[], None]) -> int:
    """Do something in a fork, silently, and return its number."""
    number = os.fork()
    if number:
        return number
    code = FAILED
    try:
        with open(os.devnull, "w") as silence, redirect_stderr(silence):
            action()
        code = 0
    except BlockingIOError:
        code = LOCKED
    except OSError:
        code = REFUSED
    except BaseException as error:
        print(f"    {type(error).__name__}: {error}", flush=True)
    finally:
        os._exit(code)


def wait(number: int) -> int:
    """Return the exit code of a child, or minus its signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def judge(work: Work, folder: Path, expected: bytes, *, finished: bool) -> str | None:
    """Say what is wrong with a folder, or None."""
    try:
        state = work.state(folder)
    except Exception as error:
        return f"unreadable: {type(error).__name__}: {error}"
    if state is None or state == expected:
        wrong = "the result is missing" if finished and state is None else None
    elif work.grows and not finished and set(state.splitlines()) <= set(expected.splitlines()):
        wrong = None
    else:
        wrong = "the result is another one"
    left = [path.name for path in folder.rglob("*") if path.name.endswith(_LEFT_BEHIND)]
    return wrong or (f"left behind: {left}" if finished and left else None)


def undisturbed(work: Work) -> tuple[bytes, float]:
    """Return the result of a work and the seconds it takes."""
    with tempfile.TemporaryDirectory() as name:
        begin = time.monotonic()
        if wait(start(lambda: work.run(Path(name)))):
            raise RuntimeError("the undisturbed work failed")
        spent, state = time.monotonic() - begin, work.state(Path(name))
    if state is None:
        raise RuntimeError("the undisturbed work left no result")
    return state, spent


def kill(work: Work, expected: bytes, seconds: float, rng: random.Random) -> str | None:
    """Kill a work once or several times, then let it end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(rng.choice((1, 1, 2, 4))):
            child = start(lambda: work.run(folder))
            time.sleep(rng.uniform(0, 1.1 * seconds))
            os.kill(child, signal.SIGKILL)
            wait(child)
            if wrong := judge(work, folder, expected, finished=False):
                return f"after the kill: {wrong}"
        code = wait(start(lambda: work.run(folder)))
        return f"then exit code {code}" if code else judge(work, folder, expected, finished=True)


def fill(work: Work, expected: bytes, seconds: float, rng: random.Random) -> str | None:
    """Let the disk become full, then make room and do the work again."""
    with tempfile.TemporaryDirectory() as name:
        folder, largest = Path(name), int(10 ** rng.uniform(1, np.log10(2 * len(expected) + 100)))

        def run() -> None:
            with full_disk(largest):
                work.run(folder)

        code = wait(start(run))
        if code not in (0, REFUSED):
            return f"{largest} bytes: exit code {code}"
        if wrong := judge(work, folder, expected, finished=code == 0):
            return f"{largest} bytes: {wrong}"
        code = wait(start(lambda: work.run(folder)))
        return f"then exit code {code}" if code else judge(work, folder, expected, finished=True)


def compete(rng: random.Random, results: dict[float, bytes]) -> str | None:
    """Let several processes diffuse to one output; one at least ends well, and its result is its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        works = [rng.choice(list(results)) for _ in range(rng.choice((2, 3)))]

        def run(lam: float) -> None:
            diffuse(folder, lam)
            if (folder / "out.npy").read_bytes() not in results.values():
                raise ValueError("the output is a mixture")

        children = {}
        for lam in works:
            children[start(partial(run, lam))] = lam
            time.sleep(rng.choice((0.0, 0.05, 0.2)))
        codes = {child: wait(child) for child in children}
        if not set(codes.values()) <= {0, LOCKED} or 0 not in codes.values():
            return f"exit codes {sorted(codes.values())}"
        done = {results[children[child]] for child, code in codes.items() if code == 0}
        if (folder / "out.npy").read_bytes() not in done:
            return "the output belongs to a process that was refused"
        left = [path.name for path in folder.iterdir() if path.name.endswith(_LEFT_BEHIND)]
        return f"left behind: {left}" if left else None


def rounds_of(count: int, rng: random.Random) -> Iterator[tuple[str, str | None]]:
    """Yield the kind of each fault and what went wrong."""
    for name, work in WORKS.items():
        expected, seconds = undisturbed(work)
        for _ in range(count):
            yield f"kill, {name}", kill(work, expected, seconds, rng)
        for _ in range(count):
            yield f"full disk, {name}", fill(work, expected, seconds, rng)
    state = WORKS["diffuse_on_disk"].state
    results = {lam: undisturbed(Work(partial(diffuse, lam=lam), state))[0] for lam in (1.0, 2.0)}
    for _ in range(count):
        yield "concurrent, diffuse_on_disk", compete(rng, results)


def main() -> int:
    """Disturb every work and print the counts per kind of fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50, help="rounds per kind of fault and work")
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["GADC_CACHE"] = tempfile.mkdtemp(prefix="gadc-faults-")
    counts: dict[str, list[int]] = {}
    for kind, wrong in rounds_of(settings.rounds, random.Random(settings.seed)):  # noqa: S311  no secrets
        if kind not in counts:
            _print_last(counts)
        tried = counts.setdefault(kind, [0, 0])
        tried[0] += 1
        if wrong is not None:
            tried[1] += 1
            print(f"{kind}: {wrong}", flush=True)
    _print_last(counts)
    failed = sum(bad for _, bad in counts.values())
    print(f"faults: tried {sum(tried for tried, _ in counts.values())}, failed {failed}")
    return 1 if failed else 0


def _print_last(counts: dict[str, list[int]]) -> None:
    for kind, (tried, failed) in list(counts.items())[-1:]:
        print(f"{kind}: tried {tried}, failed {failed}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
