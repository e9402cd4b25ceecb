"""Build wheel and sdist, look into the wheel, and try it in a fresh environment, extra by extra.

    python scripts/dist.py           # `make dist`
    python scripts/dist.py --core    # without the extras

One environment is made and grows: the wheel with the core dependencies alone, then each extra in the order of
`EXTRAS`. After each step `pip check` must be content and the part of `scripts/smoke.py` for it must run.
`constraints.txt` sets the versions. The folder is `out/dist`; the two archives stay in `dist`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
DIST, WORK = ROOT / "dist", ROOT / "out" / "dist"
PYTHON = WORK / "venv" / "bin" / "python"
EXTRAS = (
    "cli",
    "files",
    "report",
    "all",
    "database",
    "excel",
    "onnx",
    "mlflow",
    "serve",
    "dask",
    "ogb",
    "bench",
)
CODE = {".py", ".typed", ".toml", ".j2", ".css", ".js"}
CHECKSUMS = "gadc/datasets/named/checksums.txt"  # of the public data sets, not data
SDIST = {
    "src",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "pyproject.toml",
    ".gitignore",
}


def run(*command: str | Path) -> None:
    """Run a command in the work folder, where the sources cannot be imported by accident."""
    subprocess.run([str(word) for word in command], check=True, cwd=WORK)


def foreign_files(names: list[str]) -> list[str]:
    """Return the files of a wheel that belong neither to the package nor to its metadata.

    Tests, results, data sets and pictures are foreign wherever they lie; so is a file of any kind that is
    not listed in `CODE`.
    """

    def belongs(path: PurePosixPath) -> bool:
        if path.parts[0].endswith(".dist-info"):
            return True
        inside = path.parts[0] == "gadc" and not {"tests", "results", "data"} & set(path.parts)
        return inside and (path.suffix in CODE or str(path) == CHECKSUMS)

    return [name for name in names if not belongs(PurePosixPath(name))]


def build() -> Path:
    """Build both archives, check what they hold, and return the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    wheel, sdist = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    if foreign := foreign_files(names):
        sys.exit(f"{wheel.name} holds files that do not belong there: {', '.join(foreign[:10])}")
    with tarfile.open(sdist) as archive:
        tops = {PurePosixPath(name).parts[1] for name in archive.getnames()}
    if tops - SDIST:
        sys.exit(f"{sdist.name} holds files that do not belong there: {', '.join(sorted(tops - SDIST))}")
    for archive, count in (
        (wheel, f"{len(names)} files, no tests, results or data"),
        (sdist, "sources only"),
    ):
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.2f} MB, {count}", flush=True)
    return wheel


def install(what: str) -> None:
    """Install into the fresh environment with the pinned versions."""
    run(PYTHON, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", what)
    run(PYTHON, "-m", "pip", "check")


def main() -> None:
    """Build, check and try."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--core", action="store_true", help="try the core alone, without the extras")
    extras = () if parser.parse_args().core else EXTRAS
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    wheel = build()
    venv.create(WORK / "venv", with_pip=True)
    install(str(wheel))
    run(PYTHON, "-I", ROOT / "scripts" / "smoke.py", "core")
    for extra in extras:
        install(f"{wheel}[{extra}]")
        run(PYTHON, "-I", ROOT / "scripts" / "smoke.py", extra)
    print(f"{wheel.name} works: the core alone{', then ' + ', '.join(extras) if extras else ''}.")


if __name__ == "__main__":
    main()
