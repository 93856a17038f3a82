"""The package fuse: `pip install --no-build-isolation .`"""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="fuse",
    version="0.1.0",
    packages=["fuse"],
    ext_modules=[CppExtension("fuse._C", ["csrc/kernels.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
