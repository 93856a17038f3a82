"""The package fuse: `pip install --no-build-isolation .`"""

import subprocess
from pathlib import Path

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

here = Path(__file__).parent.resolve()
opgen = subprocess.check_output(["opgen", "--torch-include-dir"], text=True).strip()
folders = [str(here), str(here / "generated/include"), opgen]
sources = ["csrc/kernels.cpp", *sorted(str(p) for p in Path("generated/src").glob("*.cpp"))]

setup(
    name="fuse",
    version="0.1.0",
    packages=["fuse"],
    ext_modules=[CppExtension("fuse._C", sources, include_dirs=folders)],
    cmdclass={"build_ext": BuildExtension},
)
