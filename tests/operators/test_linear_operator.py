"""Products, algebra and conversions of operators against their dense matrices."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import VARIANTS
from gadc.operators import Step
from tests.helpers.graphs import Graph, graphs, random_graph

NAMES = list(VARIANTS)


@given(graphs(), st.sampled_from(NAMES), st.integers(0, 4))
def test_product_and_transpose_equal_dense(graph: Graph, variant: str, columns: int):
    T = gadc.transition(*graph.args, variant=variant, norm="rw")
    H = torch.randn(len(graph.x), columns, dtype=torch.float64) if columns else graph.x[:, 0]
    torch.testing.assert_close(T @ H, T.to_dense() @ H)
    torch.testing.assert_close(T.T.to_dense(), T.to_dense().T)


@given(graphs(), st.sampled_from(NAMES))
def test_transpose_is_the_adjoint(graph: Graph, variant: str):
    T = gadc.transition(*graph.args, variant=variant, norm="rw")
    u, v = torch.randn(2, len(graph.x), dtype=torch.float64)
    torch.testing.assert_close((T @ u) @ v, u @ (T.T @ v))


@pytest.mark.parametrize("variant", ["plain", "II"])
@pytest.mark.parametrize("differentiated", [False, True])
def test_step_equals_separate_operations(variant: str, differentiated: bool):
    T = gadc.transition(*random_graph(8, 12, 3).args, variant=variant)
    H, summand, total = (torch.randn(8, 2, dtype=torch.float64) for _ in range(3))
    expected = 3.0 * (T.to_dense() @ H) - 0.5 * summand
    expected_total = total + 0.25 * expected
    H.requires_grad_(differentiated)
    result = T.apply(H, Step(scale=3.0, plus=[(-0.5, summand)], total=(0.25, total)))
    assert result.requires_grad == differentiated
    torch.testing.assert_close(result.detach(), expected)
    torch.testing.assert_close(total.detach(), expected_total)


def test_global_gram_keeps_no_copy_of_the_features():
    graph = random_graph(8, 12, 3)
    T = gadc.transition(*graph.args, variant="II")
    assert T.left is T.right is graph.x
    for same in (T.detach(), T.to(dtype=torch.float32), 2.0 * T, T.T):
        assert same.left is same.right
    torch.testing.assert_close((-3.0 * T).to_dense(), -3.0 * T.to_dense())
    assert (-3.0 * T).left is graph.x


def test_scale_of_the_low_rank_part_is_differentiable():
    x = random_graph(8, 12, 3).x
    scale = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    T = gadc.transition(x, torch.tensor([[0], [1]]), variant="plain").add_low_rank(x, x, scale=scale)
    assert T.requires_grad
    (slope,) = torch.autograd.grad((T @ x).sum(), scale)
    torch.testing.assert_close(slope, (x @ x.T @ x).sum())


def test_sum_equals_dense_with_and_without_a_common_pattern():
    a = gadc.transition(*random_graph(6, 5, 3, seed=1).args, variant="II")
    b = gadc.transition(*random_graph(6, 7, 3, seed=2).args, variant="II")
    torch.testing.assert_close((a + b).to_dense(), a.to_dense() + b.to_dense())
    torch.testing.assert_close((a - 2.0 * a).to_dense(), -a.to_dense())
    with pytest.raises(ValueError, match="cannot add shapes"):
        a + gadc.transition(*random_graph(5, 5, 3).args, variant="plain")


def test_sum_forgets_bounds_and_symmetry_that_only_one_summand_has():
    T = gadc.transition(*random_graph(6, 5, 3).args, variant="plain")
    assert T.symmetric
    assert T.bounds is not None
    assert (T + T).symmetric
    assert (T + T).bounds is None
    assert not (T + replace(T, symmetric=False)).symmetric


def test_low_rank_parts_add_up():
    T = gadc.transition(*random_graph(6, 5, 3).args, variant="II")
    left, right = torch.randn(2, 6, 1, dtype=torch.float64)
    torch.testing.assert_close(T.add_low_rank(left, right).to_dense(), T.to_dense() + left @ right.T)


def test_to_changes_the_type():
    T = gadc.transition(*random_graph(6, 5, 3).args, variant="II")
    single = T.to(dtype=torch.float32)
    assert single.dtype == single.to_dense().dtype == torch.float32
    torch.testing.assert_close(single.to_dense().double(), T.to_dense(), rtol=1e-6, atol=1e-6)


def test_detached_operator_requires_no_gradient():
    graph = random_graph(6, 5, 3)
    T = gadc.transition(graph.x.requires_grad_(), graph.edge_index, variant="II")
    assert T.requires_grad
    assert not T.detach().requires_grad
    torch.testing.assert_close(T.detach().to_dense(), T.to_dense().detach())


@pytest.mark.parametrize("shape", [(5,), (7, 2), (6, 2, 1), ()])
def test_product_refuses_wrong_shapes(shape: tuple[int, ...]):
    T = gadc.transition(*random_graph(6, 5, 3).args, variant="II")
    with pytest.raises(ValueError, match="needs 6 rows"):
        T @ torch.ones(shape, dtype=torch.float64)


def test_factors_wider_than_the_graph_are_multiplied_out_but_still_differentiable():
    graph = random_graph(6, 8, 20)
    T = gadc.transition(*graph.args, variant="II")
    assert T.left.shape == (6, 20)
    H = torch.randn(6, 3, dtype=torch.float64)
    torch.testing.assert_close(T @ H, T.to_dense() @ H)
    torch.testing.assert_close(T @ H[:, 0], T.to_dense() @ H[:, 0])
    graph.x.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: gadc.transition(x, graph.edge_index, variant="II") @ H, (graph.x,)
    )


def test_product_refuses_other_types():
    operator = gadc.transition(torch.eye(3), torch.tensor([[0], [1]]), variant="plain")
    with pytest.raises(TypeError, match=r"the operand must be torch\.float32, the type of T, got torch\.fl"):
        operator @ torch.eye(3, dtype=torch.float64)
