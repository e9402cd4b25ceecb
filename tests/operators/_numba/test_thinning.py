"""Products with thinned features against dense float64 formulas, and masks against their probability."""

import numpy as np
import pytest
import torch

from gadc.operators._numba.splitmix import scrambled
from gadc.operators._numba.thinning import thinned_product, thinned_transposed

HALF = 32768


def unpacked(mask, n, d):
    """The mask as a matrix of 0 and 1."""
    words = -(-d // 64)
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little").reshape(n, 64 * words)
    return torch.from_numpy(bits[:, :d].astype(np.float64))


@pytest.fixture(params=[1, 2])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("keep", [1, 13107, HALF, 65535])
@pytest.mark.parametrize("columns", [1, 16, 17, 33, 64, 65, 130])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 64), (65, 63), (64, 65), (130, 200)])
def test_both_parts_and_the_transposed_product(n, d, columns, keep):
    generator = torch.Generator().manual_seed(n * d + columns)
    x = torch.randn(n, d, generator=generator)
    weight = torch.randn(d, columns, generator=generator)
    gradient = torch.randn(n, columns, generator=generator)
    product = thinned_product(x, weight, keep=keep, key=7)
    kept = x.double() * unpacked(product.mask, n, d)
    assert torch.allclose(product.kept.double(), kept @ weight.double(), atol=1e-4)
    assert torch.allclose(product.rest.double(), (x.double() - kept) @ weight.double(), atol=1e-4)
    transposed = thinned_transposed(x, product.mask, gradient)
    assert torch.allclose(transposed.double(), kept.T @ gradient.double(), atol=1e-4)


@pytest.mark.parametrize(("n", "d"), [(0, 5), (5, 0)])
def test_nothing_to_multiply(n, d):
    product = thinned_product(torch.zeros(n, d), torch.ones(d, 3), keep=HALF, key=1)
    assert torch.equal(product.kept, torch.zeros(n, 3))
    assert torch.equal(product.rest, torch.zeros(n, 3))
    assert torch.equal(
        thinned_transposed(torch.zeros(n, d), product.mask, torch.ones(n, 3)), torch.zeros(d, 3)
    )


def test_matrices_in_another_order_of_memory():
    x, weight = torch.randn(90, 40).T, torch.randn(7, 90).T
    product = thinned_product(x, weight, keep=HALF, key=1)
    assert torch.allclose(product.kept + product.rest, x @ weight, atol=1e-4)


def test_a_mask_does_not_depend_on_the_number_of_threads_or_the_weights():
    before, masks = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            masks.append(
                thinned_product(torch.ones(300, 100), torch.rand(100, threads), keep=9999, key=5).mask
            )
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(masks[0], masks[1])
    assert np.array_equal(masks[0], masks[2])


@pytest.mark.parametrize("keep", [1, 1000, 13107, 26214, HALF, 40000, 65535])
def test_a_bit_is_set_with_the_stated_probability(keep):
    n, d = 4000, 256
    bits = unpacked(thinned_product(torch.ones(n, d), torch.ones(d, 1), keep=keep, key=3).mask, n, d)
    p = keep / 65536
    assert abs(float(bits.mean()) - p) < 5 * (p * (1 - p) / bits.numel()) ** 0.5


def test_half_of_the_bits_are_the_words_of_the_generator():
    mask = thinned_product(torch.ones(10, 640), torch.ones(640, 1), keep=HALF, key=11).mask
    places = np.arange(100, dtype=np.uint64) * np.uint64(16) + np.uint64(15)
    assert np.array_equal(mask, scrambled(np.uint64(11), places))


def test_keys_give_other_masks():
    masks = [
        thinned_product(torch.ones(64, 64), torch.ones(64, 1), keep=HALF, key=key).mask for key in (1, 2)
    ]
    assert 1800 < int(np.unpackbits((masks[0] ^ masks[1]).view(np.uint8)).sum()) < 2300
