"""The page on choosing a variant."""

import re

from tests.helpers.paths import DOCS


def test_the_guide_runs(capsys):
    text = (DOCS / "how-to/choose-a-variant.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    exec("\n".join(blocks), {})
    assert "Picked " in capsys.readouterr().out
