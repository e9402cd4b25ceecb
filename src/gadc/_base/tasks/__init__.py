"""Work as tasks from file to file, on any `concurrent.futures.Executor`.

The library owns the plan, which says what files make which; the executor owns the workers. Nothing but names
travels between them: a task reads files and writes files, so a task whose files exist need not run again, and
a run that was killed anywhere resumes when it is repeated.

- `Task`, `Stage`: one piece of work with the files it writes, and the pieces that may run side by side
- `run_stages`: run what is missing, stage by stage
- `Progress`: how far a run is
- `open_executor`: processes of this machine, or a Dask cluster
- `write_whole`, `write_array`, `write_arrays`, `write_note`: write a file that appears whole or not at all
- `place_of`, `join_place`, `place_exists`, `local_copy`, `is_remote`, `lock_file`: files here or elsewhere
"""

from gadc._base.tasks._engine import run_stages
from gadc._base.tasks._executors import open_executor
from gadc._base.tasks._places import (
    is_remote,
    join_place,
    local_copy,
    lock_file,
    place_exists,
    place_of,
)
from gadc._base.tasks._progress import Progress
from gadc._base.tasks._task import Stage, Task
from gadc._base.tasks._writing import write_array, write_arrays, write_note, write_whole

__all__ = [
    "Progress",
    "Stage",
    "Task",
    "is_remote",
    "join_place",
    "local_copy",
    "lock_file",
    "open_executor",
    "place_exists",
    "place_of",
    "run_stages",
    "write_array",
    "write_arrays",
    "write_note",
    "write_whole",
]
