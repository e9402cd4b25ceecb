"""Options that come in bundles."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from gadc.cli._bundles import spread


@dataclass(frozen=True, kw_only=True)
class Size:
    width: Annotated[int, typer.Option("--width", help="Of the box.")] = 1
    height: int = 2


@dataclass(frozen=True, kw_only=True)
class Box(Size):
    colour: str = "red"


def test_the_fields_of_a_bundle_are_options():
    app, called = typer.Typer(), []

    @app.command()
    @spread
    def paint(name: str, box: Box, times: int = 1) -> None:
        """Paint a box."""
        called.append((name, box, times))

    assert CliRunner().invoke(app, ["mine", "--width", "5", "--colour", "blue"]).exit_code == 0
    assert called == [("mine", Box(width=5, height=2, colour="blue"), 1)]
    assert CliRunner().invoke(app, ["mine", "--width", "wide"]).exit_code == 2
    assert CliRunner().invoke(app, ["mine", "--box", "1"]).exit_code == 2
    shown = CliRunner().invoke(app, ["--help"], terminal_width=100).output
    assert "Paint a box." in shown
    assert "Of the box." in shown
