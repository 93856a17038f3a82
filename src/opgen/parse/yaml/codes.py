"""Codes E01xx: errors in a file that opgen finds before it reads the entries."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_GOOD = "- func: foo(Tensor self) -> Tensor\n"
_SCALE = "- func: mine::scale(Tensor self, float by) -> Tensor\n"
_SCALE_OUT = "- func: mine::scale.out(Tensor self, float by, *, Tensor(a!) out) -> Tensor(a!)\n"
_KERNELS = "  kernels:\n  - arg_meta: null\n    kernel_name: mine::{name}\n"

E0101 = Code(
    "E0101",
    "the file is not UTF-8",
    "Schema files are read as UTF-8, with or without a byte order mark. The bytes at this place are "
    "not part of any character of that encoding. Save the file as UTF-8.",
    Example("- func: foo(Tensor self) -> Tensor # \udcff\n", _GOOD),
)
E0102 = Code(
    "E0102",
    "the file is not YAML",
    "The text breaks the rules of YAML, so nothing after this place can be read. Common causes are a "
    "tab used to indent, a quote that is not closed, and a ': ' inside text without quotes.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n\tvariants: function\n",
        "- func: foo(Tensor self) -> Tensor\n  variants: function\n",
    ),
)
E0103 = Code(
    "E0103",
    "a key is written twice",
    "A mapping has each key once. If a key stood twice, one of the two values would be lost without a warning. "
    "Remove one of them. A key that '<<' merges in may be written again; the written value wins.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  variants: function\n  variants: method\n",
        "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
    ),
    ("V001",),
)
E0104 = Code(
    "E0104",
    "the file is not a list",
    "native_functions.yaml is a list of entries, and tags.yaml is a list of tags. Each entry begins with '- '. A "
    "file without operators contains an empty list, '[]'.",
    Example("func: foo(Tensor self) -> Tensor\n", _GOOD),
    ("V002", "V004"),
)
E0105 = Code(
    "E0105",
    "an entry is not a mapping",
    "An entry is a mapping of keys to values. Its first key is 'func' (in tags.yaml: 'tag').",
    Example("- foo(Tensor self) -> Tensor\n", _GOOD),
    ("V005", "C02"),
)
E0106 = Code(
    "E0106",
    "an alias names nothing",
    "'*name' repeats the node that '&name' marks earlier in the same file. Either no node is marked with this "
    "name, or the alias is inside the marked node.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  tags: *t\n",
        "- func: foo(Tensor self) -> Tensor\n  tags: &t [core]\n- func: bar(Tensor self) -> Tensor\n  tags: *t\n",
    ),
)
E0107 = Code(
    "E0107",
    "'<<' cannot merge this",
    "The value of the key '<<' must be a mapping (usually an alias of one) or a list of mappings. Their keys are "
    "added to the mapping that contains '<<', except for keys that it defines itself.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  <<: core\n",
        "- &x\n  func: foo(Tensor self) -> Tensor\n  tags: core\n- <<: *x\n  func: bar(Tensor self) -> Tensor\n",
    ),
    (),
)
E0108 = Code(
    "E0108",
    "a key is not a string",
    "Keys of entries, of dispatch tables and of ufunc tables are names. YAML reads this key as a number, a "
    "boolean, null, a list or a mapping.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    1: foo\n",
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n",
    ),
    ("V037",),
)
E0109 = Code(
    "E0109",
    "an unknown YAML tag",
    "A word that begins with '!' before a value declares the value's type in YAML. Schema files do not need such "
    "tags. To begin a string with '!', put it in quotes.",
    Example("- func: !schema foo(Tensor self) -> Tensor\n", _GOOD),
)
E0110 = Code(
    "E0110",
    "a second document",
    "'---' begins a new YAML document. A schema file is one document, and nothing after the first would be read. "
    "Remove the line, or move the second list to a file of its own.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n---\n- func: bar(Tensor self) -> Tensor\n",
        "- func: foo(Tensor self) -> Tensor\n- func: bar(Tensor self) -> Tensor\n",
    ),
)
E0111 = Code(
    "E0111",
    "a tag without a name or a description",
    "Every entry of tags.yaml has the keys 'tag' (the name) and 'desc' (a sentence that explains the tag). The "
    "name consists of letters, digits and '_'.",
    Example(
        "- tag: pointwise\n",
        "- tag: pointwise\n  desc: Each element depends on the elements at the same place only.\n",
    ),
    ("V003", "C01"),
    file="tags.yaml",
)
E0112 = Code(
    "E0112",
    "nested too deeply",
    "Lists and mappings are nested more than a hundred levels deep. No key of the language needs that. opgen "
    "reads no further in this file.",
    Example("- tags: " + "[" * 100 + "]" * 100 + "\n", _GOOD + "  tags: [core]\n"),
)

E0113 = Code(
    "E0113",
    "a file of another kind",
    "The file was written for another program, or for another option of opgen: a list of kernels for ExecuTorch, "
    "Ascend's operators, derivatives, a file of PyTorch before 2.0, or a backend file where a schema file is "
    "expected (or the other way round). opgen recognises such a file by keys that at least half of its entries "
    "have, and reports nothing else about it.",
    Example(
        _SCALE + _KERNELS.format(name="scale") + _SCALE_OUT + _KERNELS.format(name="scale_out"),
        _SCALE + "  dispatch:\n    CPU: scale\n" + _SCALE_OUT + "  dispatch:\n    CPU: scale_out\n",
    ),
)
E0114 = Code(
    "E0114",
    "a merge key, which torchgen does not support",
    "'<<' copies the keys of another mapping. It is part of YAML 1.1, but torchgen's loader does not support it. "
    "--strict-torchgen reports everything that torchgen would not accept.",
    Example(
        "- &foo\n  func: foo(Tensor self) -> Tensor\n- <<: *foo\n  func: bar(Tensor self) -> Tensor\n",
        "- func: foo(Tensor self) -> Tensor\n- func: bar(Tensor self) -> Tensor\n",
    ),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
