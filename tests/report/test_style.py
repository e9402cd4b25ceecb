"""The style of all pictures."""

from gadc.report._style import shortened


def test_shortened_cuts_long_names():
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "ab…"
