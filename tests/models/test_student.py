"""Student: the dense smoother, no edge after training, and the exact gradient through both trainings."""

import pytest
import torch

from gadc.models import Ridge, Student
from gadc.models import _student as student_module
from tests.helpers.through_training import check_gradient_through_training, check_through_training
from tests.helpers.tiny import tiny_data


def _dense(x, taught, smoothing):
    rows = x / x.norm(dim=1, keepdim=True)
    G = torch.exp(-torch.cdist(rows, rows).square() / 2)
    return G @ torch.linalg.inv(G + smoothing * torch.eye(len(x), dtype=x.dtype)) @ taught


def test_student_is_the_dense_smoother_of_its_teacher():
    data = tiny_data(dtype=torch.float64)
    taught = Ridge(neighbors=4, penalty=0.3).fit(data).logits
    fitted = Student(neighbors=4, penalty=0.3, smoothing=0.2).fit(data)
    assert torch.allclose(fitted.logits, _dense(data.x, taught, 0.2))
    assert torch.allclose(fitted.scores(data.x, data.edge_index), fitted.logits)


def test_student_without_smoothing_repeats_its_teacher():
    data = tiny_data(dtype=torch.float64)
    taught = Ridge(neighbors=4, penalty=0.3).fit(data).logits
    assert torch.allclose(
        Student(neighbors=4, penalty=0.3, smoothing=1e-12).fit(data).logits, taught, atol=1e-6
    )


def test_student_of_many_nodes_is_ridge_regression_on_the_scores(monkeypatch):
    data = tiny_data(dtype=torch.float64)
    monkeypatch.setattr(student_module, "MAX_DENSE", 10)
    taught = Ridge(neighbors=4, penalty=0.3).fit(data).logits
    rows = data.x / data.x.norm(dim=1, keepdim=True)
    gram = rows.T @ rows + 0.2 * torch.eye(6, dtype=rows.dtype)
    expected = rows @ torch.linalg.inv(gram) @ rows.T @ taught
    model = Student(neighbors=4, penalty=0.3, smoothing=0.2)
    assert torch.allclose(model.fit(data).logits, expected)
    check_through_training(model)


def test_training_on_a_changed_graph_is_fit_on_it():
    check_through_training(Student(neighbors=4))


def test_gradient_through_both_trainings_is_exact():
    check_gradient_through_training(Student(neighbors=4, penalty=0.3))


def test_settings_are_checked():
    with pytest.raises(ValueError, match="Student: smoothing must"):
        Student(smoothing=0.0)
