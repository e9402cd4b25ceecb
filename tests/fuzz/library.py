"""Random library calls: a finite result or an error in the words of this library, within a minute.

`python -m tests.fuzz.library --calls 20000` runs them in another process, which it replaces if a call takes
60 s of processor time (a busy machine makes no faults) or 20 minutes, or ends the process. It prints every
failure with its seed, and at the end `tried N, failed M`. `--start SEED --calls 1` repeats one call.
"""

import argparse
import json
import math
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
import torch

import gadc
from tests.fuzz.calls import CALLS
from tests.fuzz.draws import Draws

SECONDS = 60  # of processor time
PATIENCE = 1200  # seconds until a call that does nothing counts as hung
_SCHEME = re.compile(r"[\w. +]+: .")  # who: rule, got value
_RAISERS = (
    "/gadc/",
    "/sklearn/utils/",
)  # scikit-learn's checks of its estimators' input have their own words


def outcome(seed: int) -> tuple[str, str | None]:
    """Make one random call.

    Returns:
        Its name, and what is wrong: None if it gave a finite result or refused its input properly.
    """
    draws = Draws(seed)
    name = draws.one(list(CALLS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # NumPy's "overflow encountered" in this library would be a silent infinity.
        warnings.filterwarnings("error", category=RuntimeWarning, module=r"gadc\.")
        try:
            result = CALLS[name](draws)
        except (ValueError, TypeError, MemoryError) as error:
            return name, _fault_of_refusal(error)
        except Exception as error:
            return name, _described(error)
    return name, None if is_finite(result) else "the result is not finite"


def is_finite(result: Any) -> bool:
    """Whether all numbers of a result are finite."""
    if isinstance(result, torch.Tensor):
        return bool(torch.isfinite(result).all())
    if isinstance(result, gadc.LinearOperator):
        return is_finite([result.values, result.left, result.right])
    if scipy.sparse.issparse(result):
        return is_finite(result.data)
    if isinstance(result, np.ndarray):
        return bool(np.isfinite(result).all())
    if isinstance(result, list):
        return all(map(is_finite, result))
    return result is None or math.isfinite(result)


def _fault_of_refusal(error: Exception) -> str | None:
    """A refusal is raised by a check, not deep inside a product, and says who refuses what."""
    raiser = traceback.extract_tb(error.__traceback__)[-1].filename
    own_words = "/gadc/" not in raiser or _SCHEME.match(str(error))
    return None if any(part in raiser for part in _RAISERS) and own_words else _described(error)


def _described(error: Exception) -> str:
    places = [
        f"{os.path.basename(frame.filename)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    return f"{type(error).__name__}: {str(error)[:200]} at {' > '.join(places[-5:])}"


def watched(start: int, calls: int) -> Iterator[tuple[int, str, str | None]]:
    """Make calls in other processes; yield seed, name and fault of each."""
    seed, end = start, start + calls
    while seed < end:
        worker = _Worker(seed, end)
        for line in worker.lines():
            found = json.loads(line)
            yield found["seed"], found["name"], found["fault"]
            seed = found["seed"] + 1
        if seed < end:
            draws = Draws(seed)
            yield seed, draws.one(list(CALLS)), worker.end
            seed += 1


class _Worker:
    """A process that makes calls and writes one line per call; it is ended when a line takes too long."""

    def __init__(self, start: int, end: int) -> None:
        command = [sys.executable, "-m", "tests.fuzz.library", "--worker"]
        command += ["--start", str(start), "--calls", str(end - start)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.end = ""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if line.startswith("{"):
                    self._lines.put(line)
        self._lines.put(None)

    def lines(self) -> Iterator[str]:
        """Yield lines until the process ends or a line takes too long; `end` says which."""
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                self._process.kill()
                self._process.wait()
                self.end = f"no result within {PATIENCE} s"
                return
            if line is None:
                code = self._process.wait()
                late = code == -signal.SIGPROF
                self.end = f"no result within {SECONDS} s" if late else f"the process ended with {code}"
                return
            yield line


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns 1 if a call failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000, help="Number of calls.")
    parser.add_argument("--start", type=int, default=0, help="Seed of the first call.")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        for seed in range(options.start, options.start + options.calls):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
            name, fault = outcome(seed)
            print(json.dumps({"seed": seed, "name": name, "fault": fault}), flush=True)
        return 0
    tried, failed = Counter[str](), Counter[str]()
    for seed, name, fault in watched(options.start, options.calls):
        tried[name] += 1
        if fault is not None:
            failed[name] += 1
            print(f"seed {seed}, {name}: {fault}", flush=True)
    for name in sorted(tried):
        print(f"  {name}: tried {tried[name]}, failed {failed[name]}")
    print(f"tried {tried.total()}, failed {failed.total()}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
