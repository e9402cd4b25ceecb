"""Optional packages: the core works without them, and a missing one gives an error that names its extra."""

import subprocess
import sys

import pytest

from gadc._base.extras import require

OPTIONAL = ("matplotlib", "jinja2", "typer", "rich", "networkx")

# None in sys.modules makes an import fail as if the package was not installed. PyTorch and PyTorch Geometric
# import some of these packages themselves, so they are loaded first.
HIDE = f"""
import sys, torch, torch_geometric.data, sklearn.linear_model
for name in {OPTIONAL!r}:
    for loaded in [one for one in sys.modules if one.split(".")[0] == name]:
        del sys.modules[loaded]
    sys.modules[name] = None
"""


CORE = """
import gadc
from gadc import series, theory
from gadc.datasets import csbm
data = csbm(40, seed=0)
gadc.diffuse(data.x, data.edge_index)
gadc.minimize_agsd(data.x, data.edge_index, max_iter=2)
operator = gadc.transition(data.x, data.edge_index, variant="II")
theory.connectivity_factor(operator, lam=1.0, num_steps=2)
gadc.polynomial(operator, data.x, series.appnp(0.1, 4))
from gadc.estimators import GADCClassifier
import numpy as np
A = np.zeros((40, 40)); A[data.edge_index[0], data.edge_index[1]] = 1
GADCClassifier(variant="II").fit(data.x.numpy(), data.y.numpy(), A).predict(data.x.numpy())
print("the core works")
"""
ERRORS = """
from pathlib import Path
from gadc.report._html import fill_template
from gadc.datasets import read_graph
Path("graph.graphml").write_text("<graphml/>")
for use in (lambda: fill_template("page.html.j2"), lambda: read_graph("graph.graphml")):
    try:
        use()
    except ImportError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return what is printed where the optional packages are missing; one process, since imports are slow."""
    done = subprocess.run(
        [sys.executable, "-c", HIDE + CORE + ERRORS],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path_factory.mktemp("without"),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_require_gives_the_module():
    assert require("math", "cli").sqrt(4) == 2


def test_require_names_the_extra_of_a_missing_package():
    with pytest.raises(ImportError, match=r'pip install "gadc\[report\]"'):
        require("a_package_that_nobody_has", "report")


def test_core_works_without_optional_packages(printed):
    assert "the core works" in printed


@pytest.mark.parametrize("extra", ["report", "files"])
def test_missing_package_is_an_error_that_names_the_extra(printed, extra):
    assert f'pip install "gadc[{extra}]"' in printed
