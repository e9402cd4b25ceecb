"""Bundles of options: a command names a dataclass instead of a dozen options."""

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def expand_bundles(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter of a command whose type is a dataclass by the fields of this dataclass.

    Typer reads the options of a command from its signature, so each field (annotated as an option) becomes an
    option. The command itself is called with an instance of the dataclass, which completes itself by its
    method `completed` if it has one.
    """
    # Not by `get_type_hints`, which in Python 3.10 hides the option of a parameter whose default is None.
    given_parameters = signature(command, eval_str=True).parameters.values()
    bundles = {
        one.name: one.annotation
        for one in given_parameters
        if is_dataclass(one.annotation) and isinstance(one.annotation, type)
    }
    parameters: list[Parameter] = []
    for parameter in given_parameters:
        if parameter.name in bundles:
            parameters += _fields_of(bundles[parameter.name])
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in bundles.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            if hasattr(kind, "completed") and given.get("name") is None:  # the name of a data set
                given[name] = given[name].completed()
        command(**given)

    del run.__wrapped__
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _fields_of(kind: type[Any]) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    parameters = []
    for field in fields(kind):
        default = Parameter.empty if field.default is MISSING else field.default
        annotation = hints[field.name]
        parameters.append(
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    return parameters
