"""Outputs are checked before any work is done."""

from pathlib import Path

import pytest

from gadc.cli._options import output


@pytest.fixture
def sealed(monkeypatch):
    """Refuse every new file, as a read-only disk does."""

    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(output, "TemporaryFile", refuse)


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "-o", "m.safetensors"),
        ("fit", "-o", "m.safetensors", "--report", "r.html"),
        ("denoise", "-o", "f.csv"),
        ("edges", "-o", "e.csv"),
    ],
)
def test_a_folder_that_cannot_be_written_to_is_noticed_before_reading(run, tmp_path, sealed, words):
    named = [tmp_path / word if "." in word else word for word in words]
    code, _, err = run(*named, "--edges", "no.csv", "--nodes", "no.csv")
    assert code == 2
    assert f"must be in a folder that can be written to: {tmp_path}: Permission denied." in err


def test_the_check_leaves_nothing_behind(tmp_path):
    output.check_file(tmp_path / "new.csv")
    output.check_folder(tmp_path / "not" / "yet")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that refuses new files")
def test_a_real_folder_that_refuses_new_files_is_noticed():
    with pytest.raises(ValueError, match="can be written to: /proc/self"):
        output.check_file(Path("/proc/self/new.csv"))


def test_a_file_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(ValueError, match="--out must be a folder"):
        output.check_folder(tmp_path / "taken" / "more")
