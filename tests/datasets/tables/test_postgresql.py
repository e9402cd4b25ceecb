"""Graphs from queries on a real PostgreSQL server, which is started here."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from gadc.datasets import TableError, from_database

pytestmark = pytest.mark.database
PASSWORD = "s3cret-word"  # noqa: S105 (of a server that lives as long as the test)
TABLES = (
    "create table person (id text, age int, kind text);"
    "insert into person values ('a', 31, 'x'), ('b', null, null), ('c', 45, 'y');"
    "create table paid (who text, whom text, amount numeric(10, 2));"
    "insert into paid values ('a', 'b', 1.5), ('b', 'c', 2.5)"
)


def _binaries() -> Path | None:
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    found = shutil.which("initdb")
    return next(iter(folders), Path(found).parent if found else None)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server in a temporary folder and return its port."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed")
    place = tmp_path_factory.mktemp("server")
    words = []
    if os.geteuid() == 0:  # the server refuses to run as root
        words = ["runuser", "-u", "postgres", "--"]
        for folder in (place, *place.parents[:2]):
            folder.chmod(0o755)
        shutil.chown(place, "postgres")
    (place / "password").write_text(PASSWORD)
    (place / "password").chmod(0o644)

    def call(program, *args):
        subprocess.run(
            [*words, str(binaries / program), *map(str, args)], check=True, stdout=subprocess.DEVNULL
        )

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    call("initdb", "-D", place / "data", "-U", "ann", "-A", "scram-sha-256", "--pwfile", place / "password")
    options = f"-p {port} -k {place} -c listen_addresses=127.0.0.1 -c fsync=off"
    call("pg_ctl", "-D", place / "data", "-o", options, "-l", place / "log", "-w", "start")
    try:
        subprocess.run(
            [
                str(binaries / "psql"),
                f"postgresql://ann:{PASSWORD}@127.0.0.1:{port}/postgres",
                "-q",
                "-c",
                TABLES,
            ],
            check=True,
        )
        yield port
    finally:
        call("pg_ctl", "-D", place / "data", "-m", "immediate", "stop")


def test_a_graph_is_read_from_postgresql(server):
    uri = f"postgresql://ann:{PASSWORD}@127.0.0.1:{server}/postgres"
    edges = "select who, whom, amount::float8 as amount from paid"
    data = from_database(uri, edges, "select * from person", weight="amount", label="kind", missing="mean")
    assert data.node_ids == ["a", "b", "c"]
    assert data.x.flatten().tolist() == [31, 38, 45]
    assert sorted(data.edge_weight.tolist()) == [1.5, 1.5, 2.5, 2.5]
    assert PASSWORD not in str(data.table_report.to_dict())


def test_errors_of_the_server_do_not_show_the_password(server):
    uri = f"postgresql://ann:{PASSWORD}@127.0.0.1:{server}/postgres"
    with pytest.raises(TableError, match='relation "lost" does not exist') as caught:
        from_database(uri, "select * from lost", "select * from person")
    assert PASSWORD not in str(caught.value)
