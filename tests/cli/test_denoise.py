"""`gadc denoise`, run as a user runs it."""

import numpy as np
import polars as pl
import pytest
import torch

from gadc.datasets import company_register, from_tables
from gadc.diffusion import diffuse, row_sums, transition

READERS = {".parquet": pl.read_parquet, ".csv": pl.read_csv, ".feather": pl.read_ipc}


@pytest.fixture
def data(folder):
    return from_tables(folder / "friends.csv", folder / "people.csv", label="trade")


@pytest.mark.parametrize("suffix", READERS)
def test_denoise_keeps_the_names_of_the_columns(run, folder, mine, data, suffix):
    out = folder / f"features{suffix}"
    code, _, err = run("denoise", *mine, "--lam", "4", "--num-steps", "3", "--paper-scale", "-o", out)
    assert code == 0
    assert "label" not in err  # it was named, so there is no note about it
    frame = READERS[suffix](out)
    assert frame.columns == ["person", "arm", "eye", "ear"]
    assert frame["person"].to_list() == data.node_ids
    expected = diffuse(data.x, data.edge_index, lam=4.0, num_steps=3)
    np.testing.assert_allclose(frame.drop("person").to_numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_denoise_passes_its_options_to_the_diffusion(run_json, folder, mine, data):
    out = folder / "f.parquet"
    options = ("--variant", "III", "--eps", "0.5", "--lam", "2", "--num-steps", "5", "--normalize", "l2")
    found = run_json("denoise", *mine, *options, "--rtol", "1e-4", "--paper-scale", "-o", out)
    assert found["settings"]["num_steps"] == 5
    rows = torch.nn.functional.normalize(data.x, dim=1)
    expected = diffuse(rows, data.edge_index, variant="III", eps=0.5, lam=2.0, num_steps=5)
    np.testing.assert_allclose(
        pl.read_parquet(out).drop("person").to_numpy(), expected.numpy(), rtol=1e-2, atol=1e-3
    )


def test_exact_prints_a_certificate(run_json, run, folder, mine):
    out = folder / "f.parquet"
    found = run_json("denoise", *mine, "--exact", "--lam", "2", "-o", out)
    assert found["certificate"]["converged"]
    bound = found["certificate"]["gradient_norm"] / 2  # and a little more, for rounding
    assert bound <= found["certificate"]["error_bound"] < 1.01 * bound
    code, _, err = run("denoise", *mine, "--exact", "--variant", "IV", "-o", out)
    assert code == 2
    assert "has no variants" in err


def test_noise_on_a_named_data_set_depends_on_the_seed(run_json, tmp_path):
    noisy = ("--data", "digits", "--noise", "gaussian-noise", "--level", "0.4")
    files = [tmp_path / f"{i}.parquet" for i in range(3)]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        run_json("denoise", *noisy, "--seed", seed, "--num-steps", "1", "-o", file)
    one, again, other = map(pl.read_parquet, files)
    assert one.equals(again)
    assert not one.equals(other)
    assert one.columns[:2] == ["id", "x0"]


def test_a_divergent_series_prints_one_warning_line(run, folder, mine):
    code, _, err = run("denoise", *mine, "--variant", "IV", "-o", folder / "f.csv")
    assert code == 0
    assert [line for line in err.splitlines() if line.startswith("warning: The diffusion series diverges")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("-o", "f.xlsx"), "must end in one of .parquet, .csv, .feather"),
        (("-o", "missing/f.csv"), "existing folder"),
        (("-o", "taken.csv"), "--out must be a file, got the folder"),
        (("-o", "f.csv", "--variant", "V"), "variant must be one of plain, I, II, III, IV"),
        (("-o", "f.csv", "--data", "digits"), "either --data NAME or a graph of your own"),
        (("-o", "f.csv", "--noise", "edge-removal"), "Use --noise and --level together"),
        (("-o", "f.csv", "--noise", "static", "--level", "1"), "must be one of 'gaussian-noise'"),
        (("-o", "f.csv", "--attack", "metattack"), "require a named data set"),
        (("-o", "f.csv", "--split", "random"), "require a named data set"),
        (("-o", "f.csv", "--features", "arm,leg"), "column 'leg': no such column"),
    ],
)
def test_an_invalid_request_writes_nothing(run, folder, mine, monkeypatch, change, message):
    monkeypatch.chdir(folder)
    (folder / "taken.csv").mkdir()
    before = sorted(folder.iterdir())
    code, out, err = run("denoise", *mine, *change)
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err
    assert sorted(folder.iterdir()) == before


def test_a_graph_without_features_is_refused(run, folder):
    (folder / "bare.csv").write_text("person\n" + "\n".join(f"p{i:02}" for i in range(80)))
    code, _, err = run(
        "denoise", "--edges", folder / "friends.csv", "--nodes", folder / "bare.csv", "-o", folder / "f.csv"
    )
    assert code == 2
    assert "no features" in err


def test_an_interrupted_write_keeps_the_old_file(run, folder, mine, monkeypatch):
    out = folder / "f.parquet"
    out.write_text("of yesterday")
    before = sorted(folder.iterdir())

    def interrupted(frame, path):
        path.write_text("half a ta")
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.DataFrame, "write_parquet", interrupted)
    code, _, _ = run("denoise", *mine, "-o", out)
    assert code != 0
    assert out.read_text() == "of yesterday"
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("variant", ["plain", "I", "II", "III", "IV"])
def test_denoise_keeps_the_units_of_the_table(run, folder, mine, data, variant):
    people = pl.read_csv(folder / "people.csv").with_columns(age=pl.lit(76.0), wage=3e4 + 100 * pl.col("arm"))
    people.write_csv(folder / "people.csv")
    out, settings = folder / "f.parquet", ("--variant", variant, "--lam", "4", "--num-steps", "6")
    for options in ((), ("--standardize",)):
        code, _, err = run("denoise", *mine, *settings, *options, "-o", out)
        assert code == 0, err
        frame = pl.read_parquet(out)
        assert frame.columns == ["person", "arm", "eye", "ear", "age", "wage"]
        np.testing.assert_allclose(frame["age"].to_numpy(), 76, rtol=1e-4)
        assert frame["wage"].is_between(29_000, 31_000).all() or "the weights of S cancel" in err


def test_denoise_divides_by_the_row_sums_of_s(run_json, folder, mine, data):
    out, settings = folder / "f.parquet", {"lam": 4.0, "num_steps": 3}
    assert not run_json("denoise", *mine, "--lam", "4", "--num-steps", "3", "-o", out)["paper_scale"]
    sums = row_sums(transition(data.x, data.edge_index, variant="II"), **settings)
    expected = diffuse(data.x, data.edge_index, **settings) / sums[:, None]
    found = pl.read_parquet(out).drop("person").to_numpy()
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-5)


def test_denoise_sums_the_whole_series(run, run_json, folder, mine, data):
    out = folder / "f.parquet"
    options = ("--variant", "plain", "--lam", "2", "--rtol", "1e-5")
    found = run_json("denoise", *mine, *options, "--num-steps", "converged", "-o", out)
    assert found["settings"]["num_steps"] is None
    whole = pl.read_parquet(out).drop("person").to_numpy()
    run_json("denoise", *mine, *options[:4], "--num-steps", "100", "-o", out)
    np.testing.assert_allclose(whole, pl.read_parquet(out).drop("person").to_numpy(), rtol=1e-4)
    code, _, err = run("denoise", *mine, "--num-steps", "many", "-o", out)
    assert code == 2
    words = " ".join(err.replace("│", " ").split())  # some versions of Typer break the line inside a box
    assert "must be a whole number or converged" in words


def test_signed_weights_push_apart(run, run_json, tmp_path):
    (tmp_path / "e.csv").write_text("source,target,w\na,b,-1\n")
    (tmp_path / "n.csv").write_text("id,x\na,1\nb,1\n")
    words = ("denoise", "--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--weight", "w")
    words = (*words, "--variant", "plain", "--lam", 1, "--num-steps", 1, "-o", tmp_path / "f.csv")
    code, _, err = run(*words)
    assert code == 2
    assert "got '-1' (--signed accepts negative weights)" in err
    run_json(*words, "--signed", "--paper-scale")
    assert pl.read_csv(tmp_path / "f.csv")["x"].to_list() == pytest.approx([0.5, 0.5])  # not (1 + 1/2) / 2
    run_json(*words, "--signed")
    assert pl.read_csv(tmp_path / "f.csv")["x"].to_list() == pytest.approx([2 / 3, 2 / 3])


def test_two_node_tables_keep_their_ids_apart(run_json, tmp_path):
    (tmp_path / "e.csv").write_text("user,item,n\n1,2,1\n2,1,3\n3,1,1\n4,2,1\n")
    (tmp_path / "u.csv").write_text("id,age,kind\n1,30,a\n2,40,b\n3,50,b\n4,35,a\n")
    (tmp_path / "i.csv").write_text("id,price\n1,9\n2,1\n")
    words = (
        "--edges",
        tmp_path / "e.csv",
        "--nodes",
        tmp_path / "u.csv",
        "--right-nodes",
        tmp_path / "i.csv",
    )
    words = (*words, "--label", "kind")
    ids = [f"left:{i}" for i in range(1, 5)] + ["right:1", "right:2"]
    run_json("denoise", *words, "--lam", "0", "--no-standardize", "-o", tmp_path / "f.csv")
    found = pl.read_csv(tmp_path / "f.csv")
    assert found["id"].to_list() == ids
    assert found["price"].to_list() == [0, 0, 0, 0, 9, 1]
    model = tmp_path / "m.safetensors"
    run_json("fit", *words, "--variant", "plain", "--lam", "1", "-o", model)
    run_json("predict", model, *words, "-o", tmp_path / "p.csv")
    assert pl.read_csv(tmp_path / "p.csv")["id"].to_list() == ids
    run_json("edges", *words, "--effects", "0", "-o", tmp_path / "s.csv")
    scored = pl.read_csv(tmp_path / "s.csv").sort("row")
    assert scored["user"].to_list() == ["left:1", "left:2", "left:3", "left:4"]
    assert scored["item"].to_list() == ["right:2", "right:1", "right:1", "right:2"]
    assert scored["n"].to_list() == [1, 3, 1, 1]


def test_two_node_tables_with_ids_in_other_columns(run, run_json, tmp_path):
    (tmp_path / "e.csv").write_text("user,item\n1,2\n2,1\n3,1\n4,2\n")
    (tmp_path / "u.csv").write_text("age,key,kind\n30,1,a\n40,2,b\n50,3,b\n35,4,a\n")
    (tmp_path / "i.csv").write_text("price,sku\n9,1\n1,2\n")
    files = (
        "--edges",
        tmp_path / "e.csv",
        "--nodes",
        tmp_path / "u.csv",
        "--right-nodes",
        tmp_path / "i.csv",
    )
    named = (*files, "--node-id", "key", "--right-id", "sku", "--label", "kind", "--exclude", "age")
    model, out = tmp_path / "m.safetensors", tmp_path / "p.csv"
    run_json("fit", *named, "--directed", "--variant", "plain", "--lam", "1", "-o", model)
    run_json("predict", model, *files, "-o", out)  # the model remembers columns and direction
    assert pl.read_csv(out)["key"].to_list() == [*(f"left:{i}" for i in range(1, 5)), "right:1", "right:2"]
    run_json("denoise", *named, "--lam", "0", "--no-standardize", "-o", out)
    assert pl.read_csv(out).columns == ["key", "is right", "price"]
    code, _, err = run("denoise", *files[:4], "--right-id", "sku", "-o", out)
    assert (code, "--right-id requires a second node table" in err) == (2, True)


@pytest.mark.parametrize("label", [(), ("--label", "sector")])
def test_defaults_suit_tables_whose_columns_have_a_level(run, tmp_path, label):
    """Without a label, sectors are columns, and the units differ; with it, all columns have a mean of 100."""
    company_register(100).write(tmp_path)
    tables = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", *label)
    out = tmp_path / "f.parquet"
    code, _, err = run("denoise", *tables, "-o", out)
    assert code == 0
    assert "the weights of S cancel" not in err
    assert "--no-standardize" in err
    turnover = pl.read_parquet(out)["turnover"]
    assert turnover.is_between(0, 300).all()
    assert run("denoise", *tables, "--no-standardize", "-o", out)[0] == 0
    assert not pl.read_parquet(out)["turnover"].is_between(0, 300).all()
