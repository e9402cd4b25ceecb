"""Values on disk: found again, never lost to a cut line, and never taken for values of something else."""

import pytest

from gadc._base.json_lines import JsonLines


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.jsonl"


def lines(path, graph="a"):
    return JsonLines(path, "example", {"graph": graph}, owner="Example")


def test_values_are_found_again_and_the_last_one_counts(path):
    first = lines(path)
    first.add("one", [0.1, None])
    first.add("two", {"a": 1})
    first.add("two", {"a": 2})
    again = lines(path)
    assert len(again) == 2
    assert again.get("one") == [0.1, None]
    assert again.get("two") == {"a": 2}
    assert again.get("three") is None


@pytest.mark.parametrize("cut", ['{"key": "half', "[1, 2", '{"key": "other", "val": 1}'])
def test_a_line_that_is_no_entry_is_ignored_and_swallows_nothing(path, cut):
    lines(path).add("one", 1)
    path.write_text(path.read_text() + cut)
    lines(path).add("two", 2)
    found = lines(path)
    assert (len(found), found.get("one"), found.get("two")) == (2, 1, 2)


@pytest.mark.parametrize("content", [b"\xff\xfe garbage", b"{}\n", b"a,b\n1,2\n"])
def test_other_files_are_refused_and_kept(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"Example: .*results.jsonl must belong to this example"):
        lines(path)
    assert path.read_bytes() == content


def test_values_of_something_else_are_refused(path):
    lines(path, "a")
    with pytest.raises(ValueError, match="must belong to this example, got another one"):
        lines(path, "b")
