"""Text of users on a terminal or a page."""

from __future__ import annotations

import re

# Control characters but tab and line feed, marks that change the direction of writing, and lone surrogates
# (the bytes of a file name that are not UTF-8, which cannot be written to any file).
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Escape the characters that a terminal or a browser would obey instead of showing them.

    Args:
        text: Text that may hold names from the files of a user.

    Examples:
        >>> visible("red \x1b[31m and reversed \u202e, but not Ελλάδα")
        'red \\x1b[31m and reversed \\u202e, but not Ελλάδα'
    """
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)
