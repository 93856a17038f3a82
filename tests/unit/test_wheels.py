"""The metadata provider for wheels: versions and dependencies name the torch of the build, and pip respects them."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from opgen.packaging.torch_wheel import TorchWheel


@pytest.fixture
def torch_2_13(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2.13.1+cu130")
    monkeypatch.chdir(tmp_path)


def metadata(state: str = "wheel", **settings: Any) -> dict[str, Any]:
    provider = TorchWheel()
    provider.build_state(state)
    return provider.dynamic_metadata({"version": "0.1.0", **settings}, {"name": "mylib"})


@pytest.mark.usefixtures("torch_2_13")
@pytest.mark.parametrize("state", ["wheel", "editable", "metadata_wheel", "metadata_editable"])
def test_a_wheel_is_for_the_torch_of_its_build(state: str) -> None:
    assert metadata(state) == {"version": "0.1.0+torch2.13", "dependencies": ["torch==2.13.*"]}


@pytest.mark.usefixtures("torch_2_13")
def test_further_metadata_of_a_package() -> None:
    found = metadata(version="1.0+abc", dependencies=["numpy>=2"])
    assert found == {
        "version": "1.0+abc.torch2.13",
        "dependencies": ["numpy>=2", "torch==2.13.*"],
    }
    assert metadata(local=False)["version"] == "0.1.0"


@pytest.mark.usefixtures("torch_2_13")
def test_an_sdist_fits_every_torch_and_its_wheels_keep_its_version() -> None:
    """Protects `pip install` of an sdist: pip rejects a wheel whose version differs from that in the name of the
    sdist.
    """
    assert metadata("sdist") == {"version": "0.1.0", "dependencies": ["torch"]}
    assert TorchWheel().dynamic_wheel({}) == {"dependencies": True}
    Path("PKG-INFO").touch()
    assert metadata() == {"version": "0.1.0", "dependencies": ["torch==2.13.*"]}


@pytest.mark.usefixtures("torch_2_13")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"version": ""}, "needs the package's version"),
        ({"version": 1}, "needs the package's version"),
        ({"verison": "1"}, "no setting 'verison'"),
        ({"dependencies": "numpy"}, "a list of requirements"),
        ({"local": "no"}, "true or false for 'local'"),
    ],
)
def test_bad_settings(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        metadata(**settings)


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", none)
    with pytest.raises(ValueError, match=r"torch is not installed for .*: the wheel is made for"):
        metadata()


@pytest.mark.slow
def test_pip_takes_the_wheel_of_the_torch_that_it_installs(tmp_path: Path) -> None:
    """Protects the choice of a local version: pip uses it to pick the right one of several wheels of a release."""
    for release in ("2.13", "2.14"):
        make_wheel(tmp_path, "torch", f"{release}.0", [])
        make_wheel(tmp_path, "mylib", f"0.1.0+torch{release}", [f"torch=={release}.*"])
    assert resolved(tmp_path, "mylib") == {"mylib": "0.1.0+torch2.14", "torch": "2.14.0"}
    assert resolved(tmp_path, "mylib", "torch==2.13.*") == {
        "mylib": "0.1.0+torch2.13",
        "torch": "2.13.0",
    }
    with pytest.raises(subprocess.CalledProcessError) as refused:
        resolved(tmp_path, "mylib==0.1.0+torch2.13", "torch==2.14.*")
    assert "conflicting dependencies" in refused.value.stderr


def make_wheel(folder: Path, name: str, version: str, requirements: Sequence[str]) -> None:
    """Make a wheel that contains only its metadata."""
    info = f"{name}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    texts = {
        f"{info}/METADATA": "\n".join([*lines, *(f"Requires-Dist: {r}" for r in requirements), ""]),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},{digest(text)},{len(text)}\n" for path, text in texts.items())
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in {**texts, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            wheel.writestr(path, text)


def digest(text: str) -> str:
    found = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
    return f"sha256={found.decode()}"


def resolved(folder: Path, *requirements: str) -> dict[str, str]:
    """Return the versions that pip would install from `folder`."""
    command = [sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--dry-run"]
    command += ["--ignore-installed", "--no-index", "--find-links", str(folder), "--report", "-"]
    done = subprocess.run([*command, *requirements], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["install"]
    return {one["metadata"]["name"]: one["metadata"]["version"] for one in found}
