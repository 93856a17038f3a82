"""Find tags that a release of PyTorch mishandles: `python torch_tags.py PYTHON [--tags TAG,...] [--ways WAY,...]`.

PYTHON is the interpreter of an environment that has the release. A library is built for it in which each tag has the
same operators; they are registered with tags that opgen itself would leave out. A failure that occurs with a tag and
not without it is the tag's: src/opgen/targets/base.py has the list.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

from opgen.parse.files.native_functions import builtin_tags

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.torch_release import answer_of, build_for

HERE = Path(__file__).parent / "torch_release"

# For operators of the library, these tags would be false.
UNTRUE = {"data_dependent_output", "dynamic_output_shape", "inplace_view", "view_copy"}
# The kinds of operators that a tag applies to, if not all.
ONLY = {"inplace": ("_plus_",), "out": (".out",), "out_variant": (".out",)}

OPERATORS = """
- func: {tag}_plus(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU: plus
    Meta: plus_meta
- func: {tag}_plus_(Tensor(a!) self, Tensor other) -> Tensor(a!)
  dispatch:
    CPU: plus_
- func: {tag}_plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: plus_out
- func: {tag}_scaled(Tensor self, float by, int times) -> Tensor
  dispatch:
    CPU: scaled
    Meta: scaled_meta
- func: {tag}_scaled.out(Tensor self, float by, int times, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: scaled_out
- func: {tag}_ends(Tensor self) -> (Tensor, Tensor)
  dispatch:
    CPU: ends
    Meta: ends_meta
- func: {tag}_ends.out(Tensor self, *, Tensor(a!) first, Tensor(b!) last) -> (Tensor(a!), Tensor(b!))
  dispatch:
    CPU: ends_out
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("python")
    options.add_argument("--tags", default=",".join(sorted(set(builtin_tags().names) - UNTRUE)))
    options.add_argument("--ways", default="static,dynamic,default,aoti")
    given = options.parse_args()
    tags = ["none", *given.tags.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        library = build_library(given.python, tags, Path(folder))
        asked = (",".join(tags), given.ways)
        answer = json.loads(answer_of(given.python, HERE / "tags.py", library, *asked))
    print(f"torch {answer['torch']}: {', '.join(answer['tags'])}")
    for way, found in answer["failures"].items():
        for call, error in found.items():
            print(f"  {way}: {call}: {error}")


def build_library(python: str, tags: list[str], folder: Path) -> Path:
    yaml = folder / "tagged.yaml"
    yaml.write_text("- namespace: tagged\n" + "".join(OPERATORS.format(tag=t) for t in tags))

    def registered_with_tags(tree: Path) -> None:
        schemas = tree / "src" / "RegisterSchema.cpp"
        text = re.sub(
            r"m\.def\(tagged::_ops::(\w+)::schema_str, .*\);", retagged, schemas.read_text()
        )
        before, library, after = text.partition("OPGEN_LIBRARY(")
        assert library, text
        schemas.write_text(before + HELPER + library + after)

    return build_for(python, yaml, HERE / "tags.cpp", folder / "tree", edit=registered_with_tags)


# A tag by its name, if the release has it.
HELPER = """
#define TAGGED(name)                                                 \\
  []<class Tag>(Tag*) -> std::vector<Tag> {                          \\
    if constexpr (requires { Tag::name; }) return {Tag::name};       \\
    return {};                                                       \\
  }(static_cast<at::Tag*>(nullptr))
"""


def retagged(row: re.Match[str]) -> str:
    """Return a registration with the tag in the operator's name."""
    struct = row[1]
    tag = re.sub(r"_(plus|scaled|ends)(_|_out)?$", "", struct)
    kind = struct[len(tag) :].replace("_out", ".out")
    applies = tag != "none" and any(only in kind for only in ONLY.get(tag, ("",)))
    tags = f"{{TAGGED({tag})}}" if applies else "{}"
    return f"m.def(tagged::_ops::{struct}::schema_str, {tags});"


main()
