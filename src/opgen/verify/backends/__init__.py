"""The kinds of tensors whose operators are verified: PyTorch's, and those of packages of target runtime."""

from typing import TypeAlias

from opgen.verify.backends.runtime_backend import RuntimeBackend
from opgen.verify.backends.torch_backend import TorchBackend

# JAX and TVM-FFI call a package of target runtime.
Backend: TypeAlias = TorchBackend | RuntimeBackend
