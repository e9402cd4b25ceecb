"""Coefficients θ of a graph diffusion Σ_k θ_k T^k X, for `gadc.polynomial`.

    neumann   GADC's own, 1/(λ+1) (λ/(λ+1))^k
    ppr       personalised PageRank
    appnp     APPNP's power iteration
    sgc       T^K alone
    ssgc      S²GC, the mean of the powers
    heat      the heat kernel

Examples:
    >>> from gadc.series import neumann
    >>> neumann(1.0, 3)
    [0.5, 0.25, 0.125, 0.0625]
"""

from gadc.diffusion import appnp, heat, neumann, ppr, sgc, ssgc

__all__ = ["appnp", "heat", "neumann", "ppr", "sgc", "ssgc"]
