"""NAGphormer: a node is the sequence of its hop-aggregated features, and a transformer reads it.

J. Chen, Gao, G. Li and He, "NAGphormer: A Tokenized Graph Transformer for Node Classification in Large
Graphs", ICLR 2023.

    tokens t_k = rows of Â^k [X ‖ U], k = 0..K,    U the Laplacian eigenvectors 2..p+1
    z = t W,    then L times    z += drop(attention(LN z)),    z += drop(FFN(LN z)),    then LN
    r = z_0 + Σ_{k>=1} a_k z_k,    a = softmax_k(w · [z_0 ‖ z_k])
    Z = W₂ ReLU(W₁ r)

The tokens are computed once, and an epoch only visits the labelled nodes. Training uses AdamW with a learning
rate that rises for some steps and then falls. Gradients reach the edge weights through the powers; U is
treated as a constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention
from torch_geometric.data import Data

from gadc._base.scalars import check_choice, check_count, check_number
from gadc.diffusion import Plain
from gadc.diffusion._graph import adjacency
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.models._model import Fitted
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import train
from gadc.operators import LinearOperator

DENSE = 64  # nodes up to which all eigenvectors are computed


@dataclass(frozen=True, kw_only=True)
class NAGphormer(GraphModel):
    """A transformer over hops.

    Args:
        num_steps: Number K of hops (default 3).
        powers: "normalized" takes powers of Â, "raw" of A, as the published scripts do (default
            "normalized").
        eigenvectors: Number p of eigenvectors; the published scripts use 0 (default 3).
        num_layers: Number L of transformer blocks (default 1).
        heads: Number of attention heads, a divisor of `hidden` (default 8).
        attention_dropout: Probability of dropout on the attention; `dropout` acts on what each half
            of a block adds (default 0.1).
        lr: Peak of the learning rate (default 0.001).
        end_lr: Final learning rate (default 0.0001).
        warmup: Number of steps in which the learning rate rises (default 400).
        decay_until: Step from which the learning rate stays at `end_lr` (default 1000).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import NAGphormer
        >>> NAGphormer(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    num_steps: int = 3
    powers: str = "normalized"
    eigenvectors: int = 3
    num_layers: int = 1
    heads: int = 8
    attention_dropout: float = 0.1
    hidden: int = 512
    dropout: float = 0.1
    lr: float = 0.001
    end_lr: float = 1e-4
    warmup: int = 400
    decay_until: int = 1000
    weight_decay: float = 1e-5
    epochs: int = 2000
    selection: str = "val-ranked"
    patience: int | None = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("NAGphormer", self.num_steps, "num_steps", low=1)
        check_choice("NAGphormer", self.powers, "powers", ("normalized", "raw"))
        for name in ("eigenvectors", "warmup"):
            check_count("NAGphormer", getattr(self, name), name)
        check_count("NAGphormer", self.decay_until, "decay_until", low=self.warmup + 1)
        check_count("NAGphormer", self.num_layers, "num_layers", low=1)
        check_count("NAGphormer", self.heads, "heads", low=1)
        check_number("NAGphormer", self.end_lr, "end_lr")
        if self.hidden % self.heads:
            raise ValueError(f"NAGphormer: heads must divide hidden = {self.hidden}, got {self.heads}.")
        if not 0 <= self.attention_dropout < 1:
            raise ValueError(
                f"NAGphormer: attention_dropout must lie in [0, 1), got {self.attention_dropout!r}."
            )

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the transformer `tokens (rows, K+1, in_features) -> scores`."""
        return _Transformer(in_features, num_classes, self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return Â or A."""
        if self.powers == "raw":
            return adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="NAGphormer")
        return Plain()(x, edge_index, edge_weight)

    def tokens(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the tokens, shape (n, K+1, d+p), differentiable in `x` and `edge_weight`."""
        power = self._features(x)
        graph = self.graph(power, edge_index, edge_weight)
        if self.eigenvectors > 0:
            loopless = Plain(self_loops=0.0)(power, edge_index, edge_weight)
            power = torch.cat([power, laplacian_eigenvectors(loopless, self.eigenvectors)], 1)
        hops = [power]
        for _ in range(self.num_steps):
            hops.append(graph @ hops[-1])
        return torch.stack(hops, 1)

    def rate(self, step: int) -> float:
        """Return the factor of `lr` in a step, counted from 0."""
        step, end = step + 1, self.end_lr / self.lr
        if step <= self.warmup:
            return step / self.warmup
        fallen = min((step - self.warmup) / (self.decay_until - self.warmup), 1.0)
        return end + (1 - end) * (1 - fallen)

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Compute the tokens once, then train on the labelled nodes."""
        with torch.no_grad():
            tokens = self.tokens(data.x, data.edge_index, data.edge_weight)
        train_tokens, val_tokens = tokens[data.train_mask], tokens[data.val_mask]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = self.build(tokens.shape[2], int(data.y.max()) + 1).to(tokens.dtype)
            trained = train(
                module,
                lambda: module(train_tokens),
                lambda: module(val_tokens),
                data.y[data.train_mask],
                data.y[data.val_mask],
                self._training(),
                optimizer_type=torch.optim.AdamW,
                schedule=self.rate,
                callbacks=callbacks,
            )

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            out: Tensor = module(self.tokens(x, edge_index, edge_weight))
            return out

        with torch.no_grad():  # in blocks of rows: all rows at once need much more memory than training
            logits = torch.cat([module(rows) for rows in torch.split(tokens, 2000)])
        return Fitted(logits, trained, module, scores)


def laplacian_eigenvectors(graph: LinearOperator, count: int) -> Tensor:
    """Return eigenvectors 2..count+1 of I - P by rising eigenvalue, each with its largest entry positive."""
    n = graph.shape[0]
    pattern = graph.pattern
    arrays = [part.detach().cpu().numpy() for part in (graph.values, pattern.cols, pattern.row_ptr)]
    matrix = scipy.sparse.csr_matrix((arrays[0].astype(np.float64), *arrays[1:]), shape=graph.shape)
    if n <= max(DENSE, count + 2):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        start = np.random.default_rng(0).normal(size=n)
        values, vectors = scipy.sparse.linalg.eigsh(matrix, k=count + 1, which="LA", v0=start)
    vectors = vectors[:, np.argsort(-values)][:, 1 : count + 1]
    vectors = np.pad(vectors, ((0, 0), (0, count - vectors.shape[1])))  # a tiny graph has fewer
    peaks = vectors[np.abs(vectors).argmax(0), np.arange(count)]
    signed = vectors * np.where(peaks < 0, -1.0, 1.0)
    return torch.from_numpy(signed).to(graph.device, graph.dtype)


class _Transformer(nn.Module):
    def __init__(self, in_features: int, num_classes: int, settings: NAGphormer) -> None:
        super().__init__()
        hidden = settings.hidden
        self.embed = nn.Linear(in_features, hidden)
        self.blocks = nn.ModuleList(_Block(settings) for _ in range(settings.num_layers))
        self.norm = nn.LayerNorm(hidden)
        self.attend = nn.Linear(2 * hidden, 1)
        self.first, self.second = nn.Linear(hidden, hidden // 2), nn.Linear(hidden // 2, num_classes)
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.normal_(part.weight, std=0.02 / math.sqrt(settings.num_layers))
                nn.init.zeros_(part.bias)

    def forward(self, tokens: Tensor) -> Tensor:
        z = self.embed(tokens)
        for block in self.blocks:
            z = block(z)
        return self.read_out(self.norm(z))

    def read_out(self, z: Tensor) -> Tensor:
        node, hops = z[:, :1], z[:, 1:]
        attention = self.attend(torch.cat([node.expand_as(hops), hops], 2)).softmax(1)
        summary = node.squeeze(1) + (attention * hops).sum(1)
        scores: Tensor = self.second(torch.relu(self.first(summary)))
        return scores


class _Block(nn.Module):
    def __init__(self, settings: NAGphormer) -> None:
        super().__init__()
        hidden = settings.hidden
        self.norm, self.inner_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.queries, self.mix = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.widen, self.narrow = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)
        self.heads, self.dropout = settings.heads, settings.dropout
        self.attention_dropout = settings.attention_dropout

    def forward(self, z: Tensor) -> Tensor:
        z = z + self._drop(self._attention(self.norm(z)))
        return z + self._drop(self.narrow(gelu(self.widen(self.inner_norm(z)))))

    def _attention(self, z: Tensor) -> Tensor:
        rows, length, hidden = z.shape
        parts = self.queries(z).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        chance = self.attention_dropout if self.training else 0.0
        out = scaled_dot_product_attention(parts[0], parts[1], parts[2], dropout_p=chance)
        mixed: Tensor = self.mix(out.transpose(1, 2).reshape(rows, length, hidden))
        return mixed

    def _drop(self, z: Tensor) -> Tensor:
        return drop(z, self.dropout, training=self.training)
