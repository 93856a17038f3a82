"""The records of what keeps any input within seconds: limits that no schema file of people comes near."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_GOOD = "- func: foo(Tensor self) -> Tensor\n"

E0911 = Code(
    "E0911",
    "too many errors",
    "A thousand errors are enough to begin with, and more are often of one cause: the wrong file, or the "
    "wrong tags.yaml. So opgen looks no further. Mend some, and run it again.",
    _GOOD,
    _GOOD,
)
E0912 = Code(
    "E0912",
    "a file is too large",
    "Files are read up to 10 MB, and of YAML 3 million characters of values: about twice PyTorch's "
    "native_functions.yaml. Each value, each line of one and each part between commas counts for 20 more, "
    "a list or mapping for 80, and an alias for all that it repeats; comments do not count. Give several files: they make one library.",
    _GOOD,
    _GOOD,
)
E0913 = Code(
    "E0913",
    "a text is too long",
    "No value of a schema file has more than 65,536 characters. The longest of PyTorch has 492.",
    _GOOD,
    _GOOD,
)

CODES = (E0911, E0912, E0913)
