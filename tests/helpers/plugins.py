"""Fake distributions with entry points, and registries that are restored afterwards."""

from contextlib import contextmanager

from gadc._base import plugins
from gadc.datasets.named._registry import REGISTRY
from gadc.experiments._tables import _PLUGINS as TABLES
from gadc.models import MODELS
from gadc.robustness.attacks import ATTACKS


@contextmanager
def restored_registries(*, reload=False):
    """Undo what the block registers; `reload` lets the registries read entry points once more within it."""
    registries = (MODELS, ATTACKS, REGISTRY, TABLES)
    before = [(one, dict(one._complete()), one._loaded) for one in registries]
    packages = set(plugins._plugin_packages)
    for one in registries:
        one._loaded = not reload
    try:
        yield
    finally:
        for one, entries, loaded in before:
            one._entries, one._loaded = entries, loaded
        plugins._plugin_packages.intersection_update(packages)


def install(folder, module, code, entry_points):
    """Write a module and the metadata that pip would write for it."""
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
