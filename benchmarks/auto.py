"""`auto` beside what a reader would try first, on graphs nobody tuned for: accuracy, seconds, peak memory.

    python benchmarks/auto.py [--graphs NAME ...] [--models NAME ...] [--splits 5] [--list]

Each measurement runs in a process of its own and is stored in `benchmarks/auto.json` at once, so a run that
was stopped resumes. Seconds count fitting and predicting all nodes, without reading the data;
`cpu` in the file is what the processor spent on it, which other work on the machine changes less. Peak
memory is that of the process, data and libraries included; `loaded` in the file is what these take by
themselves. Ten per cent of the nodes are labelled at random and the others are the test part, unless the row
says otherwise. Needs the data sets (GADC_DATA or the user cache). `--models` without `auto` measures the
references alone; choices of `auto` are made on the graphs for development (`--list` marks them).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from typing import Any

from auto_graphs import GRAPHS
from auto_references import MODELS, OURS, Skipped
from rich.console import Console
from rich.table import Table

Record = dict[str, Any]
STORE = Path(__file__).with_suffix(".json")


def measure(graph: str, model: str, split: int) -> Record:
    """Run one model on one graph in this process."""
    from sklearn.metrics import average_precision_score

    made = GRAPHS[graph].make(split)
    truth, test, num_classes = made.y.numpy(), made.test_mask.numpy(), int(made.y.max()) + 1
    given = made.train_mask | made.get("val_mask", False)
    seen = copy(made)
    seen.y = made.y.where(given, -1)  # no model can read a label of the test part
    del seen.test_mask
    loaded, start, processor = _peak(), time.perf_counter(), time.process_time()
    try:
        scores = MODELS[model](seen, num_classes, split)
    except Skipped as reason:
        return {"skipped": str(reason)}
    seconds = time.perf_counter() - start
    if GRAPHS[graph].metric == "accuracy":
        value = float((scores[test].argmax(1) == truth[test]).mean())
    else:
        value = float(average_precision_score(truth[test] == 1, scores[test, 1]))
    return {
        "value": round(100 * value, 2),
        "seconds": round(seconds, 2),
        "cpu": round(time.process_time() - processor, 2),
        "peak": round(_peak()),
        "loaded": round(loaded),
    }


def _peak() -> float:
    """Return the largest memory of this process so far in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_apart(context: Any, graph: str, model: str, split: int, timeout: float) -> Record:
    """Run `measure` in a new process; a failure becomes a record as well."""
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(theirs, graph, model, split))
    worker.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(timeout) else {"failed": f"not finished after {timeout:g} s"}
    except EOFError:
        worker.join()
        return {"failed": f"the process ended with exit code {worker.exitcode}, most likely out of memory"}
    finally:
        worker.kill()
        worker.join()


def _work(pipe: Any, graph: str, model: str, split: int) -> None:
    try:
        record = measure(graph, model, split)
    except Exception as error:
        record = {"failed": f"{type(error).__name__}: {error}"}
    pipe.send(record)
    pipe.close()


def read(store: Path) -> list[Record]:
    return json.loads(store.read_text()) if store.exists() else []


def write(store: Path, record: Record) -> None:
    """Add a record and replace the file, so that a stopped run leaves a whole file."""
    records = [one for one in read(store) if _key(one) != _key(record)] + [record]
    aside = store.with_suffix(".part")
    aside.write_text("[\n" + ",\n".join(json.dumps(one) for one in records) + "\n]\n")
    os.replace(aside, store)


def _key(record: Record) -> tuple[str, str, int]:
    return record["graph"], record["model"], record["split"]


def run(graphs: list[str], models: list[str], splits: int, store: Path, timeout: float) -> None:
    """Measure what the file does not have yet."""
    console = Console(stderr=True)
    wanted = [(graph, model, split) for graph in graphs for model in models for split in range(splits)]
    done = {_key(one) for one in read(store) if "failed" not in one}
    left = [one for one in wanted if one not in done]
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))  # the server reads its path from here
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["auto_graphs", "auto_references"])  # libraries are imported once
    for number, (graph, model, split) in enumerate(left, 1):
        record = measure_apart(context, graph, model, split, timeout)
        write(store, {"graph": graph, "model": model, "split": split, **record})
        facts = ", ".join(f"{name} {value}" for name, value in record.items())
        console.print(
            f"[{number}/{len(left)}] {graph} {model} split {split}: {facts}", markup=False, soft_wrap=True
        )


def _values(records: Iterable[Record], graph: str, model: str, name: str = "value") -> list[float]:
    return [one[name] for one in records if (one["graph"], one["model"]) == (graph, model) and name in one]


def summary(records: list[Record], graph: str, models: Iterable[str]) -> tuple[str, float] | None:
    """Return the best reference and the difference of the means, ours minus that of the reference."""
    ours = _values(records, graph, OURS)
    means = {
        model: statistics.mean(found)
        for model in models
        if model != OURS and (found := _values(records, graph, model))
    }
    if not means or not ours:
        return None
    best = max(means, key=means.__getitem__)
    return best, statistics.mean(ours) - means[best]


def _spread(values: list[float]) -> str:
    if not values:
        return ""
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.1f} ± {spread:.1f}"


def _cost(records: list[Record], graph: str, model: str) -> str:
    seconds, peak = (_values(records, graph, model, name) for name in ("seconds", "peak"))
    if not seconds:
        reasons = [
            "skipped" if "skipped" in one else "failed"
            for one in records
            if (one["graph"], one["model"]) == (graph, model)
        ]
        return reasons[0] if reasons else ""
    return f"{statistics.mean(seconds):.1f} s {max(peak) / 1024:.1f} GB"


def tables(records: list[Record], graphs: list[str], models: list[str]) -> list[Table]:
    """Return one table of values with the difference to the best reference, and one of costs."""
    values = Table(title="Accuracy in % (average precision for accounts), mean ± standard deviation")
    costs = Table(title="Seconds to fit and predict, and peak memory of the process")
    for table in (values, costs):
        table.add_column("graph")
        for model in models:
            table.add_column(model, justify="right")
    values.add_column(f"{OURS} - best reference", justify="right")
    differences = []
    for graph in graphs:
        found = summary(records, graph, models)
        if found is not None:
            differences.append(found[1])
        last = "" if found is None else f"{found[1]:+.1f} ({found[0]})"
        values.add_row(graph, *(_spread(_values(records, graph, model)) for model in models), last)
        costs.add_row(graph, *(_cost(records, graph, model) for model in models))
    if differences:
        mean = f"{statistics.mean(differences):+.1f}"
        values.add_row("mean", *("" for _ in models), mean, style="bold")
    return [values, costs]


def _listing() -> Table:
    table = Table("graph", "labels", "metric", "development")
    for name, graph in GRAPHS.items():
        table.add_row(name, graph.labels, graph.metric, "yes" if graph.development else "")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usual = [name for name, graph in GRAPHS.items() if not graph.only_by_name]
    parser.add_argument("--graphs", nargs="+", default=usual, choices=list(GRAPHS), metavar="NAME")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS), metavar="NAME")
    parser.add_argument("--splits", type=int, default=5, help="splits per graph (default 5)")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds per measurement (default 3600)")
    parser.add_argument("--json", type=Path, default=STORE, help="file of the measurements")
    parser.add_argument("--list", action="store_true", help="list the graphs and stop")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 200)
    if arguments.list:
        console.print(_listing())
        return
    run(arguments.graphs, arguments.models, arguments.splits, arguments.json, arguments.timeout)
    for table in tables(read(arguments.json), arguments.graphs, arguments.models):
        console.print(table)


if __name__ == "__main__":
    main()
