"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import gadc
from tests.helpers.paths import ROOT
from tests.helpers.plugins import restored_registries

SOURCE = ROOT / "src"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _module_name(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# By the text of the files, so that collecting the tests imports nothing.
WITH_EXAMPLES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
SLOW = {"gadc.estimators.mlflow._pyfunc"}  # MLflow takes seconds to import


def _modules():
    for name in map(_module_name, WITH_EXAMPLES):
        yield pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())


@pytest.mark.parametrize("name", list(_modules()))
def test_examples_of_a_module_print_what_they_say(name: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    hasattr(module, "executed")  # a test of a command may have imported it without executing it
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    with restored_registries():
        for test in doctest.DocTestFinder().find(module):
            runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "\n".join(report)
    assert runner.tries, "the module has examples that doctest does not find"


PUBLIC = (
    "gadc",
    "gadc.datasets",
    "gadc.datasets.synthetic",
    "gadc.diffusion",
    "gadc.estimators",
    "gadc.estimators.mlflow",
    "gadc.lab",
    "gadc.lab.kinds",
    "gadc.models",
    "gadc.packed",
    "gadc.pyg",
    "gadc.robustness",
    "gadc.robustness.attacks",
    "gadc.robustness.certificates",
    "gadc.robustness.edges",
    "gadc.series",
    "gadc.theory",
    "gadc.transforms",
    "gadc.transforms.noise",
    "gadc.transforms.purification",
)
# Users only receive these; the example of the function that returns them shows them.
RETURNED = {"CalibratedScores": "calibrate_scores", "Votes": "PartVotes"}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_class_and_function_has_an_example(name: str):
    """Exceptions and warnings need none."""
    module = importlib.import_module(name)
    exported = {one: getattr(module, one) for one in module.__all__}
    without = [
        one
        for one, value in exported.items()
        if (inspect.isfunction(value) or inspect.isclass(value))
        and not (inspect.isclass(value) and issubclass(value, BaseException))
        and "Examples:" not in (getattr(module, RETURNED.get(one, one)).__doc__ or "")
    ]
    assert without == []


def test_no_public_module_escapes_the_rule():
    """The parts that the site leaves out of the reference are for the command line and for developers."""
    inside = {"cli", "experiments", "operators", "report"}
    found = {one.name for one in pkgutil.iter_modules(gadc.__path__) if not one.name.startswith("_")}
    assert {f"gadc.{name}" for name in found - inside} <= set(PUBLIC)
