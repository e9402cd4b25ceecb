"""The hash of settings and the seed of a run: both are the same everywhere and tell things apart."""

from gadc.experiments._fingerprint import derive_seed, fingerprint


def test_derive_seed_is_the_same_everywhere():
    """A golden value: stored results can be repeated only while it holds."""
    assert derive_seed("metattack", "gadc-iv", "cora-0.25", 5) == 1922219947


def test_derive_seed_depends_on_all_parts():
    parts = ("table", "row", "column", 0)
    seeds = [derive_seed(*parts)]
    for place, other in enumerate(("table2", "row2", "column2", 1)):
        seeds.append(derive_seed(*parts[:place], other, *parts[place + 1 :]))
    seeds.append(derive_seed("row", "table", "column", 0))
    seeds.append(derive_seed(*parts, 0))
    assert len(set(seeds)) == len(seeds)


def test_derive_seed_suits_every_generator():
    seeds = [derive_seed("t", run) for run in range(1000)]
    assert len(set(seeds)) == len(seeds)
    assert min(seeds) >= 0
    assert 2**30 < max(seeds) < 2**31


def test_fingerprint_changes_with_any_setting():
    settings = {"model": "gadc", "settings": {"lam": 1.0, "eps": 2}, "corruption": [{"level": 0.1}, {}]}
    others = [
        {**settings, "model": "mlp"},
        {**settings, "settings": {"lam": 1.5, "eps": 2}},
        {**settings, "settings": {"lam": 1.0}},
        {**settings, "settings": {"lam": 1.0, "eps": 2, "norm": "rw"}},
        {**settings, "corruption": [{"level": 0.2}, {}]},
        {**settings, "corruption": [{}, {"level": 0.1}]},
        {**settings, "corruption": []},
    ]
    assert len({fingerprint(content) for content in [settings, *others]}) == 1 + len(others)


def test_fingerprint_does_not_depend_on_the_order_of_keys():
    assert fingerprint({"a": 1, "b": {"c": 2, "d": 3}}) == fingerprint({"b": {"d": 3, "c": 2}, "a": 1})
