"""The public interface: what `import gadc` gives, what it costs, and that everything else is private."""

import importlib
import pkgutil
import re
import subprocess
import sys

import pytest

import gadc

HEAVY = (
    "torch_geometric",
    "numba",
    "sklearn",
    "polars",
    "matplotlib",
    "networkx",
    "typer",
    "rich",
    "jinja2",
    "pandas",
)
FACES = {"gadc.series", "gadc.theory"}  # the only public modules that are not packages
INTERNAL = {"gadc.operators", "gadc.experiments", "gadc.report", "gadc.cli"}
PUBLIC = set(re.findall(r"^    (gadc\.\w+) ", gadc.__doc__, re.MULTILINE))


def _modules():
    """Every module whose path has no leading underscore, and whether it is a package."""
    found = pkgutil.walk_packages(gadc.__path__, "gadc.")
    return {one.name: one.ispkg for one in found if not re.search(r"\._", one.name)}


def test_importing_gadc_imports_no_heavy_library():
    """PyTorch may import some of them itself."""
    code = (
        "import sys, torch; before = set(sys.modules); import gadc; "
        f"print(*[name for name in {HEAVY!r} if name in sys.modules and name not in before])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_top_level_packages_are_documented_as_public_or_internal():
    assert FACES | {"gadc.diffusion", "gadc.models", "gadc.pyg"} <= PUBLIC
    assert {name for name in _modules() if name.count(".") == 1} == PUBLIC | INTERNAL
    for name in INTERNAL:
        assert f"`{name}`" in gadc.__doc__


def test_modules_that_are_not_packages_are_private():
    assert {name for name, is_package in _modules().items() if not is_package} == FACES


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_module_exports_what_it_lists(name: str):
    module = importlib.import_module(name)
    assert module.__doc__
    assert module.__all__
    assert set(module.__all__) <= set(dir(module))
    for exported in module.__all__:
        assert getattr(module, exported) is not None


def test_every_name_of_gadc_can_be_reached():
    for name in gadc.__all__:
        assert getattr(gadc, name) is not None
        assert name in dir(gadc)
    assert callable(gadc.audit)
    with pytest.raises(AttributeError, match="module 'gadc' has no attribute 'neumann'"):
        _ = gadc.neumann


def test_python_m_gadc_runs_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "gadc", "--version"], capture_output=True, text=True, check=True
    )
    assert gadc.__version__ in result.stdout
