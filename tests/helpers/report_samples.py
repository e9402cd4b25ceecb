"""A small table with one cell of every kind, and figures whose text can be worked out by hand."""

from gadc.experiments import Column, Row, Summary, Table

LEVELS = (0.1, 0.5, 100.0)


def noise_table(**changes):
    """Three noise levels; a model, a row with published figures only, and a row that is not in the paper."""
    columns = tuple(
        Column(
            name=f"cora-{level:g}", data={"name": "cora"}, corruption=[{"name": "g"}], x=level, series="cora"
        )
        for level in LEVELS
    )
    published = {"cora-0.1": (77.4, 2.5), "cora-0.5": (67.6, 3.3), "cora-100": (60.0, 1.0)}
    rows = (
        Row(name="s2gc", label="S²GC", published={"cora-0.1": (74.0, 10.5)}),
        Row(name="gadc-ii", label="GADC (II)", model="gadc", published=published),
        Row(name="mlp", label="MLP_1 & ε|", model="mlp", companion=True),
    )
    notes = ("New noise in each run.", "Rows by their sums.")
    about = {"name": "gaussian", "title": "Noise", "source": "Table 3", "notes": notes, "runs": 100}
    return Table(**{**about, "columns": columns, "rows": rows, **changes})


def sweep_table():
    """Rows ε = 0 to 3 on one data set."""
    rows = tuple(Row(name=f"gadc-i-eps{eps}", label=f"GADC (I), ε = {eps}", model="gadc") for eps in range(4))
    columns = (Column(name="texas", data={"name": "texas"}),)
    return Table(name="heterophily", title="Sweep", source="Table 7", runs=100, columns=columns, rows=rows)


def summary(row, column, mean=None, std=None, *, paper=(None, None), runs=100, failed=0, table="gaussian"):
    return Summary(
        table=table,
        row=row,
        column=column,
        runs=runs if mean is not None else 0,
        mean=mean,
        std=std,
        paper_mean=paper[0],
        paper_std=paper[1],
        paper_runs=100,
        failed=failed,
    )


def noise_summaries():
    """Even, better, all runs failed, published only, not in the paper with a failed run."""
    return [
        summary("s2gc", "cora-0.1", paper=(74.0, 10.5)),
        summary("gadc-ii", "cora-0.1", 77.2, 2.0, paper=(77.4, 2.5)),
        summary("gadc-ii", "cora-0.5", 71.6, 3.3, paper=(67.6, 3.3)),
        summary("gadc-ii", "cora-100", paper=(60.0, 1.0), failed=2),
        summary("mlp", "cora-0.1", 50.04, 1.0, runs=99, failed=1),
    ]


def sweep_summaries():
    return [
        summary(f"gadc-i-eps{eps}", "texas", 70.0 + eps, 1.0, paper=(71.0, 1.0), table="heterophily")
        for eps in range(4)
    ]
