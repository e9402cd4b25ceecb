"""The stages of packing, in their order; what a stage has to do is known once the stages before are done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from gadc._base.tasks import Stage, Task
from gadc.packed._checksums import note_of
from gadc.packed._format import COLS, DEGREE, ROW_PTR, WEIGHTS, Manifest, slab_file, slab_ranges
from gadc.packed._packing._csr import build_rows, join_entries, join_pointers, range_folder
from gadc.packed._packing._edges import keys_file, map_edges, note_file, weights_file
from gadc.packed._packing._features import group_note, read_columns, write_slab
from gadc.packed._packing._forecast import count_ranges
from gadc.packed._packing._ids import find_added, finish_ids, names_by_text, number_nodes
from gadc.packed._packing._labels import NOTE, pack_labels
from gadc.packed._packing._plan import Plan
from gadc.packed._packing._sources import convert
from gadc.packed._packing._summary import make_manifest, read_groups, sum_file


def make_stages(plan: Plan, inputs: str) -> list[Stage]:
    """Return the stages; the manifest, which completes the folder, is written by the caller."""
    return [
        Stage("convert", lambda: _convert(plan)),
        Stage("ids", lambda: [_note(plan, "ids", number_nodes, (plan,), "ids/table.json")]),
        Stage("added nodes", lambda: _find_added(plan, as_text=False)),
        Stage("added nodes as text", lambda: _find_added(plan, as_text=_by_text(plan))),
        Stage("all ids", lambda: [_finish_ids(plan)]),
        Stage("edges", lambda: _map_edges(plan)),
        Stage("rows", lambda: _build_rows(plan)),
        Stage("join", lambda: _join(plan)),
        Stage("features", lambda: _read_columns(plan)),
        Stage("slabs", lambda: _write_slabs(plan)),
        Stage("labels", lambda: [_note(plan, "labels", pack_labels, (plan,), NOTE)]),
        Stage("checksums", lambda: _sums(plan, final_manifest(plan, inputs))),
    ]


def final_manifest(plan: Plan, inputs: str) -> Manifest:
    """Describe the finished graph."""
    return make_manifest(
        plan,
        num_parts=len(_parts(plan)),
        num_ranges=_num_ranges(plan),
        num_groups=len(_groups(plan)),
        inputs=inputs,
    )


def _note(
    plan: Plan, name: str, function: Callable[..., None], arguments: tuple[object, ...], note: str
) -> Task:
    return Task(name, function, arguments, (str(plan.work(note)),))


def _convert(plan: Plan) -> list[Task]:
    return [
        Task(
            f"convert {source.name}",
            convert,
            (source, plan.pieces.text_rows),
            (source.file,),
            Path(source.name).stat().st_size,
        )
        for source in (*plan.edges, *plan.nodes)
        if source.text
    ]


def _parts(plan: Plan) -> list[tuple[int, int, int]]:
    """Divide the edge tables: number of the file, first row and number of rows."""
    step = plan.pieces.edge_rows
    return [
        (number, start, min(step, size - start))
        for number, source in enumerate(plan.edges)
        for size in (source.num_rows(),)
        for start in range(0, size, step)
    ]


def _added_files(plan: Plan, *, as_text: bool) -> list[str]:
    kind = "text" if as_text else "ids"
    return [str(plan.work(f"added/part-{i:05d}.{kind}.parquet")) for i in range(len(_parts(plan)))]


def _by_text(plan: Plan) -> bool:
    return plan.settings.unknown == "add" and names_by_text(plan, _added_files(plan, as_text=False))


def _find_added(plan: Plan, *, as_text: bool) -> list[Task]:
    if plan.settings.unknown != "add":
        return []
    return [
        Task(f"added nodes {i}", find_added, (plan, *part, file, as_text), (file,))
        for i, (part, file) in enumerate(zip(_parts(plan), _added_files(plan, as_text=as_text), strict=True))
    ]


def _finish_ids(plan: Plan) -> Task:
    by_text = _by_text(plan)
    files = _added_files(plan, as_text=by_text) if plan.settings.unknown == "add" else []
    return _note(plan, "all ids", finish_ids, (plan, files, by_text), "ids/all.json")


def _num_ranges(plan: Plan) -> int:
    nodes = int(plan.read_note("ids/all.json")["count"])
    keys = sum(length for *_, length in _parts(plan)) * (1 if plan.settings.directed else 2)
    return count_ranges(nodes, keys, plan.pieces)


def _map_edges(plan: Plan) -> list[Task]:
    ranges = _num_ranges(plan)
    return [
        Task(
            f"edges {plan.edges[source].name} from row {start}",
            map_edges,
            (plan, number, source, start, length, ranges),
            (str(plan.work(note_file(number))),),
            16 * length,
        )
        for number, (source, start, length) in enumerate(_parts(plan))
    ]


def _build_rows(plan: Plan) -> list[Task]:
    ranges, parts = _num_ranges(plan), len(_parts(plan))
    return [
        Task(f"rows {i}", build_rows, (plan, i, ranges, parts), (str(plan.work(range_folder(i))),))
        for i in range(ranges)
    ]


def _join(plan: Plan) -> list[Task]:
    for number in range(len(_parts(plan))):  # all rows are built, so their keys are not needed any more
        for file in (keys_file(number), weights_file(number)):
            plan.work(file).unlink(missing_ok=True)
    ranges = _num_ranges(plan)
    kinds = {"cols": COLS} | ({"weights": WEIGHTS} if plan.settings.weight is not None else {})
    pointers = tuple(str(plan.place(name)) for name in (DEGREE, ROW_PTR))
    tasks = [Task("pointers", join_pointers, (plan, ranges), pointers)]
    for kind, name in kinds.items():
        size = sum(_size(plan.work(range_folder(i)) / kind) for i in range(ranges))
        tasks.append(Task(kind, join_entries, (plan, kind, ranges), (str(plan.place(name)),), size))
    return tasks


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _groups(plan: Plan) -> list[Sequence[str]]:
    """Divide the feature columns; categories can be many, so a text column is read by itself."""
    columns = plan.node_columns().features
    step = 1 if plan.settings.categorical == "onehot" else plan.pieces.columns
    return [columns[start : start + step] for start in range(0, len(columns), step)]


def _read_columns(plan: Plan) -> list[Task]:
    for number in range(_num_ranges(plan)):  # all ranges are joined
        for kind in ("cols", "weights"):
            (plan.work(range_folder(number)) / kind).unlink(missing_ok=True)
    n = int(plan.read_note("ids/all.json")["count"])
    return [
        Task(
            f"features {i}",
            read_columns,
            (plan, i, tuple(names)),
            (str(plan.work(group_note(i))),),
            4 * n * len(names),
        )
        for i, names in enumerate(_groups(plan))
    ]


def _write_slabs(plan: Plan) -> list[Task]:
    found = read_groups(plan, len(_groups(plan)))
    return [
        Task(
            f"slab {i}",
            write_slab,
            (plan, i, start, stop, tuple(found["widths"])),
            (str(plan.place(slab_file(i))),),
        )
        for i, (start, stop) in enumerate(slab_ranges(len(found["names"]), plan.settings.width))
    ]


def _sums(plan: Plan, manifest: Manifest) -> list[Task]:
    return [
        Task(
            f"checksum {name}",
            write_sum,
            (plan, name),
            (str(plan.work(sum_file(name))),),
            plan.place(name).stat().st_size,
        )
        for name in sorted(manifest.expected_files())
    ]


def write_sum(plan: Plan, name: str) -> None:
    """Write the size and the checksums of a file of the graph."""
    plan.write_note(sum_file(name), asdict(note_of(plan.place(name))))
