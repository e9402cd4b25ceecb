"""`gadc demo`, run as a user runs it."""

import re
import sys

import pytest

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def short_grid(monkeypatch):
    """Try one pair of λ and K instead of three."""
    monkeypatch.setattr("gadc.cli._demo.GRID", ({"lam": 4.0, "num_steps": 8},))


def test_demo_prints_figures_and_writes_a_report(run_json, tmp_path):
    out = tmp_path / "new" / "demo.html"
    found = run_json("demo", "--runs", "2", "--seed", "5", "--out", out)
    assert found["seeds"] == [5, 6]
    means = {row["method"]: row["mean"] for row in found["figures"]}
    assert list(means) == [
        "MLP (no graph)",
        "plain diffusion (ε = 0)",
        *(f"GADC {variant}" for variant in ("I", "II", "III", "IV")),
    ]
    assert means["MLP (no graph)"] < means["plain diffusion (ε = 0)"] < means["GADC IV"]
    page = out.read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert f"gadc demo --out {out} --runs 2 --seed 5 --json" in page
    for row in found["figures"]:
        assert f"{row['mean']:.1f} ± {row['std']:.1f}" in page
    assert list(out.parent.iterdir()) == [out]


def test_demo_prints_a_table(run, tmp_path):
    code, out, err = run("demo", "--runs", "1", "-o", tmp_path / "demo.html")
    assert code == 0
    assert "GADC IV" in out
    assert "±" not in out  # one seed has no deviation
    assert f"Wrote {tmp_path / 'demo.html'}." in err.replace("\n", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--out", "demo.pdf"), "--out must end in .html or .htm"), (("--runs", "0"), "--runs")],
)
def test_an_invalid_request_is_refused(run, options, message):
    code, _, err = run("demo", *options)
    assert code == 2
    assert message in re.sub(r"\x1b\[[0-9;]*m", "", err)


def test_missing_matplotlib_is_reported_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = run("demo", "-o", tmp_path / "demo.html")
    assert code == 1
    assert "matplotlib is not installed" in err
