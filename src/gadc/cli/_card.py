"""`gadc card`: a model card in Markdown from a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gadc._base.deferred import deferred
from gadc._base.files import write_text
from gadc.cli._models import ModelFile, load_any_model
from gadc.cli._options.output import check_file
from gadc.cli._output import say

with deferred():
    from gadc.cli._pages import card as pages


def card(
    model: ModelFile,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Markdown file to write. Default: print the card.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a model card in Markdown from a model file.

    The card says what the model was trained on, its settings, its held-out figures beside the share of the
    largest class, and its limits. It needs no data.

    Example: gadc card model.safetensors -o MODEL.md
    """
    if out is not None:
        check_file(out)
        if out.exists() and not force:
            raise ValueError(f"--out must be a new file, got {str(out)!r}; --force replaces it.")
    text = pages.card_text(model.name, load_any_model(model))
    if out is None:
        return typer.echo(text, nl=False)
    write_text(out, text)
    say(f"Wrote {out}.")
