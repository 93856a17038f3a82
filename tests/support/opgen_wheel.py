"""opgen's own wheel and sdist, and environments that import opgen from them."""

from __future__ import annotations

import functools
import os
import shutil
import site
import sys
from pathlib import Path

from support.build import REPOSITORY, cache_folder, locked, run


@functools.cache
def opgen_packages() -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it, without using the network; return both."""
    folder = cache_folder() / f"opgen-wheel-{os.environ.get('PYTEST_XDIST_WORKER', 'one')}"
    with locked(folder.name):
        shutil.rmtree(folder, ignore_errors=True)
        offline = {**os.environ, "PYTHONPATH": "", "PIP_NO_INDEX": "1"}
        run(
            [sys.executable, "-m", "build", "--no-isolation", "-o", folder, REPOSITORY], env=offline
        )
    (sdist,), (wheel,) = folder.glob("opgen-*.tar.gz"), folder.glob("opgen-*.whl")
    return sdist, wheel


def fresh_environment(folder: Path, *packages: Path | str, options: tuple[str, ...] = ()) -> Path:
    """Make an environment in `folder` with `packages` and return its Python; large packages come from the tests'
    environment.

    Its own packages come first. The tests' .pth files, for example of an editable opgen, are not read.
    """
    run([sys.executable, "-m", "venv", folder])
    python = folder / "bin" / "python"
    own = Path(run([python, "-c", "import site; print(site.getsitepackages()[0])"]).strip())
    (own / "tests.pth").write_text("\n".join(site.getsitepackages()))
    clean = {**os.environ, "PYTHONPATH": ""}
    run([python, "-m", "pip", "install", "-q", "--no-deps", *options, *packages], env=clean)
    found = run([python, "-c", "import opgen; print(opgen.__file__)"], env=clean)
    assert found.startswith(str(own)), found
    return python
