"""Models on disk: what is written comes back, and nothing else is taken for a model."""

import json
import os

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file
from scipy import sparse

from gadc._base import persistence
from gadc.estimators import GADCClassifier

QUICK = {"epochs": 10, "lr": 0.1}
RING = sparse.csr_array(np.roll(np.eye(12), 1, axis=1) * 0.5)
X = np.random.RandomState(0).randn(12, 3)
Y = np.array([0, 1, 2] * 2 + [-1] * 6)

LABELS = {
    "int": Y,
    "float": Y.astype(float),
    "words": [None if k < 0 else ["Ünal", "b", "cc"][k] for k in Y],
    "bool": [None if k < 0 else bool(k) for k in Y],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.gadc"


@pytest.fixture
def saved(path):
    GADCClassifier(RING, random_state=0, **QUICK).fit(X, Y).save(path)
    return path


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_round_trip(path, labels, head):
    model = GADCClassifier(
        RING, head=head, hidden=np.int64(5), dropout=0.5, random_state=np.int64(3), **QUICK
    )
    model.fit(X, labels).save(path)
    loaded = GADCClassifier.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(
        loaded.predict_proba(X[:5], adjacency=np.ones((5, 5))),
        model.predict_proba(X[:5], adjacency=np.ones((5, 5))),
    )
    np.testing.assert_array_equal(loaded.transduction_, model.transduction_)
    assert loaded.classes_.dtype == model.classes_.dtype
    before, after = model.get_params(), loaded.get_params()
    assert abs(before.pop("adjacency") - after.pop("adjacency")).max() == 0
    assert before == after
    for name in ("log_loss_", "validation_score_", "epoch_", "scale_", "n_features_in_"):
        np.testing.assert_equal(getattr(loaded, name), getattr(model, name))
    np.testing.assert_array_equal(loaded.fit(X, labels).predict_proba(X), model.predict_proba(X))


def test_round_trip_without_a_graph_and_with_names(path):
    frame = pl.DataFrame(X, schema=["a", "b", "c"], orient="row")
    model = GADCClassifier(random_state=np.random.RandomState(0), **QUICK).fit(frame, Y)
    model.save(path)
    loaded = GADCClassifier.load(path)
    assert loaded.graph_ is None
    assert loaded.random_state is None
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(loaded.predict(frame[:4]), model.predict(frame[:4]))


def test_a_graph_without_edges_and_one_given_to_fit(path):
    GADCClassifier(random_state=0, **QUICK).fit(X, Y, adjacency=np.zeros((12, 12))).save(path)
    loaded = GADCClassifier.load(path)
    assert loaded.adjacency is None
    assert loaded.graph_.num_nodes == 12
    assert loaded.graph_.num_edges == 0


def test_an_existing_file_is_replaced_whole_or_not_at_all(saved, monkeypatch):
    before = saved.read_bytes()

    def full_disk(handle):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="disk full"):
        GADCClassifier(random_state=1, **QUICK).fit(X, Y).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
    monkeypatch.undo()
    GADCClassifier(random_state=1, **QUICK).fit(X, Y).save(saved)
    assert GADCClassifier.load(saved).graph_ is None


@pytest.mark.parametrize("keep", [0, 1, 8, 100, -1])
def test_truncated_files(saved, keep):
    saved.write_bytes(saved.read_bytes()[:keep])
    with pytest.raises(ValueError, match="is no safetensors file, or a truncated one"):
        GADCClassifier.load(saved)


@given(st.data())
def test_no_changed_byte_goes_unnoticed(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("models") / "model"
    persistence.write(path, "Thing", {"a": [1, "é"]}, {"w": np.arange(6.0).reshape(2, 3)})
    content = bytearray(path.read_bytes())
    where = data.draw(st.integers(0, len(content) - 1))
    content[where] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    try:
        settings, arrays = persistence.read(path, "Thing")
    except ValueError:
        return
    # What may still be read is the same content: a change in the recorded gadc version, or a JSON space.
    assert settings == {"a": [1, "é"]}
    np.testing.assert_array_equal(arrays["w"], np.arange(6.0).reshape(2, 3))


def _rewrite(path, *, view=None, **changes):
    """Change entries of the header as another version would have written them, or the type of all arrays."""
    with persistence.safe_open(os.fspath(path), framework="np") as file:
        header = json.loads(file.metadata()["gadc"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if view is not None:
        arrays = {name: array.view(view) for name, array in arrays.items()}
    save_file(arrays, path, metadata={"gadc": json.dumps({**header, **changes})})


def test_the_same_bytes_as_another_type(path):
    persistence.write(path, "Thing", {}, {"w": np.arange(6.0)})
    _rewrite(path, view=np.int64)
    with pytest.raises(ValueError, match="does not match its checksum"):
        persistence.read(path, "Thing")


def test_other_versions_and_kinds(saved):
    _rewrite(saved, format_version=2, gadc_version="9.9")
    with pytest.raises(ValueError, match=r"must have format version 1, got 2 \(written by gadc '9.9'"):
        GADCClassifier.load(saved)
    _rewrite(saved, format_version=1, kind="Tree")
    with pytest.raises(ValueError, match="must hold a GADCClassifier, got 'Tree'"):
        GADCClassifier.load(saved)
    _rewrite(saved, kind="GADCClassifier", settings="{}")
    with pytest.raises(ValueError, match="does not match its checksum"):
        GADCClassifier.load(saved)
    save_file({"a": np.ones(2)}, saved)
    with pytest.raises(ValueError, match="not one of gadc's models"):
        GADCClassifier.load(saved)
    for header, message in [("{", "header is not JSON"), ("[]", "must be a JSON object")]:
        save_file({"a": np.ones(2)}, saved, metadata={"gadc": header})
        with pytest.raises(ValueError, match=message):
            GADCClassifier.load(saved)


def _edit_params(settings, arrays):
    settings["params"]["colour"] = "red"


def _edit_variant(settings, arrays):
    settings["params"]["variant"] = "V"


def _edit_head(settings, arrays):
    arrays["head.layers.0.weight"] = arrays["head.layers.0.weight"][:, 1:]


def _edit_arrays(settings, arrays):
    arrays["extra"] = np.ones(1)


def _edit_classes(settings, arrays):
    settings["classes"]["values"] = [0, 0, 1]


def _edit_nodes(settings, arrays):
    settings["num_nodes"] = 3


def _drop(settings, arrays):
    del settings["classes"]


@pytest.mark.parametrize(
    "edit", [_edit_params, _edit_variant, _edit_head, _edit_arrays, _edit_classes, _edit_nodes, _drop]
)
def test_content_that_does_not_fit_together(saved, edit):
    settings, arrays = persistence.read(saved, "GADCClassifier")
    edit(settings, arrays)
    persistence.write(saved, "GADCClassifier", settings, arrays)
    with pytest.raises(ValueError, match=r"GADCClassifier: .* does not hold a valid model"):
        GADCClassifier.load(saved)


def test_unfitted_and_missing(path):
    with pytest.raises(ValueError, match="not fitted"):
        GADCClassifier().save(path)
    with pytest.raises(FileNotFoundError):
        GADCClassifier.load(path)
    with pytest.raises(TypeError, match="settings must be JSON values, got set"):
        persistence.write(path, "Thing", {"a": {1}}, {})
    assert not path.exists()
