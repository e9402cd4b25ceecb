"""One small use of an installed gadc per extra: `python -I smoke.py core`, `... cli`, and so on.

`scripts/dist.py` runs it in a fresh environment. It imports nothing from the repository; the extra `serve`
runs `examples/serve.py`, which lies beside this folder.
"""

from __future__ import annotations

import importlib.util
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import polars as pl

import gadc
from gadc.datasets import csbm, from_database, from_tables, read_graph, write_tables

ROOT = Path(__file__).resolve().parents[1]
ABSENT = ("typer", "rich", "matplotlib", "duckdb", "fastexcel", "onnx", "fastapi", "distributed", "pytest")
SHEET = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>"""
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORKBOOK = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType='
    '"application/vnd.openxmlformats-package.relationships+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{KIND}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    f'xmlns:r="{KIND}"><sheets><sheet name="edges" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": "<Relationships xmlns="
    '"http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{KIND}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}


def _command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", "-m", "gadc", *words], capture_output=True, text=True)


def _expect(true: bool, what: str) -> None:
    if not true:
        sys.exit(f"smoke: {what}")


def core() -> str:
    """Diffuse, denoise exactly, learn, read tables and score edges; no optional package is installed."""
    present = [name for name in ABSENT if importlib.util.find_spec(name)]
    _expect(not present, f"the core alone must not install {', '.join(present)}")
    data = csbm(60, seed=0)
    F = gadc.diffuse(data.x, data.edge_index)
    _expect(bool(F.isfinite().all()), "F must be finite")
    _expect(gadc.minimize_agsd(data.x, data.edge_index, lam=4.0).converged, "AGSD must converge")
    model = gadc.GADCClassifier(variant="II", epochs=20, random_state=0).fit_data(data)
    model.save("model.safetensors")
    again = gadc.GADCClassifier.load("model.safetensors")
    _expect(again.predict_data(data).shape == (60,), "a stored model must predict")
    write_tables(data, "edges.csv", "nodes.csv")
    table = gadc.suspicious_edges(from_tables("edges.csv", "nodes.csv", label="label"))
    done = _command("--version")
    _expect(done.returncode != 0 and "gadc[cli]" in done.stderr, "`gadc` must name the extra it needs")
    return f"a model, a series and a table of {table.height} edges, without optional packages"


def cli() -> str:
    """Run a command."""
    done = _command("denoise", "--edges", "edges.csv", "--nodes", "nodes.csv", "-o", "features.parquet")
    _expect(done.returncode == 0, done.stderr)
    return f"gadc denoise wrote {pl.read_parquet('features.parquet').shape}"


def files() -> str:
    """Read a GraphML file."""
    import networkx as nx

    nx.write_graphml(nx.path_graph(4), "graph.graphml")
    return f"GraphML with {read_graph('graph.graphml').num_nodes} nodes"


def report() -> str:
    """Write an HTML page with plots."""
    done = _command("demo", "--out", "demo.html")
    _expect(done.returncode == 0, done.stderr)
    return f"gadc demo wrote {Path('demo.html').stat().st_size // 1000} kB of HTML"


def everything() -> str:
    """Write the page of `gadc check`, which needs all three extras of `all`."""
    done = _command("check", "--edges", "edges.csv", "--nodes", "nodes.csv", "--report", "check.html")
    _expect(done.returncode in (0, 3), done.stderr)
    return f"gadc check wrote {Path('check.html').stat().st_size // 1000} kB of HTML"


def database() -> str:
    """Read a graph from a DuckDB file."""
    import connectorx  # noqa: F401
    import duckdb

    with duckdb.connect("people.duckdb") as base:
        base.execute("create table person as select 1 as id, 31 as age union select 2, 27")
    data = from_database("people.duckdb", "select 1 as source, 2 as target", "select * from person")
    return f"DuckDB with {data.num_nodes} nodes"


def excel() -> str:
    """Read a sheet of edges."""
    rows = [("source", "target"), ("a", "b"), ("b", "c")]
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
    body = "".join(f"<row>{''.join(cell.format(name) for name in row)}</row>" for row in rows)
    with zipfile.ZipFile("edges.xlsx", "w") as book:
        for name, text in {**WORKBOOK, "xl/worksheets/sheet1.xml": SHEET.format(body)}.items():
            book.writestr(name, text)
    nodes = pl.DataFrame({"id": ["a", "b", "c"], "size": [1.0, 2.0, 3.0]})
    return f"sheet with {from_tables('edges.xlsx', nodes).num_edges} directed edges"


def onnx() -> str:
    """Export a head and let onnxruntime answer."""
    import onnxruntime

    from gadc.estimators import export_onnx

    model = gadc.GADCClassifier.load("model.safetensors")
    export_onnx(model, "head.onnx")
    session = onnxruntime.InferenceSession("head.onnx", providers=["CPUExecutionProvider"])
    rows = np.zeros((5, session.get_inputs()[0].shape[1]), dtype=np.float32)
    return f"ONNX head answered {session.run(None, {'features': rows})[0].shape}"


def mlflow() -> str:
    """Save a model for MLflow."""
    from gadc.estimators.mlflow import save_model

    save_model(gadc.GADCClassifier.load("model.safetensors"), "mlflow-model")
    return f"MLflow model of {len(list(Path('mlflow-model').rglob('*')))} files"


def serve() -> str:
    """Ask the example server for a node."""
    from fastapi.testclient import TestClient

    make_app = runpy.run_path(str(ROOT / "examples" / "serve.py"))["make_app"]
    data, model = csbm(60, seed=0), gadc.GADCClassifier.load("model.safetensors")
    app = make_app(model, gadc.diffuse(data.x, data.edge_index), range(60))
    answer = TestClient(app).get("/nodes/7").json()
    return f"the server answered class {answer['class']}"


def dask() -> str:
    """Diffuse from file to file with an executor of Dask."""
    from distributed import Client

    from gadc.diffusion import diffuse_on_disk

    data = csbm(60, seed=0)
    T = gadc.transition(data.x, data.edge_index, variant="II")
    with Client(processes=False, dashboard_address=None, n_workers=1) as client:
        F = diffuse_on_disk(T, data.x.numpy(), [0.5, 0.5], "F.npy", executor=client.get_executor())
    return f"Dask diffused {F.shape}"


def ogb() -> str:
    """Import the loader; its data set has to be downloaded."""
    import ogb

    return f"ogb {ogb.__version__} imported, nothing downloaded"


def bench() -> str:
    """Import the libraries that benchmarks compare with."""
    import cleanlab
    import sknetwork

    return f"scikit-network {sknetwork.__version__} and cleanlab {cleanlab.__version__} imported"


PARTS = {"all": everything} | {
    part.__name__: part
    for part in (core, cli, files, report, database, excel, onnx, mlflow, serve, dask, ogb, bench)
}

if __name__ == "__main__":
    name = sys.argv[1]
    print(f"smoke {name}: {PARTS[name]()}", flush=True)
