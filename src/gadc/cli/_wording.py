"""Messages about tables in the words of the command line: options instead of Python arguments."""

import re

_ARGUMENTS = (
    "missing",
    "unknown",
    "categorical",
    "repair",
    "encoding",
    "decimal",
    "separator",
    "weight_scale",
    "until",
)
_SETTING = re.compile(rf'\b({"|".join(_ARGUMENTS)})="([^"]*)"')
_NAMED = re.compile(r"`(features|exclude|weight|time|relation)`")


def name_options(text: str) -> str:
    """Write `missing="mean"` as `--missing mean`, and `features` as `--features`."""
    text = _SETTING.sub(lambda found: f"--{found[1].replace('_', '-')} {_quoted(found[2])}", text)
    text = text.replace("signed=True", "--signed")
    return _NAMED.sub(r"--\1", text)


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[\w.,-]+", value) else f"'{value}'"
