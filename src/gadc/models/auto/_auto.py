"""The model `auto`: the variant that suits the graph, chosen on validation nodes.

A cheap head ranks all candidates, then the best of each family are trained with the given head. The best
family with the graph, and the features alone, are also trained with an MLP. Test nodes are never looked at.

The variants come from Liu, Chen, Fu, Lin, Zitnik and Wu, "Graph Adversarial Diffusion Convolution", ICML
2024.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.validation import check_choice, check_features
from gadc.models._head_model import HeadModel
from gadc.models._label_propagation import LabelPropagation, log_shares
from gadc.models._model import Fitted
from gadc.models._training.callbacks import Callback
from gadc.models.auto._candidates import FAMILIES
from gadc.models.auto._explain import Choice, make_choice
from gadc.models.auto._facts import measure_facts
from gadc.models.auto._finals import Finals, with_head
from gadc.models.auto._reader import Reader, aggregate, median_norm
from gadc.models.auto._search import Search
from gadc.models.auto._splits import make_splits


@dataclass(frozen=True)
class FittedAuto(Fitted):
    """A trained model with the choice that led to it.

    Attributes:
        choice: The chosen candidate, with explanation and report.
        reader: The model for other graphs: the chosen one, unless that is label propagation.
    """

    choice: Choice
    reader: Reader


@dataclass(frozen=True, kw_only=True)
class Auto(HeadModel):
    """Choose among no graph, every variant and label propagation by their validation accuracy.

    An MLP is tried beside the given head. The row normalisation is chosen as well, so `normalize` has no
    effect.

    Args:
        families: Families to choose from: "none" (the features alone), any of the variants, and "labels"
            (label propagation). All by default; "none" and at least one other are required.
        directed: Take edges as directed, False by default; see `gadc.transition`.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import Auto
        >>> data = csbm(60, num_features=4, homophily=0.95, signal=0.5, seed=0)
        >>> fitted = Auto(families=("none", "plain"), epochs=5).fit(data)
        >>> fitted.choice.picked.family
        'plain'
    """

    lr: float = 0.05
    selection: str = "val-loss"
    families: Sequence[str] = FAMILIES
    directed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for family in self.families:
            check_choice("Auto", family, "families", FAMILIES)
        if "none" not in self.families or len(set(self.families)) < 2:
            raise ValueError(f"Auto: families must be 'none' and at least one other, got {self.families!r}.")

    def fit(
        self,
        data: Data,
        *,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        tell: Callable[[str], None] = lambda message: None,
    ) -> FittedAuto:
        """Choose a candidate, then train it on all training nodes; see `Model.fit`.

        With fewer than 200 validation nodes, the choice is made on further splits of the same sizes.

        Args:
            data: Graph, labels, training and validation masks.
            seed: Seed of the splits and of the heads, 0 by default.
            callbacks: See `Model.fit`.
            tell: Called with a message at the start of each stage; none by default.
        """
        choice = self.choose(data, seed=seed, callbacks=callbacks, tell=tell)
        tell(f"training {choice.reader.words}")
        reader = self._train_reader(choice, data, seed, callbacks)
        if choice.picked.reads_features:
            with torch.no_grad():
                logits = reader.scores(data.x, data.edge_index, data.edge_weight)
            return FittedAuto(logits, reader.trained, reader.module, reader.scores, choice, reader)
        labels = LabelPropagation(lam=choice.picked.lam, num_steps=choice.picked.num_steps).fit(data)

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            return log_shares(labels.scores(x, edge_index, edge_weight))

        return FittedAuto(log_shares(labels.logits), labels.trained, labels.module, scores, choice, reader)

    def choose(
        self,
        data: Data,
        *,
        seed: int = 0,
        callbacks: Sequence[Callback] = (),
        tell: Callable[[str], None] = lambda message: None,
    ) -> Choice:
        """Choose a candidate without training it on all training nodes; the arguments are those of `fit`."""
        has_edges = bool((data.edge_index[0] != data.edge_index[1]).any())
        splits = make_splits(data.y, data.train_mask, data.val_mask, seed=seed) if has_edges else []
        x, edges = check_features("Auto", data.x), (data.edge_index, data.edge_weight)
        facts = measure_facts(x, *edges, data.y, data.train_mask | data.val_mask, seed=seed)
        if not splits:
            return make_choice(facts, [], [], splits=0, nodes=0, head=self.head)
        search = Search(x, *edges, data.y, splits, families=self.families, directed=self.directed, tell=tell)
        trials = search.run()
        finals = Finals(self, search, seed, callbacks)
        return make_choice(
            facts,
            trials,
            finals.run(),
            splits=len(finals.splits),
            nodes=finals.num_validated,
            head=self.head,
            skipped=search.skipped,
        )

    def _train_reader(self, choice: Choice, data: Data, seed: int, callbacks: Sequence[Callback]) -> Reader:
        """Train the chosen candidate that reads features, on all training nodes."""
        with torch.no_grad():
            features = aggregate(
                choice.reader, data.x, data.edge_index, data.edge_weight, directed=self.directed
            )
        scale = median_norm(features)
        settings = with_head(self, choice.reader_head)
        if not bool(data.val_mask.any()):
            settings = replace(settings, selection="last")
        module, trained = settings._fit_head(features / scale, data, seed, callbacks)
        return Reader(choice.reader, choice.reader_head, scale, module, trained, self.directed)
