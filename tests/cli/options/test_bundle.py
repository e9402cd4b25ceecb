"""Options that come in bundles."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from gadc.cli._options.bundle import expand_bundles


@dataclass(frozen=True, kw_only=True)
class Size:
    width: Annotated[int, typer.Option("--width", help="Width of the box.")] = 1
    height: int = 2


@dataclass(frozen=True, kw_only=True)
class Box(Size):
    owner: Annotated[str, typer.Option("--owner")]
    colour: str = "red"


def test_the_fields_of_a_bundle_become_options():
    app, called = typer.Typer(), []

    @app.command()
    @expand_bundles
    def paint(name: str, box: Box, times: int = 1) -> None:
        """Paint a box."""
        called.append((name, box, times))

    def run(*args):
        return CliRunner().invoke(app, args).exit_code

    assert run("mine", "--width", "5", "--colour", "blue", "--owner", "me") == 0
    assert called == [("mine", Box(width=5, height=2, colour="blue", owner="me"), 1)]
    assert run("mine", "--width", "wide", "--owner", "me") == 2
    assert run("mine", "--box", "1", "--owner", "me") == 2
    assert run("mine") == 2  # a field without a default is a required option
    shown = CliRunner().invoke(app, ["--help"], terminal_width=100).output
    assert "Paint a box." in shown
    assert "Width of the box." in shown


def test_an_option_without_a_value_keeps_its_name():
    """Python 3.10 hides the option of a parameter whose default is None from those who ask for type hints."""
    app, called = typer.Typer(), []

    @app.command()
    @expand_bundles
    def paint(
        box: Box, out: Annotated[str | None, typer.Option("-o", "--out", help="File to write.")] = None
    ) -> None:
        """Paint a box."""
        called.append(out)

    assert CliRunner().invoke(app, ["--owner", "me", "-o", "box.png"]).exit_code == 0
    assert called == ["box.png"]
