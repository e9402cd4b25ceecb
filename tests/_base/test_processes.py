"""Processes are started with what they need, and end with their parent."""

import os
import select
import subprocess
import sys
from pathlib import Path

from gadc._base import processes

CODE = """
import os, time
from processes import end_with_parent, process_context  # alone, without the imports of the library

def work():
    end_with_parent()
    os.write(1, b"works\\n")
    time.sleep(100)

if __name__ == "__main__":
    process_context("json").Process(target=work).start()
    time.sleep(100)
"""


def test_a_process_ends_when_its_parent_is_killed(tmp_path):
    (tmp_path / "code.py").write_text(CODE)
    command = [sys.executable, tmp_path / "code.py"]
    found = {**os.environ, "PYTHONPATH": str(Path(processes.__file__).parent)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=found)
    try:
        assert process.stdout.readline() == b"works\n"
        process.kill()
        assert select.select([process.stdout], [], [], 60)[0], "the child outlives its parent"
        assert process.stdout.read() == b""
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
