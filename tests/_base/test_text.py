"""Text of users on a terminal or a page."""

import pytest

from gadc._base.text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ε 中文 🙂 שלום", "plain ε 中文 🙂 שלום"),
        ("line\n\ttab", "line\n\ttab"),
        ("\x1b[2J\x07\r\x00", r"\x1b[2J\x07\r\x00"),
        ("\u202etxt.exe\u2066", r"\u202etxt.exe\u2066"),
        ("\udcff", r"\udcff"),
    ],
)
def test_visible_escapes_what_a_terminal_would_obey(text, shown):
    assert visible(text) == shown
