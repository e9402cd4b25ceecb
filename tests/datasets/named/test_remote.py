"""Downloads from a local server, and the addresses of all files."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gadc.datasets import ChecksumError
from gadc.datasets.named import _remote as remote
from gadc.datasets.named._checksums import known
from gadc.datasets.named._registry import REGISTRY

CONTENT = b"published" * 1000
PATH = "folder/file.npz"


class _Handler(BaseHTTPRequestHandler):
    """Send the replies of the server in turn; a short reply ends before its stated length."""

    def do_GET(self):
        body = self.server.replies.pop(0)
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as found:
        threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setattr(remote, "address", lambda path: f"http://127.0.0.1:{found.server_port}/{path}")
        monkeypatch.setitem(known(), PATH, hashlib.sha256(CONTENT).hexdigest())
        yield found
        found.shutdown()


def files(folder):
    return [file for file in folder.rglob("*") if file.is_file()]


def test_download_writes_the_file(server, tmp_path):
    server.replies = [CONTENT]
    assert remote.download(PATH, tmp_path) == tmp_path / PATH
    assert (tmp_path / PATH).read_bytes() == CONTENT


def test_download_of_other_content_is_refused_and_removed(server, tmp_path):
    server.replies = [CONTENT.replace(b"p", b"q")]
    with pytest.raises(ChecksumError, match=known()[PATH]):
        remote.download(PATH, tmp_path)
    assert not files(tmp_path)


def test_interrupted_download_can_be_repeated(server, tmp_path):
    server.replies = [CONTENT[:100], CONTENT]
    with pytest.raises((OSError, ChecksumError)):
        remote.download(PATH, tmp_path)
    assert not files(tmp_path)
    assert remote.download(PATH, tmp_path).read_bytes() == CONTENT


def test_partial_file_is_replaced(server, tmp_path):
    server.replies = [CONTENT]
    (tmp_path / PATH).parent.mkdir()
    (tmp_path / PATH).write_bytes(CONTENT[:100])
    assert remote.download(PATH, tmp_path).read_bytes() == CONTENT


def test_failed_connection_is_an_os_error_with_the_address(monkeypatch, tmp_path):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(remote, "address", lambda path: "http://127.0.0.1:9/file.npz")
    monkeypatch.setitem(known(), PATH, "0" * 64)
    with pytest.raises(OSError, match=r"ConnectionError at http://127\.0\.0\.1:9/file\.npz"):
        remote.download(PATH, tmp_path)


def test_file_without_an_address_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="no public address"):
        remote.download("metattack/cora_meta_adj_0.5.npz", tmp_path)


def test_files_have_secure_addresses_or_are_known_to_have_none():
    by_hand = ("metattack/", "ogbn_arxiv/", "wordnet/")
    for entry in REGISTRY.values():
        for path in entry.all_files:
            url = remote.address(path)
            if path.startswith(by_hand):
                assert url is None
            else:
                assert url is not None
                assert url.startswith("https://")
                assert url.endswith("/" + path.rpartition("/")[2])
    assert "/texas/" in str(remote.address("webkb/texas/raw/out1_graph_edges.txt"))
    first, later = (
        remote.address(f"{f}/cornell/raw/out1_graph_edges.txt") for f in ("webkb", "webkb_corrected")
    )
    assert first != later


def test_every_file_has_a_checksum_and_every_checksum_a_file():
    used = {path for entry in REGISTRY.values() for path in entry.all_files}
    assert used <= known().keys()
    assert {path for path in known().keys() - used if not path.endswith((".zip", ".x"))} == set()
    assert all(len(digest) == 64 and int(digest, 16) for digest in known().values())
