"""Option to resume stored work."""

from typing import Annotated

import typer

Resume = Annotated[
    bool,
    typer.Option("--resume/--fresh", help="Resume from stored results, or set them aside and start again."),
]
