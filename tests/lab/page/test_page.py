"""The page as text: what it says, that it is self-contained, and that names cannot break out of it."""

import json
import re
from html import unescape

import numpy as np
import polars as pl
import pytest
import torch
from scipy import sparse

import gadc
from gadc.datasets import csbm
from gadc.lab import KINDS, Findings
from gadc.lab._page import page_html
from tests.helpers.lab_pages import HOSTILE, judged, page_lab


@pytest.fixture(scope="module")
def page():
    return page_html(page_lab())


@pytest.fixture(scope="module")
def hostile():
    return page_html(page_lab(names=HOSTILE, classes=HOSTILE[:3], column=HOSTILE[0]))


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])


def test_summary_has_one_row_per_kind(page):
    table = re.search(r'<table class="cards summary">.*?</table>', page, re.DOTALL)[0]
    assert re.findall(r'data-label="found">(.*?)<', table) == ["12", "0", "3", "1", "0"]
    assert re.findall(r'data-label="expected true">(.*?)<', table) == ["10", "", "2", "", ""]
    assert "12 edges look false." in table
    assert "Not looked for: nobody asked." in table


def test_page_says_what_was_found_in_words(page):
    assert "3 of 5 kinds of issues were found: edge (12), label (3), leak (1)." in page


def test_page_of_a_graph_without_issues_says_so():
    lab = page_lab()
    lab.findings = {"missing_edge": lab.findings["missing_edge"]}
    assert "No issue was found." in page_html(lab)


def test_page_without_kinds_says_so():
    lab = page_lab()
    lab.findings, lab.skipped = {}, {}
    assert "Nothing was looked for." in page_html(lab)


def test_page_names_classes_neighbours_and_features(page):
    panel = re.search(r'<template id="panel-0-0">.*?</template>', page, re.DOTALL)[0]
    for text in ("Probability of a true issue: 100 %", "neighbours of its class", "without this edge", "SD"):
        assert text in panel
    assert 'class="question"' in panel


def test_predictions_at_the_ends_are_compared_with_and_without_the_edge():
    lab = page_lab()
    frame = lab.findings["edge"].frame.head(2)
    lab.findings = {"edge": Findings(frame=frame, summary="")}
    panel = re.search(r'<template id="panel-0-0">.*?</template>', page_html(lab), re.DOTALL)[0]
    assert "predicted class" in panel
    assert panel.count("– without this edge") == 2


def test_effects_of_removal_are_shown_where_they_are_known():
    lab = page_lab()
    frame = lab.findings["edge"].frame.with_columns(effect_source=pl.lit(0.031), effect_target=pl.lit(-0.2))
    lab.findings["edge"] = Findings(frame=frame, summary="")
    page = page_html(lab)
    assert "+3.1 points" in page
    assert "-20.0 points" in page


def test_values_of_a_column_are_compared_between_classes(page):
    assert "Values by class" in re.search(r'<template id="panel-3-0">.*?</template>', page, re.DOTALL)[0]


def test_page_fetches_nothing(page):
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:,)""", page)
    assert not re.search(r"@import|url\(|https?://", page)
    assert "default-src 'none'" in page


def test_page_runs_only_its_own_script(page):
    from base64 import b64encode
    from hashlib import sha256

    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (script,) = scripts
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in page
    assert "innerHTML" not in page


def test_hostile_names_cannot_break_out(hostile, page):
    tags = re.compile(r"<(/?[a-z!][^\s>]*)")
    assert set(tags.findall(hostile)) == set(tags.findall(page))
    assert hostile.count("<script") == page.count("<script") == 2
    assert "\u202e" not in hostile
    assert "\x07" not in hostile
    assert r"reversed \u202e from here" in unescape(hostile)


def test_ids_in_the_data_are_exact(hostile):
    lab = page_lab(names=HOSTILE, classes=HOSTILE[:3], column=HOSTILE[0])
    first = data_of(hostile)["kinds"][0]["items"][0]
    u, v = lab.view.pairs[:, 0]
    assert first["ids"] == [lab.view.ids[int(u)], lab.view.ids[int(v)]]
    assert any(len(one) > 10_000 for item in data_of(hostile)["kinds"][0]["items"] for one in item["ids"])


def test_long_names_are_written_only_for_the_export(hostile):
    shown = hostile.replace(re.search(r'id="data">(.*?)</script>', hostile)[1], "")
    assert "x" * 200 not in shown
    assert "x" * 30 in shown


def test_at_most_fifty_items_of_a_kind_are_shown():
    lab = page_lab()
    u, v = np.triu_indices(20, 1)
    lab.findings = {
        "missing_edge": Findings(
            frame=judged(pl.DataFrame({"source": u, "target": v}), flagged=120), summary=""
        )
    }
    page = page_html(lab)
    assert len(data_of(page)["kinds"][0]["items"]) == 50
    assert "The 50 worst are listed." in page
    assert len(page) < 50 * 15_000


def test_flagged_items_come_before_others():
    lab = page_lab()
    frame = judged(pl.DataFrame({"source": range(4), "target": range(10, 14)}), flagged=0)
    frame = frame.with_columns(is_issue=pl.Series([False, True, False, True]))
    lab.findings["missing_edge"] = Findings(frame=frame, summary="")
    items = data_of(page_html(lab))["kinds"][1]["items"]
    assert [item["flagged"] for item in items] == [True, True, False, False]


def test_decided_items_leave_the_list_but_stay_in_the_export():
    lab = page_lab()
    ids = [lab.view.ids[int(node)] for node in lab.view.pairs[:, 0]]
    unsure = [lab.view.ids[int(node)] for node in lab.view.pairs[:, 1]]
    table = {"kind": ["edge"] * 2, "source": [ids[1], unsure[0]], "target": [ids[0], unsure[1]]}
    table |= {"decision": ["drop", "unsure"], "note": ["no such link", None]}
    kind = data_of(page_html(lab.decide(pl.DataFrame(table))))["kinds"][0]
    assert kind["earlier"] == [[ids, "drop", "no such link"]]
    assert kind["confirmed"] == [1, 1]
    assert len(kind["items"]) == 19
    assert (kind["items"][0]["ids"], kind["items"][0]["decision"]) == (unsure, "unsure")
    assert kind["items"][0]["note"] == ""


def test_notes_of_earlier_decisions_are_kept_and_replaced_with_them():
    lab = page_lab()
    ids = [lab.view.ids[int(node)] for node in lab.view.pairs[:, 0]]
    table = {"kind": ["edge"], "source": ids[:1], "target": ids[1:]}
    lab.decide(pl.DataFrame({**table, "decision": ["unsure"], "note": ["ask Eve"]}))
    assert data_of(page_html(lab))["kinds"][0]["items"][0]["note"] == "ask Eve"
    lab.decide(pl.DataFrame({"kind": ["label"], "id": [str(lab.view.ids[0])], "decision": ["keep"]}))
    assert data_of(page_html(lab))["kinds"][0]["items"][0]["note"] == "ask Eve"
    lab.decide(pl.DataFrame({**table, "decision": ["keep"], "note": ["seen"]}))
    assert data_of(page_html(lab))["kinds"][0]["earlier"] == [[ids, "keep", "seen"]]


def test_page_of_a_kind_of_a_users_own():
    class Odd(type(KINDS["isolated"])):
        name, title, items = "odd<u>", "Odd <u>things</u>", "thing"

    lab = page_lab()
    frame = judged(pl.DataFrame({"thing": ["<i>one</i>", "two"]}), flagged=1, reason="odd <u>")
    lab.findings, lab.kinds = {"odd<u>": Findings(frame=frame, summary="<s>")}, {"odd<u>": Odd()}
    lab.skipped = {}
    page = page_html(lab)
    assert not re.search(r"<(u|s)>|<i>one", page)
    assert data_of(page)["kinds"][0]["items"][0]["ids"] == ["<i>one</i>"]


def test_page_of_a_graph_without_labels_and_features():
    lab = page_lab()
    edges = pl.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3]})
    bare = type(lab)(edges)
    bare.findings = {"edge": Findings(frame=judged(edges, flagged=1), summary="")}
    bare.kinds = {"edge": KINDS["edge"]}
    assert "Features that differ most" not in page_html(bare)


def test_page_of_features_that_are_mostly_zeros():
    data = csbm(60, num_classes=3, num_features=4, mean_degree=6.0, seed=0)
    x = torch.zeros(60, 300)
    x[:, :4] = (data.x > 0).float()
    data.x = x
    lab = gadc.Lab(data)
    assert sparse.issparse(lab.view.features)
    u, v = lab.view.pairs
    differs = (lab.view.features[u] != lab.view.features[v]).sum(1) > 0
    chosen = pl.DataFrame({"source": u[differs][:1], "target": v[differs][:1]})
    lab.findings, lab.kinds = {"edge": Findings(frame=judged(chosen, flagged=1), summary="")}, KINDS
    place = int((lab.view.features[[u[differs][0]]] != lab.view.features[[v[differs][0]]]).indices[0])
    deviation = lab.view.features[:, [place]].toarray().std()
    page = page_html(lab)
    assert "Features that differ most" in page
    assert f"{1 / deviation:.1f} SD" in page
