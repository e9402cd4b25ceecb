import sys

import pytest

from gadc._base.deferred import deferred


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose module notes when it is executed, and what it imports."""
    folder = tmp_path / "deferred_example"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "leaf.py").write_text("import sys\nfrom deferred_example import other\nvalue = other.value\n")
    (folder / "other.py").write_text("value = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.startswith("deferred_example")]:
        del sys.modules[name]


def test_module_is_executed_at_first_use(package):
    with deferred():
        from deferred_example import leaf
    assert "deferred_example.other" not in sys.modules
    assert leaf.value == 3
    assert "deferred_example.other" in sys.modules


def test_second_import_does_not_execute_a_module(package):
    with deferred():
        from deferred_example import leaf
    from deferred_example import leaf as again

    assert again is leaf
    assert "deferred_example.other" not in sys.modules


def test_module_that_fails_raises_again(package, tmp_path):
    (tmp_path / "deferred_example" / "wrong.py").write_text("1 / 0\n")
    with deferred():
        from deferred_example import wrong
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            wrong.value  # noqa: B018


def test_imports_after_the_context_are_ordinary(package):
    with deferred():
        pass
    from deferred_example import leaf

    assert "value" in vars(leaf)


def test_module_used_within_the_context_has_ordinary_imports(package):
    with deferred():
        from deferred_example import leaf

        assert leaf.value == 3
        assert "value" in vars(sys.modules["deferred_example.other"])


def test_package_is_executed_before_the_modules_below_it(package, tmp_path):
    (tmp_path / "deferred_example" / "__init__.py").write_text("ready = True\n")
    with deferred():
        import deferred_example
    import deferred_example.other

    assert "ready" in object.__getattribute__(deferred_example, "__dict__")


def test_missing_module_raises_at_once():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), deferred():
        import no_such_module  # noqa: F401
