"""Results without a run."""

from gadc.experiments import Result
from gadc.experiments._fingerprint import fingerprint


def made_result(run: int = 0, **changes) -> Result:
    """A successful run of row "gadc" in column "cora"; any field may be changed."""
    settings = changes.get("settings", {"model": "gadc"})
    values = {
        "table": "table",
        "row": "gadc",
        "column": "cora",
        "settings": settings,
        "settings_hash": fingerprint(settings),
        "versions": {"gadc": "0.1.0"},
        "test": 80.0 + run,
    }
    return Result(run=run, **(values | changes))
