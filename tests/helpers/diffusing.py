"""One diffusion with a known result, for tests that run it in other threads and processes.

It imports little, since every new process imports it again.
"""

import numpy as np
import torch

import gadc


def diffused(variant: str) -> np.ndarray:
    """Diffuse the features of one random graph; large enough for the compiled products."""
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(400, 64, generator=generator)
    edges = torch.randint(0, 400, (2, 40_000), generator=generator)
    return gadc.diffuse(x, edges, variant=variant, lam=2.0, num_steps=4, check_convergence=False).numpy()
