"""The headers of every release of PyTorch that opgen supports, taken from the wheels for macOS, which are small.

They lie in `$OPGEN_TORCH_HEADERS/<version>/torch/include`, or in the cache of the tests; missing ones are
downloaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from support.build import cache_folder, locked

# All releases in the index (`pip index versions torch`), from the oldest one in
# targets/base.py.
RELEASES = ("2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0", "2.12.1", "2.13.0", "2.14.0", "2.14.1")
RELEASES += ("2.15.0",)

_WANTED = ("torch/include/", "torchgen/packaged/ATen/native/")
_PLATFORMS = ("macosx_11_0_arm64", "macosx_12_0_arm64", "macosx_14_0_arm64")


def headers_of(version: str) -> Path:
    """Return the folder with that release's `torch/include` and `torchgen/packaged`; skip the test if they cannot be
    downloaded.
    """
    given = os.environ.get("OPGEN_TORCH_HEADERS")
    folder = (Path(given) if given else cache_folder() / "torch-headers") / version
    with locked(f"torch-headers-{version}"):
        if not (folder / "torch" / "include").is_dir():
            _download(version, folder)
    return folder


def _download(version: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as wheels:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels]
        command += ["--python-version", "3.11", "--only-binary=:all:"]
        command += [word for platform in _PLATFORMS for word in ("--platform", platform)]
        done = subprocess.run(
            [*command, f"torch=={version}"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"no wheel of torch {version} can be downloaded: {done.stderr[-300:]}")
        (wheel,) = Path(wheels).glob("torch-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(_WANTED)]
            archive.extractall(folder, names)
