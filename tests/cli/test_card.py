"""`gadc card`: the facts of a model file as Markdown, safe from hostile names."""

import numpy as np
import pytest

from gadc.cli._pages.card import card_text, escape_markdown
from gadc.estimators import GADCClassifier, GADCRegressor

HOSTILE = "a|b\n<script>*x*</script>"


@pytest.fixture
def model():
    """A fitted classifier of two classes, one of them with a hostile name."""
    x = np.random.default_rng(0).normal(size=(30, 2))
    y = np.array([HOSTILE] * 20 + ["other"] * 10)
    return GADCClassifier(np.roll(np.eye(30), 1, 1), variant="plain", epochs=3, random_state=0).fit(x, y)


def test_card_states_data_settings_and_the_largest_class(model, run, tmp_path):
    model.save(tmp_path / "m.safetensors")
    out = tmp_path / "MODEL.md"
    assert run("card", tmp_path / "m.safetensors", "-o", out)[0] == 0
    text = out.read_text(encoding="utf-8")
    for fact in ("| nodes | 30 |", "| edges | 30 |", "| labelled nodes | 30 |", "| variant | plain |"):
        assert fact in text
    assert "| accuracy | " in text
    assert "| 66.7 % |" in text
    assert "## Limits" in text


def test_names_are_not_read_as_markdown(model):
    text = card_text("m", model)
    assert "<script>" not in text
    assert r"a\|b" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {3}
    assert escape_markdown("# x\n- y") == r"\# x - y"


def test_a_model_no_better_than_the_largest_class_says_so(model):
    model.validation_score_ = 0.9
    assert "not better than" not in card_text("m", model)
    for score in (0.5, float("nan")):
        model.validation_score_ = score
        assert "**It is not better than always naming the largest class.**" in card_text("m", model)


def test_an_existing_file_is_replaced_only_by_force(model, run, tmp_path):
    model.save(tmp_path / "m.safetensors")
    out = tmp_path / "MODEL.md"
    out.write_text("mine")
    code, _, err = run("card", tmp_path / "m.safetensors", "-o", out)
    assert (code, out.read_text()) == (2, "mine")
    assert "--force replaces it" in err
    assert run("card", tmp_path / "m.safetensors", "-o", out, "--force")[0] == 0
    assert out.read_text().startswith("# Model card")
    assert run("card", tmp_path / "m.safetensors")[1] == out.read_text()


def test_a_regressor_has_its_own_figures():
    x = np.random.default_rng(0).normal(size=(30, 2))
    fitted = GADCRegressor(np.roll(np.eye(30), 1, 1), variant="plain").fit(x, x[:, 0])
    text = card_text("m", fitted)
    assert "R² (cross-validated)" in text
    assert "largest class" not in text


def test_sizes_of_classes_survive_the_file_and_damaged_ones_are_refused(model, tmp_path):
    model.save(tmp_path / "m")
    assert GADCClassifier.load(tmp_path / "m").class_sizes_ == [20, 10]
    model.class_sizes_ = [20]
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="class_sizes must have one number per class"):
        GADCClassifier.load(tmp_path / "m")
