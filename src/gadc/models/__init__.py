"""Models by name, all of one shape: a frozen dataclass of settings with `fit(data, seed=...) -> Fitted`.

    GADC                 GADC
    without the graph    FeatureModel
    without the features LabelPropagation
    graph networks       GCN, GAT, APPNP, GLP, GPRGNN, S2GC, IRLS, NAGphormer
    robust networks      AirGNN, ElasticGNN, EvenNet, GNNGuard, HANG, HANGQuad, RobustGCN, RUNG, SoftMedianGDC
    trained on attacks   AdversarialGPRGNN
    purified graphs      GCNGarnet, GCNJaccard, GCNSVD, ProGNN, StableGCN, SVDPPRGCN, Purified
    in closed form       Ridge, RobustRidge, Student, TrustGate
    made of others       Auto
    during a training    Callback, TrainingState

`make_model(name, **settings)` builds a model by its name in `MODELS`. A new model is one file in this folder
and one line in `MODELS`; the experiments find it by that name. A model of another package is added by
`register`, or by an entry point of the group `gadc.models`.
"""

from __future__ import annotations

from typing import Any

from gadc._base.plugins import Registry
from gadc.models._adversarial_gprgnn import AdversarialGPRGNN
from gadc.models._airgnn import AirGNN
from gadc.models._appnp import APPNP
from gadc.models._elastic import ElasticGNN
from gadc.models._evennet import EvenNet
from gadc.models._feature_model import FeatureModel
from gadc.models._gadc import GADC
from gadc.models._gat import GAT
from gadc.models._gcn import GCN
from gadc.models._gcn_garnet import GCNGarnet
from gadc.models._gcn_jaccard import GCNJaccard
from gadc.models._gcn_svd import GCNSVD
from gadc.models._glp import GLP
from gadc.models._gnnguard import GNNGuard, GuardConv, guard
from gadc.models._gprgnn import GPRGNN
from gadc.models._hang import HANG, HamiltonianFlow
from gadc.models._hang_quad import HANGQuad
from gadc.models._irls import IRLS
from gadc.models._label_propagation import LabelPropagation
from gadc.models._model import Fitted, Model
from gadc.models._nagphormer import NAGphormer
from gadc.models._pro_gnn import ProGNN
from gadc.models._purified import Purified
from gadc.models._ridge import Ridge
from gadc.models._robust_gcn import RobustGCN
from gadc.models._robust_ridge import RobustRidge
from gadc.models._rung import RUNG
from gadc.models._s2gc import S2GC
from gadc.models._soft_median_gdc import SoftMedianConv, SoftMedianGDC, soft_median, weighted_median
from gadc.models._stable import StableGCN
from gadc.models._student import Student
from gadc.models._svd_ppr_gcn import SVDPPRGCN
from gadc.models._training.callbacks import Callback, TrainingState
from gadc.models._trust_gate import TrustGate
from gadc.models.auto import Auto

_BUILTIN: dict[str, type[Model]] = {
    "gadc": GADC,
    "mlp": FeatureModel,
    "gcn": GCN,
    "gat": GAT,
    "appnp": APPNP,
    "glp": GLP,
    "s2gc": S2GC,
    "irls": IRLS,
    "airgnn": AirGNN,
    "nagphormer": NAGphormer,
    "robust-gcn": RobustGCN,
    "gnnguard": GNNGuard,
    "elastic": ElasticGNN,
    "evennet": EvenNet,
    "gprgnn": GPRGNN,
    "adversarial-gprgnn": AdversarialGPRGNN,
    "rung": RUNG,
    "ridge": Ridge,
    "robust-ridge": RobustRidge,
    "student": Student,
    "trust-gate": TrustGate,
    "hang-quad": HANGQuad,
    "hang": HANG,
    "soft-median-gdc": SoftMedianGDC,
    "gcn-jaccard": GCNJaccard,
    "gcn-svd": GCNSVD,
    "gcn-garnet": GCNGarnet,
    "stable": StableGCN,
    "pro-gnn": ProGNN,
    "svd-ppr-gcn": SVDPPRGCN,
    "label-propagation": LabelPropagation,
    "auto": Auto,
}


def _check_model(name: str, model: Any) -> type[Model]:
    if not isinstance(model, type) or not issubclass(model, Model):
        raise TypeError(f"register: model {name!r} must be a subclass of gadc.models.Model, got {model!r}.")
    return model


MODELS = Registry("gadc.models", _BUILTIN, _check_model)


def register(name: str, model: type[Model]) -> type[Model]:
    """Add a model that `make_model`, tables of experiments and all commands then know by its name.

    Args:
        name: Name of the model; not the name of a built-in one. A model that was registered is replaced.
        model: A subclass of `Model`, usually a frozen dataclass of its settings.

    Examples:
        >>> from gadc.models import MODELS, FeatureModel, make_model, register
        >>> class WideModel(FeatureModel):
        ...     "An MLP on the features under another name."
        >>> register("wide", WideModel).__name__
        'WideModel'
        >>> make_model("wide", hidden=512).hidden
        512
        >>> del MODELS["wide"]
    """
    return MODELS.register(name, model)


def make_model(name: str, **settings: Any) -> Model:
    """Build a model by its name.

    Args:
        name: One of the keys of `MODELS`, such as "gadc".
        **settings: Settings of the model; see its class.

    Examples:
        >>> from gadc.models import make_model
        >>> make_model("gadc", variant="IV").variant
        'IV'
    """
    if name not in MODELS:
        raise ValueError(f"make_model: name must be one of {', '.join(MODELS)}, got {name!r}.")
    return MODELS[name](**settings)


__all__ = [
    "APPNP",
    "GADC",
    "GAT",
    "GCN",
    "GCNSVD",
    "GLP",
    "GPRGNN",
    "HANG",
    "IRLS",
    "MODELS",
    "RUNG",
    "S2GC",
    "SVDPPRGCN",
    "AdversarialGPRGNN",
    "AirGNN",
    "Auto",
    "Callback",
    "ElasticGNN",
    "EvenNet",
    "FeatureModel",
    "Fitted",
    "GCNGarnet",
    "GCNJaccard",
    "GNNGuard",
    "GuardConv",
    "HANGQuad",
    "HamiltonianFlow",
    "LabelPropagation",
    "Model",
    "NAGphormer",
    "ProGNN",
    "Purified",
    "Ridge",
    "RobustGCN",
    "RobustRidge",
    "SoftMedianConv",
    "SoftMedianGDC",
    "StableGCN",
    "Student",
    "TrainingState",
    "TrustGate",
    "guard",
    "make_model",
    "register",
    "soft_median",
    "weighted_median",
]
