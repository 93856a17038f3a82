"""Schemas as libraries write them, and YAML files with a kernel for each, so that PyTorch can register them."""

from __future__ import annotations

import json
import lzma
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.pipeline.checking import inspect
from opgen.pipeline.inputs import Inputs

# Classes that PyTorch registers itself, with their C++ types. All others are generated for the
# test.
_OF_PYTORCH = {
    f"c10d.{name}": (f"c10d::{name}", f"<torch/csrc/distributed/c10d/{header}>")
    for name, header in (
        ("ProcessGroup", "ProcessGroup.hpp"),
        ("Work", "Work.hpp"),
        ("ReduceOp", "Types.hpp"),
    )
}
_CLASS = re.compile(r"__torch__\.torch\.classes\.([\w.]+)")
_CERTAIN = re.compile(r"(?<![\w(])Tensor(?:\([^)]*\))?!? *\w")


# One schema of each form that libraries use. PyTorch's parser and the runtime's accept each, with the same result.
FORMS = """
rotate(Tensor! q, Tensor! k, Tensor positions, int head_size, bool interleaved) -> ()
norm(Tensor! out, Tensor input, Tensor weight, float epsilon) -> ()
gather(Tensor! out, Tensor!? seen, Tensor index) -> ()
swap(Tensor![] blocks, Tensor mapping) -> ()
swap_all(Tensor[]! blocks, Tensor[]!? scales, Tensor mapping) -> ()
both_marks(Tensor![]! blocks) -> ()
named_list(Tensor(a!)[] x, Tensor[](b!) y, Tensor[](c!)? z, Tensor(d)[](e) v) -> ()
sized_list(Tensor[2](a!)? x, Tensor[3]! y) -> ()
words(Tensor(out!) x, Tensor(a12!) y, Tensor(_b_1) z) -> Tensor(out!)
sets(Tensor(a|b) x, Tensor(c|d|e! -> f) y) -> Tensor(a|b)
wild(Tensor(*) x, Tensor(* -> a) y, Tensor(a -> *) z, Tensor(*!) w) -> Tensor(a)[]
same_after(Tensor(a -> a) x, Tensor(b! -> b) y) -> ()
bare_return(Tensor x) -> Tensor!
returned(Tensor x, Tensor(a!) y, int n) -> Tensor(a!)
returned_first(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)
maybe_returned(Tensor(a!)? x) -> Tensor(a!)?
list_returned(Tensor(a!)[] x) -> Tensor(a!)[]
one_in_parentheses(Tensor x) -> (Tensor)
one_with_name(Tensor x) -> (Tensor values)
name_without(Tensor x) -> Tensor values
several(Tensor x) -> (Tensor values, Tensor, int count)
nothing() -> ()
only_numbers(int n, float f=0.5, bool b=True, str s='a') -> (int, bool, str, float)
no_value() -> None
a::plus(Tensor a, Tensor b) -> Tensor
a::plus.with_scalar(Tensor a, Scalar b) -> Tensor
add_out(Tensor a, Tensor b, Tensor(a!) out) -> ()
alone.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)
writes_another_(Tensor x, Tensor(a!) y) -> ()
writes_nothing_(Tensor x) -> Tensor
_private(Tensor x) -> Tensor
__iand__(Tensor(a!) self, Tensor other) -> Tensor(a!)
again(Tensor x, int x, float y, int y) -> ()
cpp_words(int new, int default, int template, int operator, int this, Tensor namespace) -> ()
python_words(int lambda, int async, int yield, int None_, int self, int print) -> ()
UPPER(Tensor Q, Tensor K1, int BLOCK_M, int x_2) -> Tensor O
optionals(Tensor? a, int? b=None, int[]? c=None, str? d=None, Tensor[]? e=None, bool? f=True) -> ()
twice(int?? a, Tensor??[] b, int[]?? c) -> ()
lists(bool[] a, float[] b, str[] c, Device[] d, int?[] e, Tensor[][] f, Tensor?[] g, Scalar[] h) -> ()
handles(Layout a, MemoryFormat b, Storage c, QScheme d, Stream e, Generator? f, ScalarType g) -> ()
indices(DeviceIndex a, SymInt b, SymInt[] c, SymInt[2] d, SymBool e, SymInt? f) -> ()
tuples((Tensor, int) a, (Tensor, int)[] b, (int, (Tensor, str))? c, () d, (int) e) -> ()
tuple_results(Tensor x) -> ((Tensor, int), (int, int)[])
one_tuple(Tensor x) -> ((Tensor, int))
dicts(Dict(str, Tensor) a, Dict(int, Tensor[])? b, Dict(str, (int, int))[] c) -> Dict(str, Tensor)
written_dict(Dict(str, Tensor)(a!) a, Dict(str, Tensor)! b) -> ()
anything(Any a, Any? b=None, Any[] c) -> Any
complexes(complex a, complex b=1j, complex c=-2.5j, complex[] d) -> complex
sizes(int[3] a, int[2]? b=None, bool[2] c=[True,False], float[1] d=0, int[2] e=1) -> ()
annotated_numbers(int(a) x, int[](b) y, Scalar(c) z) -> ()
inner_marks((Tensor(a!), int) x, Dict(str, Tensor(b)) y) -> ()
numbers(int a=-1, int b=- 3, int c=007, float d=1e-5, float e=.5, float f=5., float g=1E5, float h=2) -> ()
mistyped(int a=1.5, int b=True, float c=None, bool d=1, str e=1, int? g=True) -> ()
numbers_of_cpp(int a=-1, int b=- 3, float d=1e-5, float e=.5, float f=5., float g=1E5, float h=2) -> ()
scalars_of_cpp(Scalar a=1, Scalar b=1.5, Scalar c=True, Scalar? e=None, complex d=2j) -> ()
dtypes_of_cpp(ScalarType a=float, Layout b=strided, MemoryFormat c=contiguous_format, int d=Mean) -> ()
strings_of_cpp(str a="x", str b='y', str c="a,b)", str d='it\\'s', str e="\\n\\t", str g='') -> ()
scalars(Scalar a=1, Scalar b=1.5, Scalar c=True, Scalar d=2j, Scalar? e=None) -> ()
lists_of_numbers(int[] a=[], int[] b=[1, -2 ,3], float[] c=[1,2.5], bool[] d=[True], SymInt[] e=[4]) -> ()
old_words(int a=Mean, int b=long, ScalarType c=float, ScalarType d=complex, Layout e=strided, MemoryFormat f=contiguous_format) -> ()
dtypes(ScalarType a=float8_e4m3fn, ScalarType? b=bfloat16, ScalarType c=int, ScalarType[] d=[half, bool], ScalarType e=6) -> ()
strings(str a="x", str b='y', str c="a,b)", str d='it\\'s', str e="\\n\\t\\\\", str f="\\101", str g='') -> ()
tripled(str a='''b''', str c=\"\"\"d 'e' f\"\"\") -> ()
devices(Device a="cpu", Device b='cuda:1') -> ()
tensor_default(Tensor a=None, Tensor? b=None, Generator? c=None) -> ()
lists_without_default(int a=1, int[] b, Tensor?[] c, int[2] d, *, int e, int f=2, Tensor g) -> ()
star_alone(Tensor a, *) -> ()
options(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
certain_options(int n, *, ScalarType dtype, Layout layout, Device device, bool pin_memory) -> Tensor
some_options(int n, *, ScalarType? dtype=None, Layout? layout=None, Device device, bool? pin_memory=None) -> Tensor
two_stars(*, Tensor a, *, Tensor b) -> ()
unspaced(Tensor(a!)x,Tensor?y,Tensor[]z,int[3]w=1,*,int v=2)->(Tensor(a!),int)
  spaced  (  Tensor  ( a ! )  x  ,  int  ?  y  ,  Tensor  [  ]  z  ,  Tensor  !  w  )  ->  (  Tensor  ,  int  )
before(Tensor (a!) x, int ? y, Tensor []z, Dict ( str , int ) w) -> Tensor
tabs(\tTensor\tx\t)\t->\tTensor\t
""".strip().splitlines()


@dataclass(frozen=True)
class SchemaFile:
    """A YAML file, and the schema that PyTorch must have for each operator in it."""

    path: Path
    schemas: Mapping[str, str]


def write_files(groups: Mapping[str, Iterable[str]], folder: Path) -> list[SchemaFile]:
    """Write one file for each namespace with its schemas, most of which name no namespace; write the classes
    they use into `folder`.
    """
    found = []
    for namespace, schemas in groups.items():
        entries, registered = [], {}
        for number, schema in enumerate(schemas):
            certain = _CERTAIN.search(schema.split("->")[0])
            key = "CPU" if certain else "CompositeExplicitAutograd"
            entries.append(f"- func: {json.dumps(schema)}\n  dispatch:\n    {key}: k{number}\n")
            name = schema.split("(")[0].strip()
            prefix = "" if "::" in name else f"{namespace}::"
            registered[prefix + name] = prefix + schema.strip()
        path = folder / f"{namespace}.yaml"
        head = f"- namespace: {namespace}\n{_classes(registered.values(), folder)}"
        path.write_text(head + "".join(entries))
        found.append(SchemaFile(path, registered))
    return found


def schemas_of_projects() -> dict[str, list[str]]:
    """Return the 1,816 schemas outside of `aten` of 33 public projects, by project and namespace.

    Names of operators, arguments and classes, and the contents of strings, are replaced by numbered ones. Types,
    annotations, defaults and white space are unchanged.
    """
    packed = Path(__file__).with_name("library_schemas.json.xz").read_bytes()
    groups = defaultdict[str, list[str]](list)
    for text in json.loads(lzma.decompress(packed)):
        namespace, _, schema = text.partition("::")
        groups[namespace].append(schema)
    return dict(groups)


def accepted(
    groups: Mapping[str, Sequence[str]], folder: Path
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the schemas of each namespace that opgen accepts for target torch, and the error code of each other
    schema.
    """
    kept, rejected = {}, {}
    for file in write_files(groups, folder):
        diagnostics = Diagnostics()
        inspect(Inputs((file.path,), target="torch"), diagnostics, unsupported=True)
        lines = file.path.read_text().splitlines()
        starts = [i for i, line in enumerate(lines, 1) if line.startswith("- func:")]
        namespace = file.path.stem
        codes: dict[int, str] = {}
        for one in diagnostics:
            if one.severity.value == "error":
                line = one.span.source.text.count("\n", 0, one.span.start) + 1
                codes.setdefault(max(i for i, at in enumerate(starts) if at <= line), one.code)
        schemas = groups[namespace]
        rejected |= {schemas[i]: code for i, code in codes.items()}
        kept[namespace] = [s for i, s in enumerate(schemas) if i not in codes]
    return kept, rejected


def _classes(schemas: Iterable[str], folder: Path) -> str:
    names = sorted({name for schema in schemas for name in _CLASS.findall(schema)})
    lines = []
    for name in names:
        if name in _OF_PYTORCH:
            type, header = _OF_PYTORCH[name]
            lines.append(f"    {name}: {{type: '{type}', header: '{header}'}}\n")
        else:
            type = _write_class(name, folder)
            spelled = f"{{type: '{type}', header: {type}.h, define: 'define_{type}'}}"
            lines.append(f"    {name}: {spelled}\n")
    return "  classes:\n" + "".join(lines) if lines else ""


def _write_class(name: str, folder: Path) -> str:
    type = name.replace(".", "_")
    (folder / f"{type}.h").write_text(
        "#pragma once\n#include <torch/custom_class.h>\n#include <torch/library.h>\n"
        f"struct {type} : torch::CustomClassHolder {{}};\n"
        f"inline void define_{type}(torch::Library& library) {{\n"
        f'  library.class_<{type}>("{name.rpartition(".")[2]}").def(torch::init<>());\n}}\n'
    )
    return type
