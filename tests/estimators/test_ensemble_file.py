"""Models of "auto" on disk: every kind of candidate comes back, and hostile files are refused."""

import numpy as np
import pytest

from gadc._base import persistence
from gadc.estimators import GADCClassifier
from gadc.models.auto import Ensemble
from gadc.models.auto.candidates import (
    Alone,
    Anchored,
    Boosting,
    Diffused,
    Hops,
    Labels,
    Propagated,
    Smoothed,
    Student,
)
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view

DATA = easy_graph(80)
X = DATA.x.numpy()
PLAIN = Diffused(variant="plain", num_steps=2)
EVERY = [
    Alone(),
    Alone(head="mlp", hidden=8),
    Boosting(num_hops=1),
    PLAIN,
    Hops(num_hops=1, labels=True, hidden=4),
    Propagated(hidden=8),
    Labels(lam=8.0, num_steps=4),
    Smoothed(base=Alone()),
    Student(teacher=PLAIN, hidden=8),
    Anchored(),
    Smoothed(base=Boosting()),
    Smoothed(base=Anchored()),
]


@pytest.fixture(scope="module")
def ensemble():
    view, nodes = make_view(DATA), make_nodes(DATA, epochs=3)
    readers = [one.fit(view, nodes) for one in EVERY]
    return Ensemble(view.features, EVERY, readers, [1 / len(EVERY)] * len(EVERY), temperature=1.5).eval()


@pytest.fixture
def model(ensemble):
    found = GADCClassifier(variant="II", epochs=2, random_state=0).fit_data(DATA)
    found.variant, found.ensemble_, found.head_ = "auto", ensemble, ensemble
    return found


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_every_kind_of_candidate_comes_back(model, path):
    loaded = GADCClassifier.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    other = np.eye(20, k=1)
    np.testing.assert_array_equal(
        loaded.predict_proba(X[:20], adjacency=other), model.predict_proba(X[:20], adjacency=other)
    )


def test_another_graph_is_read_without_the_known_labels(model):
    own = model.predict_proba_data(DATA)
    fewer = DATA.clone()
    fewer.edge_index = DATA.edge_index[:, :-2]
    assert np.abs(model.predict_proba_data(fewer) - own).max() > 1e-4


def _candidate(number, **changes):
    def edit(ensemble, arrays):
        ensemble["candidates"][number].update(changes)

    return edit


def _nested(ensemble, arrays):
    one = ensemble["candidates"][0]
    for _ in range(50):
        one = {"kind": "smoothed", "base": one}
    ensemble["candidates"][7] = one


def _set(name, value):
    def edit(ensemble, arrays):
        ensemble[name] = value

    return edit


def _feature(name, value):
    def edit(ensemble, arrays):
        ensemble["features"][name] = value

    return edit


def _array(name, change):
    def edit(ensemble, arrays):
        arrays[name] = change(arrays[name])

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (_candidate(3, num_steps=10**9), "num_steps must be at most 100,000"),
        (_candidate(4, num_hops=10**4), "num_hops of a candidate must be at most 100"),
        (_candidate(4, hidden=10**9), "wider than the stored arrays"),
        (_candidate(1, hidden=10**9), "wider than the stored arrays"),
        (_candidate(1, hidden="wide"), "hidden must be a number"),
        (_candidate(3, lam=float("inf")), "lam must be finite"),
        (_candidate(3, lam="strong"), "valid model"),
        (_candidate(4, operators=["plain"] * 1000), "operators must be at most"),
        (_candidate(4, operators=["magic"]), "operators must be one of"),
        (_candidate(6, balance="yes"), "balance must be of type bool"),
        (_candidate(0, kind="oracle"), "kind must be one of"),
        (_candidate(0, colour="red"), "valid model"),
        (_candidate(8, teacher=3), "candidate must be of type dict"),
        (_candidate(9, trust=2.0), "trust must lie in [0, 1]"),
        (_candidate(9, trust="much"), "trust must be a number"),
        (_nested, "nested so deeply"),
        (_set("shares", [1.0]), "one per candidate"),
        (_set("shares", 3), "shares must be of type list"),
        (_set("temperature", 0.0), "temperature must be finite and > 0"),
        (_set("directed", "yes"), "directed must be of type bool"),
        (_feature("width", 10**12), "must read 6 features"),
        (_feature("num_features", 7), "must read 6 features"),
        (_feature("standardize", 1), "standardize must be of type bool"),
        (_array("head.readers.6.known", lambda one: one + 7), "class numbers below 2"),
        (_array("head.readers.0.head.layers.0.weight", lambda one: one * np.nan), "finite numbers"),
        (_array("head.readers.9.smoothed.beliefs.nodes", lambda one: one - 99), "whole numbers >= 0"),
        (_array("head.readers.9.smoothed.beliefs.rows", lambda one: one[:3]), "do not fit together"),
        (_array("head.readers.9.smoothed.beliefs.weight", lambda one: one[:, :1]), "do not fit together"),
        (_array("head.readers.2.left", lambda one: one * 0), "the arrays must hold trees"),
    ],
)
def test_hostile_files_are_refused_in_one_sentence(path, edit, message):
    settings, arrays = persistence.read(path, "GADCClassifier")
    edit(settings["ensemble"], arrays)
    persistence.write(path, "GADCClassifier", settings, arrays)
    with pytest.raises(ValueError, match="does not hold a valid model") as caught:
        GADCClassifier.load(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
