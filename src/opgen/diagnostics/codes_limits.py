"""Codes of the limits that bound the time for any input. No schema file written by people comes near them."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

E0911 = Code(
    "E0911",
    "too many errors",
    "opgen stops after a thousand errors. So many often have one cause: the wrong file, or the wrong tags.yaml. "
    "Fix some, and run it again.",
    None,
)
E0912 = Code(
    "E0912",
    "a file is too large",
    "opgen reads files of up to 10 MB, and YAML values of up to 3 million characters, which is about twice "
    "PyTorch's native_functions.yaml. Each value, each line of a value and each part between commas counts as 20 "
    "more characters, a list or mapping as 80, and an alias as everything that it repeats; comments do not "
    "count. You can pass several files; together they make one library.",
    None,
)
E0913 = Code(
    "E0913",
    "a value is too long",
    "A value in a schema file may have at most 65,536 characters. The longest in PyTorch's file has 492.",
    None,
)

CODES = (E0911, E0912, E0913)
