"""Where files are found, and files that are refused."""

import hashlib
import zipfile

import pytest

from gadc._base.files import cache_folder
from gadc.datasets import ChecksumError, DatasetNotFoundError, load
from gadc.datasets.named._checksums import known
from gadc.datasets.named._sources import Sources
from tests.helpers.planetoid import TINY


@pytest.fixture(autouse=True)
def _tiny(tiny):
    pass


def test_root_is_preferred_to_the_environment(tiny, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("GADC_DATA", str(tmp_path / "other"))
    assert Sources().places == [tmp_path / "other", cache_folder() / "raw"]
    assert Sources(root=tiny).places == [tiny, cache_folder() / "raw"]


def test_files_are_found_in_root_then_cache_then_downloaded(tiny, monkeypatch):
    path = TINY[0]
    content = (tiny / path).read_bytes()
    cached = cache_folder() / "raw" / path
    asked = []

    def download(path, folder, *, progress):
        asked.append(path)
        cached.parent.mkdir(parents=True)
        cached.write_bytes(content)
        return cached

    monkeypatch.setattr("gadc.datasets.named._sources.download", download)
    assert Sources(root=tiny).find(path) == tiny / path
    assert Sources().find(path) is None
    assert Sources().read(path, owner="tiny") == content
    assert Sources().read(path, owner="tiny") == content
    assert asked == [path]
    assert Sources(root=tiny).find(path) == tiny / path


def test_missing_file_error_names_file_places_and_command(tmp_path):
    with pytest.raises(DatasetNotFoundError) as error:
        Sources(root=tmp_path).read(TINY[0], owner="tiny")
    for part in (TINY[0], str(tmp_path), str(cache_folder()), "gadc data get tiny", "no network"):
        assert part in str(error.value)
    assert isinstance(error.value, FileNotFoundError)


@pytest.mark.parametrize("given", ["root", "GADC_DATA"])
def test_missing_data_folder_is_an_error(tmp_path, monkeypatch, given):
    missing = tmp_path / "missing"
    if given == "GADC_DATA":
        monkeypatch.setenv("GADC_DATA", str(missing))
    with pytest.raises(DatasetNotFoundError, match=f"{given} must name a folder"):
        Sources(root=missing if given == "root" else None)


def test_tampered_file_is_refused(tiny):
    file = tiny / TINY[0]
    file.write_bytes(file.read_bytes() + b" ")
    got = hashlib.sha256(file.read_bytes()).hexdigest()
    for use in (
        lambda: Sources(root=tiny).read(TINY[0], owner="tiny"),
        lambda: Sources(root=tiny).peek(TINY[0]),
    ):
        with pytest.raises(ChecksumError) as error:
            use()
        assert (error.value.file, error.value.expected, error.value.got) == (str(file), known()[TINY[0]], got)


def test_damaged_download_is_replaced(tiny, monkeypatch):
    content, cached = (tiny / TINY[0]).read_bytes(), cache_folder() / "raw" / TINY[0]
    cached.parent.mkdir(parents=True)
    cached.write_bytes(content[:10])
    with pytest.raises(DatasetNotFoundError):
        Sources().read(TINY[0], owner="tiny")

    def download(path, folder, *, progress):
        cached.write_bytes(content)
        return cached

    monkeypatch.setattr("gadc.datasets.named._sources.download", download)
    assert Sources().read(TINY[0], owner="tiny") == content


def test_file_without_a_checksum_is_refused(tiny):
    (tiny / "unknown.npz").touch()
    with pytest.raises(ChecksumError, match="none on record"):
        Sources(root=tiny).read("unknown.npz", owner="tiny")


def test_zipped_copy_is_read(tiny, monkeypatch):
    file = tiny / TINY[0]
    content = file.read_bytes()
    file.unlink()
    zipped = file.with_name(f"{file.name}.zip")
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr(file.name, content)
    with pytest.raises(ChecksumError):
        Sources(root=tiny).read(TINY[0], owner="tiny")
    monkeypatch.setitem(known(), f"{TINY[0]}.zip", hashlib.sha256(zipped.read_bytes()).hexdigest())
    assert Sources(root=tiny).read(TINY[0], owner="tiny") == content


def test_a_data_folder_is_enough_without_a_home_folder(tiny, monkeypatch):
    def homeless():
        raise OSError("there is no home folder for a cache; set GADC_CACHE to a folder.")

    for module in ("_sources", "_loading"):
        monkeypatch.setattr(f"gadc.datasets.named.{module}.cache_folder", homeless)
    assert load("tiny", root=tiny).num_nodes > 0
    with pytest.raises(DatasetNotFoundError, match=r"no home folder for a cache; set GADC_CACHE"):
        Sources().read(TINY[0], owner="cora")


def test_a_cache_folder_that_cannot_be_made_is_a_warning(tiny, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "taken" / "cache"))
    with pytest.warns(UserWarning, match="could not be cached"):
        assert load("tiny", root=tiny).num_nodes > 0
    with pytest.raises(DatasetNotFoundError, match="could not be downloaded"):
        Sources().read(TINY[0], owner="cora")
