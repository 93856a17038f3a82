"""After an edit of a few entries, opgen may update only the files that depend on them ("an edit made alone") instead
of making the whole tree again ("a whole run"). Both give the same tree."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.io.writer import Tree, write
from opgen.pipeline.editing import edited_tree
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.stamp import Stamp, find_stamp, leave_stamp, read_request
from support.inputs import aten_inputs
from support.pytorch import packaged_native_functions

REPOSITORY = Path(__file__).parents[3]


@dataclass
class Library:
    """A library generated from one file, and the effect of a run after an edit of that file."""

    inputs: Inputs
    folder: Path
    shards: int = 1
    python: bool = False
    text: str = field(init=False)
    files: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.inputs = replace(self.inputs, shards=self.shards, python=self.python)
        self.text = self.inputs.yaml[0].read_text()
        found = Diagnostics()
        tree = build_tree(self.inputs, found)
        assert tree is not None and not len(found), found.errors()
        self.files = dict(tree.files)
        states = write(tree, self.folder, found).states
        leave_stamp(self.folder, read_request(self.inputs, ()), states, "")

    @property
    def stamp(self) -> Stamp:
        found = find_stamp(self.folder, read_request(self.inputs, ()))
        assert found is not None
        return found

    def alone(self, text: str) -> Tree | None:
        """Return the tree after an edit that is made alone."""
        request = read_request(self._edited(text), ())
        stamp = find_stamp(self.folder, request)
        assert stamp is not None
        return edited_tree(request, stamp, self.folder)

    def whole(self, text: str) -> Tree | None:
        """Return the tree after an edit, made by a whole run; None if there are diagnostics."""
        found = Diagnostics()
        tree = build_tree(self._edited(text), found)
        return None if len(found) else tree

    def _edited(self, text: str) -> Inputs:
        (path,) = self.inputs.yaml
        return replace(self.inputs, overlay={path: text.encode()})

    def assert_same(self, text: str) -> Tree | None:
        """Check that the edit made alone, if that is possible, gives the same tree; return it."""
        alone = self.alone(text)
        if alone is not None:
            whole = self.whole(text)
            assert whole is not None
            stay = {path: self.files[path] for path in alone.others if path not in alone.files}
            assert {**stay, **alone.files} == whole.files
            assert all(self.files.get(path) != text for path, text in alone.files.items())
            assert alone.manifest() == whole.manifest()
        return alone


# Edits


def entries_of(text: str) -> list[str]:
    head, *others = re.split(r"^(?=- func: )", text, flags=re.MULTILINE)
    return [head, *others]


Edit = Callable[[list[str], random.Random], None]


def _at(entries: list[str], chance: random.Random) -> int:
    return chance.randrange(1, len(entries))


def _replacing(pattern: str, *others: str) -> Edit:
    """Return an edit that replaces a match of a pattern by one of these, in one entry or in all entries of its name."""

    def edit(entries: list[str], chance: random.Random) -> None:
        found = [i for i, e in enumerate(entries) if i and re.search(pattern, e)]
        if not found:
            return
        at, other = chance.choice(found), chance.choice(others)
        name = _name(entries[at])
        for i in found if chance.random() < 0.7 else [at]:
            if _name(entries[i]) == name:
                place = chance.choice(list(re.finditer(pattern, entries[i])))
                new = place.expand(other)
                entries[i] = entries[i][: place.start()] + new + entries[i][place.end() :]

    return edit


def _name(entry: str) -> str:
    """Return the operator's name without the marks of its variants."""
    found = re.match(r"- func: (?:mine::)?(\w+)", entry)
    return found[1].strip("_") if found else ""


def _line_of_another(entries: list[str], chance: random.Random) -> None:
    """Return a line that another entry has below its schema."""
    lines = entries[_at(entries, chance)].split("\n")[1:]
    at = _at(entries, chance)
    schema, _, below = entries[at].partition("\n")
    entries[at] = f"{schema}\n{chance.choice(lines) if lines else ''}\n{below}"


def _kernel_of_another(entries: list[str], chance: random.Random) -> None:
    kernels = re.findall(r"^    \w+: (\w+)$", "".join(entries), flags=re.MULTILINE)
    _replacing(r"(?m)^(    [\w, ]+: )\w+$", rf"\g<1>{chance.choice(kernels)}")(entries, chance)


def _swapped(entries: list[str], chance: random.Random) -> None:
    a, b = _at(entries, chance), _at(entries, chance)
    entries[a], entries[b] = entries[b], entries[a]


def _removed(entries: list[str], chance: random.Random) -> None:
    del entries[_at(entries, chance)]


def _repeated(entries: list[str], chance: random.Random) -> None:
    entry = entries[_at(entries, chance)]
    entries.insert(
        _at(entries, chance), re.sub(r"func: ([\w:]+)[.\w]*", r"func: \1.more", entry, count=1)
    )


# Most of them give a valid file, and change a few files of the tree.
EDITS: tuple[Edit, ...] = (
    _replacing(r"(int|SymInt) (\w+)=-?\d+", r"\1 \2=7"),
    _replacing(r"bool (\w+)=(True|False)", r"bool \1=True", r"bool \1=False"),
    _replacing(r"(?m)^(    [\w, ]+: )(\w+)$", r"\1\2_new"),
    _replacing(r"(?m)^(    \w+: \w+)$", r"\1\n    QuantizedCPU: quantized_new"),
    _replacing(r"(?m)^    \w+: \w+\n", ""),
    _replacing(r"(?m)^  variants: .*$", "  variants: function, method", "  variants: function"),
    _replacing(r"(?m)^  tags: .*$", "  tags: core", "  tags: pointwise", "  tags: [core, pointwise]"),
    _replacing(r"\Z", "  device_check: NoCheck\n", "  # a word\n", "# another\n", "\n", "  cpp_no_default_args: [dim]\n"),
    _replacing(r"\bint\b", "SymInt", "float", "int?"),
    _replacing(r"Tensor other", "Tensor? other", "Tensor others"),
    _replacing(r"\) ->", ", int new_one=3) ->", ", *, int new_one=3) ->", ", Tensor? new_one=None) ->"),
    _replacing(r"- func: ([\w:]+)", r"- func: \1_copy", r"- func: \1_out", r"- func: \1_", r"- func: \1x"),
    _replacing(r"- func: ([\w:]+)\.(\w+)", r"- func: \1.\2_more", r"- func: \1_\2"),
    _replacing(r"(?m)^  autogen: (.*)$", r"  autogen: \1", ""),
    _replacing(r"(?m)^(  \w+): (.*)$", r"\1: &x \2", r"\1: '\2'", r'\1: "\2\\x02"', "\\1: *x", "---", r"\1: [\2"),
    _replacing(r"(?m)^- func: (.*)$", r"- func: '\1'", r"-  func: \1", r"- func:\n    \1", r"- {func: '\1'}\n- x:"),
    _replacing(r"\A- func: ", "#: Return it.\n- func: ", "# A word.\n#\n# Another.\n- func: ", "#: A\n#:\n#: B\n\n- func: "),
    _replacing(r"(?m)^- func: (.*)$", r"- func: \1\n  doc: Return it.", "- func: \\1\n  doc: \"\""),
    _line_of_another,
    _kernel_of_another,
    _swapped,
    _removed,
    _repeated,
)  # fmt: skip


def edited(text: str, seed: int) -> str:
    """Return `text` after one to three edits."""
    chance = random.Random(seed)
    entries = entries_of(text)
    for _ in range(chance.randint(1, 3)):
        chance.choice(EDITS)(entries, chance)
    return "".join(entries)


# Tests


# Some of the repository's operators: every kind of group, with all members. A run takes a tenth of the time of one with all.
SOME = frozenset(
    [
        "dot",
        "cumsum",
        "tril",
        "zeros",
        "zeros_like",
        "zero",
        "abs",
        "where",
        "add",
        "mul",
        "sum",
        "relu",
        "unbind",
        "unbind_copy",
        "select",
        "select_copy",
        "arange",
        "clone",
        "alias",
        "alias_copy",
        "diagonal",
        "diagonal_copy",
        "max",
        "sort",
        "dropout",
        "_foreach_add",
        "empty",
        "view",
        "view_copy",
        "to",
        "linear",
        "normal",
        "normal_functional",
        "bernoulli",
        "_to_copy",
        "resize",
        "gather",
    ]
)


def _own_entries(whole: bool) -> list[str]:
    """Return the entries of the repository's operators, or of some of them, after the head of the file."""
    head, *entries = entries_of((REPOSITORY / "native_functions.yaml").read_text())
    return [head, *(e for e in entries if whole or _name(e) in SOME)]


def _own(folder: Path, whole: bool) -> Inputs:
    path = folder / "native_functions.yaml"
    path.write_text("".join(_own_entries(whole)))
    return aten_inputs((path,))


def _own_for_torch(folder: Path, whole: bool) -> Inputs:
    """Return the repository's operators in their own namespace, without those that target torch does not support."""
    head = "# opgen: allow(W1001) PyTorch's class Tensor has no methods of others\n\n"
    kept = [e for e in _own_entries(whole) if _name(e) != "add"]
    text = "".join(kept).replace("- func: ", "- func: mine::")
    path = folder / "native_functions.yaml"
    path.write_text(head + text)
    return aten_inputs((path,), target="torch")


def _forms(folder: Path, whole: bool) -> Inputs:
    """Return the same with a head, and with forms that only libraries have."""
    inputs = _own_for_torch(folder, whole)
    (path,) = inputs.yaml
    text = path.read_text().replace("- func: mine::", "- func: ")
    # Methods cause warnings, and no edit is made alone if there are diagnostics.
    text = re.sub(r"(?m)^  variants: .*\n", "", text.partition("\n\n")[2])
    forms = (REPOSITORY / "tests/support/library_forms.yaml").read_text()
    head, *entries = entries_of(forms)
    kept = [e for e in entries if "|" not in e and "loose" not in e]
    # Some forms have the name of an operator, rms_norm.
    taken = {_name(e) for e in kept}
    own = [e for e in entries_of(text) if _name(e) not in taken]
    path.write_text(head.replace("namespace: vf", "namespace: mine") + "".join(kept + own))
    return replace(inputs, namespace=None, name="forms")


def _select(folder: Path, whole: bool) -> Inputs:
    """A selection by name concerns more operators than a few entries, so no edit is made alone."""
    path = folder / "selected.yaml"
    path.write_text("include_all_operators: true\n")
    return replace(_own(folder, whole), select=(path,))


def _backend(folder: Path) -> Inputs:
    """Add a backend's kernel for one operator."""
    path = folder / "backend.yaml"
    path.write_text("backend: XLA\ncpp_namespace: torch_xla\nsupported:\n- dot\n")
    return replace(_own(folder, False), backend_yaml=path)


def _documented(folder: Path, whole: bool) -> Inputs:
    """Return the repository's operators with documentation for some of them."""
    entries = _own_entries(whole)
    for i in range(2, len(entries), 3):
        schema, _, below = entries[i].partition("\n")
        entries[i] = f'{schema}\n  doc: "Compute {_name(entries[i])}.\\n\\nIt is fast."\n{below}'
    path = folder / "native_functions.yaml"
    path.write_text("".join(entries))
    return aten_inputs((path,))


COMMENT = "  # a word\n"
LIBRARIES = {
    "runtime": lambda folder, whole: Library(_own(folder, whole), folder / "out"),
    "python": lambda folder, whole: Library(
        _own(folder, whole), folder / "out", shards=3, python=True
    ),
    "documented": lambda folder, whole: Library(
        _documented(folder, whole), folder / "out", python=True
    ),
    "torch": lambda folder, whole: Library(_own_for_torch(folder, whole), folder / "out"),
    "forms": lambda folder, whole: Library(_forms(folder, whole), folder / "out"),
    "select": lambda folder, whole: Library(_select(folder, whole), folder / "out", python=True),
}


@pytest.fixture(
    scope="module",
    params=[
        *(pytest.param((name, False), id=name) for name in LIBRARIES),
        *(
            pytest.param((name, True), id=f"all, {name}", marks=pytest.mark.slow)
            for name in LIBRARIES
        ),
    ],
)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A library of some of our operators; slowly, of all."""
    name, whole = request.param
    return LIBRARIES[name](tmp_path_factory.mktemp("editing"), whole)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("dot", r"\btensor\b", "other"),
        ("dot", r": dot$", ": dot_kernel"),
        ("cumsum", r"tags: core", "tags: pointwise"),
        ("tril", r"diagonal=0", "diagonal=1"),
        ("dot", r"\Z", COMMENT),
    ],
    ids=["argument", "kernel", "tag", "default", "comment"],
)
def test_common_edits_are_made_alone(library: Library, name: str, old: str, new: str) -> None:
    """Edit all variants of an operator at once, since they must agree; at least one file changes, and only a few."""
    entries = entries_of(library.text)
    text = "".join(
        re.sub(old, new, entry, flags=re.MULTILINE) if _name(entry) == name else entry
        for entry in entries
    )
    assert text != library.text
    alone = library.assert_same(text)
    assert alone is not None
    assert bool(alone.files) == (new != COMMENT)
    assert len(alone.files) < 30


DOCUMENTED = ("dot", "zeros_like", "zero", "abs", "where")
DOCUMENTING = (
    (r"\A- func", "#: Multiply.\n- func"),
    (r"\A- func", "# A note.\n- func"),
    (r"\A(.*)$", r"\1\n  doc: 'Multiply: all.'"),
    (r"  doc: .*\n", ""),
    ("It is fast", "It is faster"),
)
_WHEN = ((), pytest.mark.slow, pytest.mark.nightly)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        # Each operator and each edit once; once more slowly; all pairs at night.
        pytest.param(name, *edit, marks=_WHEN[min((j - i) % 5, 2)])
        for i, name in enumerate(DOCUMENTED)
        for j, edit in enumerate(DOCUMENTING)
    ],
)
def test_edits_of_documentation(library: Library, name: str, old: str, new: str) -> None:
    """Protects stubs, where a documented function has a blank line after it, and the text of another entry from being
    taken for documentation.
    """
    entries = entries_of(library.text)
    text = "".join(
        re.sub(old, new, entry, count=1, flags=re.MULTILINE) if _name(entry) == name else entry
        for entry in entries
    )
    alone = library.assert_same(text)
    assert alone is not None or library.inputs.python


@pytest.mark.parametrize(
    "edit",
    [
        # Text that anchors and aliases carry from one entry to another.
        (r"(?m)^  tags: core$", "  tags: &core core"),
        (r"(?m)^- func: ", "-  func: "),
        # A new operator, and a removed one.
        (r"\Z", "\n- func: mine::last_one(Tensor self) -> Tensor\n"),
        (
            r"(?m)^- func: (?:mine::)?dot\(.*(?:\n .+)*\n\n- func: (?:mine::)?dot.out.*(?:\n .+)*\n",
            "",
        ),
        (r"(?m)\A", "%YAML 1.1\n---\n"),
        (r"(?m)\A", "\ufeff"),
    ],
)
def test_edits_that_affect_other_entries_need_whole_runs(
    library: Library, edit: tuple[str, str]
) -> None:
    text = re.sub(*edit, library.text, count=1)
    assert text != library.text
    assert library.assert_same(text) is None


@pytest.mark.parametrize(
    "examples",
    [
        pytest.param(8, id="8"),
        pytest.param(12, id="12", marks=pytest.mark.slow),
        pytest.param(3000, id="3000", marks=pytest.mark.nightly),
    ],
)
def test_random_edits(library: Library, examples: int) -> None:
    alone = [library.assert_same(edited(library.text, seed)) for seed in range(examples)]
    assert any(alone)


def test_an_edit_in_a_library_with_a_backend(tmp_path: Path) -> None:
    """Only edits of operators for which the backend has kernels can be made alone; all others need whole runs, with
    the same result."""
    library = Library(_backend(tmp_path), tmp_path / "out")
    entries = entries_of(library.text)
    text = "".join(e + COMMENT if _name(e) == "dot" else e for e in entries)
    assert library.assert_same(text) is not None
    for seed in range(int(os.environ.get("OPGEN_BACKEND_EDITS", "3"))):
        library.assert_same(edited(library.text, seed))


BLOCK = "- func: lib::a(Tensor self) -> Tensor\n  category_override: |+\n    x\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BLOCK, BLOCK + "\n"),
        (BLOCK + "  # a word\n", BLOCK + "\n  # a word\n"),
        (BLOCK.replace("|+", "|"), BLOCK.replace("|+", "|").rstrip()),
    ],
)
def test_an_entry_with_a_block_scalar_needs_a_whole_run(
    tmp_path: Path, before: str, after: str
) -> None:
    """The line ends and blanks after it are part of its value."""
    path = tmp_path / "native_functions.yaml"
    path.write_text(before)
    library = Library(Inputs((path,)), tmp_path / "out")
    assert library.alone(after) is None


def test_an_edit_beyond_the_limits_is_left_to_the_whole_run(tmp_path: Path) -> None:
    """A whole run rejects the file; one entry alone would be accepted."""
    path = tmp_path / "native_functions.yaml"
    entry = "- func: lib::a{}(Tensor self) -> Tensor\n  tags: [{}]\n"
    tags = ", ".join(["core"] * 10)
    path.write_text("".join(entry.format(i, tags) for i in range(2)))
    library = Library(Inputs((path,)), tmp_path / "out")
    text = library.text
    for much in (
        f"  # {'x' * 10_000_000}\n",
        f"  tags: [{', '.join(['core'] * 70_000)}]\n",
    ):
        assert library.alone(text + much) is None


def test_a_long_word_in_a_comment_is_read_quickly(tmp_path: Path) -> None:
    path = tmp_path / "native_functions.yaml"
    path.write_text("- func: lib::a(Tensor self) -> Tensor\n")
    library = Library(Inputs((path,)), tmp_path / "out")
    started = time.process_time()
    assert library.assert_same(f"{library.text}  # {'_out' * 40_000}\n") is not None
    assert time.process_time() - started < 5


# From PyTorch's file: an in-place operator that is registered for Meta because the library has
# other Meta kernels.
META = """\
- func: tanh(Tensor self) -> Tensor
  structured_delegate: tanh.out

- func: tanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: tanh_out

- func: hard(Tensor self, Scalar min_val=-1) -> Tensor
  dispatch:
    CPU: hard

- func: hard_(Tensor(a!) self, Scalar min_val=-1) -> Tensor(a!)
  dispatch:
    CPU: hard_
"""


@pytest.mark.parametrize("others", ["structured", "named", "none"])
def test_an_in_place_operator_keeps_its_meta_header(tmp_path: Path, others: str) -> None:
    text = META if others == "structured" else META[META.index("- func: hard(") :]
    if others == "named":
        text += "\n- func: f(Tensor self) -> Tensor\n  dispatch:\n    Meta: f_meta\n"
    path = tmp_path / "native_functions.yaml"
    path.write_text(text)
    library = Library(aten_inputs((path,)), tmp_path / "out")
    assert ("include/aten/ops/hard_meta_dispatch.h" in library.files) == (others != "none")
    for old, new in (("Tensor\n  disp", "Tensor\n  # a word\n  disp"), ("=-1", "=-2")):
        start, end = library.text.index("- func: hard("), library.text.rindex("hard_\n")
        edited = library.text[start:end].replace(old, new)
        alone = library.assert_same(library.text[:start] + edited + library.text[end:])
        assert (alone is not None) == (others != "none")


@pytest.mark.nightly
def test_a_comment_at_every_entry_of_pytorchs_file(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """A whole run gives the same texts as before, so no file changes, not even the manifest."""
    ignored = ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")
    inputs = aten_inputs((packaged_native_functions(),), ignore_keys=ignored)
    library = Library(inputs, tmp_path / "out")
    head, *entries = entries_of(library.text)
    commented = [entry.replace("\n", "\n" + COMMENT, 1) for entry in entries]
    whole = library.whole("".join((head, *commented)))
    assert whole is not None and whole.files == library.files
    step = int(os.environ.get("OPGEN_EVERY_NTH_ENTRY", "1"))
    made = 0
    for at in range(0, len(entries), step):
        changed = [*entries[:at], commented[at], *entries[at + 1 :]]
        alone = library.alone("".join((head, *changed)))
        if alone is not None:
            made += 1
            assert not alone.files, entries[at]
            assert alone.manifest() == whole.manifest(), entries[at]
    record_property("editing: comments at entries", len(range(0, len(entries), step)))
    record_property("editing: of these made alone", made)
    assert made > 0.8 * len(entries) / step


@pytest.mark.nightly
def test_random_edits_of_pytorchs_file(tmp_path: Path) -> None:
    ignored = ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")
    inputs = aten_inputs((packaged_native_functions(),), ignore_keys=ignored)
    library = Library(inputs, tmp_path / "out")
    alone = [library.assert_same(edited(library.text, seed)) for seed in range(400)]
    assert sum(tree is not None for tree in alone) > 40
