"""The guide to attacks runs."""

import re

from tests.helpers.paths import DOCS

GUIDE = (DOCS / "how-to/attacks.md").read_text()


def test_attack_guide_runs_and_lowers_the_accuracy(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    names = {}
    exec("\n".join(blocks), names)
    clean, evasion = (float(line.split()[1]) for line in capsys.readouterr().out.splitlines()[:2])
    assert evasion < clean
    assert names["grown"].num_nodes == 155
