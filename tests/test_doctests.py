"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import inspect

import pytest

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


PUBLIC = ("", ".series", ".theory", ".diffusion", ".transforms", ".models", ".robustness", ".datasets")


@pytest.mark.parametrize(
    "name", [f"gadc{name}" for name in (*PUBLIC, ".estimators", ".lab", ".lab.kinds", ".packed", ".pyg")]
)
def test_every_public_class_and_function_has_an_example(name: str):
    """Exceptions and warnings need none."""
    module = importlib.import_module(name)
    exported = {one: getattr(module, one) for one in module.__all__}
    without = [
        one
        for one, value in exported.items()
        if (inspect.isfunction(value) or inspect.isclass(value))
        and not (inspect.isclass(value) and issubclass(value, BaseException))
        and "Examples:" not in (value.__doc__ or "")
    ]
    assert without == []
