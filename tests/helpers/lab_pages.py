"""A lab whose findings are written by hand, so that its page is there at once."""

import polars as pl

import gadc
from gadc.datasets import csbm
from gadc.lab import KINDS, Findings
from tests.helpers.run_samples import HOSTILE_NAMES

#: Texts that try to break out of a page, as far as a table can hold them.
HOSTILE = [name for name in HOSTILE_NAMES if "\udcff" not in name]
NODES = 40


def page_lab(names=("n",), classes=("baker", "smith", "tailor"), column="size", weight=False):
    """A graph with 20 judged edges (12 flagged), labels, columns and no missing edge.

    Args:
        names: Beginnings of the ids, in turn.
        classes: Names of three classes.
        column: Name of the first feature.
        weight: Whether the edges have weights.
    """
    data = csbm(NODES, num_classes=3, num_features=4, mean_degree=6.0, homophily=0.9, seed=0)
    ids = [f"{names[i % len(names)]}{i}" for i in range(NODES)]
    u, v = data.edge_index[:, data.edge_index[0] < data.edge_index[1]].tolist()
    edges = pl.DataFrame({"from": [ids[i] for i in u], "to": [ids[i] for i in v]})
    if weight:
        edges = edges.with_columns(weight=pl.int_range(1, len(u) + 1).cast(pl.Float64))
    nodes = pl.DataFrame({"id": ids, "kind": [classes[c] for c in data.y.tolist()]})
    nodes = nodes.with_columns(
        **{name: pl.Series(data.x[:, j].numpy()) for j, name in enumerate((column, "b", "c", "d"))}
    )
    lab = gadc.Lab(
        edges, nodes, label="kind", source="from", target="to", weight="weight" if weight else None
    )
    lab.findings = findings(lab, column)
    lab.kinds = {name: KINDS[name] for name in lab.findings} | {"isolated": KINDS["isolated"]}
    lab.skipped = {"isolated": "nobody asked"}
    return lab


def findings(lab, column):
    """Findings of five kinds."""
    u, v = lab.view.pairs[:, :20].tolist()
    edge = pl.DataFrame({"source": u, "target": v})
    edge = judged(edge, flagged=12).with_columns(cosine=pl.int_range(20) / 20)
    label = judged(pl.DataFrame({"node": list(range(8))}), flagged=3, reason=f"unlike {column!r}")
    label = label.with_columns(suggested=pl.lit(lab.view.class_names[1]))
    far = judged(pl.DataFrame({"source": [0, 1], "target": [30, 31]}), flagged=0)
    leak = judged(pl.DataFrame({"column": [column, "b"]}), flagged=1)
    return {
        "edge": Findings(frame=edge, summary="12 edges look false.", expected=10.0, notes=("A note.",)),
        "missing_edge": Findings(frame=far, summary="No missing edge was found."),
        "label": Findings(frame=label, summary="3 labels look wrong.", expected=2.0),
        "leak": Findings(frame=leak.with_columns(probability=pl.lit(None, pl.Float64)), summary="1 leak."),
        "duplicate": Findings(frame=far.clear(), summary="No duplicate node was found."),
    }


def judged(frame, *, flagged, reason="the ends share nothing"):
    """Add the columns that all findings have."""
    place = pl.int_range(len(frame))
    return frame.with_columns(
        is_issue=place < flagged,
        score=place / max(len(frame), 1),
        probability=1 - place / max(len(frame), 1),
        reasons=pl.lit(reason),
    )
