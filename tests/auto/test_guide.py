"""The page on choosing a variant."""

import re
from pathlib import Path


def test_the_guide_runs(capsys):
    text = (Path(__file__).parents[2] / "docs" / "choosing-a-variant.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    exec("\n".join(blocks), {})
    assert "Picked GADC" in capsys.readouterr().out
