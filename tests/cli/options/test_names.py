from gadc.cli._options import names
from gadc.datasets.tables._problems import REPAIRS
from gadc.diffusion import VARIANTS
from gadc.lab import KINDS
from gadc.robustness.attacks import ATTACKS
from gadc.robustness.auditing._metrics import METRICS
from gadc.robustness.edges import SCORES
from gadc.transforms import NOISES


def test_names_in_help_are_the_registered_ones():
    assert tuple(ATTACKS) == names.ATTACKS
    assert tuple(KINDS) == names.KINDS
    assert tuple(METRICS) == names.METRICS
    assert tuple(NOISES) == names.NOISES
    assert tuple(REPAIRS) == names.REPAIRS
    assert tuple(SCORES) == names.SCORES
    assert tuple(VARIANTS) == names.VARIANTS
