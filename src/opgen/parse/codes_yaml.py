"""The records of E01xx: what can be wrong with a file before its entries are read."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_GOOD = "- func: foo(Tensor self) -> Tensor\n"
_SCALE = "- func: mine::scale(Tensor self, float by) -> Tensor\n"
_SCALE_OUT = "- func: mine::scale.out(Tensor self, float by, *, Tensor(a!) out) -> Tensor(a!)\n"
_KERNELS = "  kernels:\n  - arg_meta: null\n    kernel_name: mine::{name}\n"

E0101 = Code(
    "E0101",
    "the file is not UTF-8",
    "Schema files are read as UTF-8, with or without a byte order mark. The bytes at this place are "
    "not part of any character of that encoding. Save the file as UTF-8.",
    "- func: foo(Tensor self) -> Tensor # \udcff\n",
    _GOOD,
)
E0102 = Code(
    "E0102",
    "the file is not YAML",
    "The text breaks the rules of YAML, so nothing after this place can be read. Common causes are a "
    "tab used to indent, a quote that is not closed, and a ': ' inside text without quotes.",
    "- func: foo(Tensor self) -> Tensor\n\tvariants: function\n",
    "- func: foo(Tensor self) -> Tensor\n  variants: function\n",
)
E0103 = Code(
    "E0103",
    "a key is written twice",
    "A mapping holds each key once; of two values one would be lost without a word. Remove one of "
    "them. A key that comes in through '<<' may be written again: what is written wins.",
    "- func: foo(Tensor self) -> Tensor\n  variants: function\n  variants: method\n",
    "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
    ("V001",),
)
E0104 = Code(
    "E0104",
    "the file is not a list",
    "native_functions.yaml is a list of entries, and tags.yaml a list of tags: every entry begins with "
    "'- '. A file without operators holds an empty list, '[]'.",
    "func: foo(Tensor self) -> Tensor\n",
    _GOOD,
    ("V002", "V004"),
)
E0105 = Code(
    "E0105",
    "an entry is not a mapping",
    "An entry is a mapping of keys to values, the first of which is 'func' (in tags.yaml: 'tag').",
    "- foo(Tensor self) -> Tensor\n",
    _GOOD,
    ("V005", "C02"),
)
E0106 = Code(
    "E0106",
    "an alias names nothing",
    "'*name' repeats the node that '&name' was put before, earlier in the same file. There is no such "
    "node, or the alias stands inside of it.",
    "- func: foo(Tensor self) -> Tensor\n  tags: *t\n",
    "- func: foo(Tensor self) -> Tensor\n  tags: &t [core]\n- func: bar(Tensor self) -> Tensor\n  tags: *t\n",
)
E0107 = Code(
    "E0107",
    "'<<' cannot merge this",
    "The value of the key '<<' is a mapping, usually an alias of one, or a list of mappings. Their keys "
    "become keys of the mapping it stands in, unless they are written there.",
    "- func: foo(Tensor self) -> Tensor\n  <<: core\n",
    "- &x\n  func: foo(Tensor self) -> Tensor\n  tags: core\n- <<: *x\n  func: bar(Tensor self) -> Tensor\n",
    (),
)
E0108 = Code(
    "E0108",
    "a key is not text",
    "Keys of entries, of dispatch tables and of ufunc tables are names. YAML takes this key for a "
    "number, a truth value, null, a list or a mapping.",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    1: foo\n",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n",
    ("V037",),
)
E0109 = Code(
    "E0109",
    "an unknown YAML tag",
    "A word that begins with '!' before a value tells YAML its type. Schema files need none of them; "
    "if a text is to begin with '!', put it in quotes.",
    "- func: !schema foo(Tensor self) -> Tensor\n",
    _GOOD,
)
E0110 = Code(
    "E0110",
    "a second document",
    "'---' begins a new YAML document. A schema file is one document: what comes after would not be "
    "read. Remove the line, or give the second list a file of its own.",
    "- func: foo(Tensor self) -> Tensor\n---\n- func: bar(Tensor self) -> Tensor\n",
    "- func: foo(Tensor self) -> Tensor\n- func: bar(Tensor self) -> Tensor\n",
)
E0111 = Code(
    "E0111",
    "a tag without a name or a description",
    "Every entry of tags.yaml has the keys 'tag', the name, and 'desc', a sentence that says what it means. "
    "The name consists of letters, digits and '_'.",
    "- tag: pointwise\n",
    "- tag: pointwise\n  desc: Each element depends on the elements at the same place only.\n",
    ("V003", "C01"),
    file="tags.yaml",
)
E0112 = Code(
    "E0112",
    "nested too deeply",
    "Lists and mappings stand inside each other more than a hundred times, and no key of the language has "
    "a value like that. The file is not read any further.",
    "- tags: " + "[" * 100 + "]" * 100 + "\n",
    _GOOD + "  tags: [core]\n",
)

E0113 = Code(
    "E0113",
    "a file of another kind",
    "The file is written for another program, or for another option of opgen: a list of kernels for ExecuTorch, the "
    "operators of Ascend's, MUSA's or MLU's backends, derivatives, a file of PyTorch before 2.0, a backend file where "
    "a schema file is expected or the other way round. What half of its entries have tells so; the notes say what "
    "opgen can do with it. Nothing else is reported about such a file.",
    _SCALE + _KERNELS.format(name="scale") + _SCALE_OUT + _KERNELS.format(name="scale_out"),
    _SCALE + "  dispatch:\n    CPU: scale\n" + _SCALE_OUT + "  dispatch:\n    CPU: scale_out\n",
)
E0114 = Code(
    "E0114",
    "a merge key, which torchgen's loader refuses",
    "'<<' takes over the keys of another mapping. It is part of YAML 1.1, and torchgen's loader does not know it: "
    "--strict-torchgen keeps a file good for PyTorch, so it refuses it.",
    "- &foo\n  func: foo(Tensor self) -> Tensor\n- <<: *foo\n  func: bar(Tensor self) -> Tensor\n",
    "- func: foo(Tensor self) -> Tensor\n- func: bar(Tensor self) -> Tensor\n",
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
