"""Write the derived values as JSON, stage by stage: the fields that are compared with torchgen.

The field names are those of `torchgen_facts.py` and, for gradients, of `torchgen_derivatives.py`, in
tests/differential/parity. C++ types are spelled as the target spells them, and those of gradients as torchgen does for
operators of its profile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

from msgspec import Struct

from opgen.autograd.derivative import (
    Derivative,
    DifferentiabilityInfo,
    DifferentiableFunction,
    ForwardDerivative,
    SavedAttribute,
)
from opgen.autograd.kernels import autograd_kernel, differentiable_outputs, inplace_or_view_kernel
from opgen.cpp import signatures
from opgen.cpp.cpp_types import NoCppType, TypeSpelling, spell
from opgen.cpp.literals import BadDefault
from opgen.cpp.names import kernel_namespace, return_names
from opgen.cpp.signatures import Signatures, parameters
from opgen.emit.common.base import GeneratedFile, Item
from opgen.emit.common.callables import structured_class
from opgen.emit.common.context import Context, Library
from opgen.emit.tree import build_files
from opgen.model.backend import ExternalBackend
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import OperatorName
from opgen.model.native_function import Kernel, KernelSource, NativeFunction, Precompute, Variant
from opgen.model.registry import Registry, StructuredGroup, structured_rows
from opgen.model.selector import Selection
from opgen.parse.entries.keys import KEYS, Users
from opgen.python.python_types import NoPythonSignature
from opgen.python.signatures import Spellings
from opgen.resolve.dispatch_tables import Registration, RegistrationKind
from opgen.targets.base import Target

Json: TypeAlias = Any
Row: TypeAlias = dict[str, Json]


def derivative_rows(
    gradients: Iterable[DifferentiableFunction],
    spelling: TypeSpelling,
    torchgen: TypeSpelling,
    wanted: Sequence[NativeFunction] | None,
) -> list[Row]:
    """Return a row for each operator, or for those that are `wanted`, sorted by name and schema.

    Operators of torchgen's profile have types as `torchgen` spells them: those rows are compared with torchgen's, for
    each target.
    """
    names = None if wanted is None else {f.full_name for f in wanted}
    rows = [
        _row(fn, spelling if fn.func.is_library else torchgen)
        for fn in gradients
        if names is None or fn.func.full_name in names
    ]
    return sorted(rows, key=lambda row: (row["name"], row["schema"]))


def _row(fn: DifferentiableFunction, spelling: TypeSpelling) -> Row:
    kernel, inplace_or_view = autograd_kernel(fn), inplace_or_view_kernel(fn)
    keys = sorted(fn.infos)
    return {
        "name": fn.func.full_name,
        "schema": str(fn.func.func),
        "kernel": None if kernel is None else kernel.name,
        "inplace_or_view": None if inplace_or_view is None else inplace_or_view.name,
        "differentiable_outputs": {
            key: list(differentiable_outputs(fn, key)) for key in keys or [DEFAULT_KEY]
        },
        "keys": {key: _info(fn.infos[key], fn.forward[key], spelling) for key in keys},
    }


def _info(
    info: DifferentiabilityInfo, forward: Iterable[ForwardDerivative], spelling: TypeSpelling
) -> Row:
    flags, condition = info.output_differentiability, info.output_differentiability_condition
    return {
        "node": info.op,
        "formulas": [_formula(derivative, spelling) for derivative in info.derivatives],
        "forward": [_forward(derivative) for derivative in forward],
        "saved_inputs": _attributes(info.all_saved_inputs, spelling),
        "saved_outputs": _attributes(info.all_saved_outputs, spelling),
        "arguments": [binding.name for binding in info.args_with_derivatives],
        "non_differentiable": list(info.non_differentiable_arg_names),
        "outputs": None if flags is None else list(flags),
        "conditions": None if condition is None else [condition.text],
        "named_gradients": sorted(info.used_named_gradients),
    }


def _formula(derivative: Derivative, spelling: TypeSpelling) -> Row:
    return {
        "of": list(derivative.var_names),
        "formula": derivative.formula.text,
        "written": derivative.original_formula.text,
        "saved_inputs": _attributes(derivative.saved_inputs, spelling),
        "saved_outputs": _attributes(derivative.saved_outputs, spelling),
        "named_gradients": sorted(derivative.named_gradients),
    }


def _forward(derivative: ForwardDerivative) -> Row:
    return {
        "of": list(derivative.var_names),
        "types": [str(type) for type in derivative.var_types],
        "formula": derivative.formula.text,
        "tangents": sorted(derivative.required_inputs_fw_grad),
        "primals": sorted(derivative.required_inputs_primal),
        "original_self": derivative.required_original_self_value,
        "in_place": derivative.is_reusing_outplace_formula,
    }


def _attributes(saved: Iterable[SavedAttribute], spelling: TypeSpelling) -> list[list[str]]:
    """Return the fields in alphabetical order: name, C++ type, and the expression that is saved."""
    return sorted([a.name, spell(a.type, spelling), a.expr] for a in saved)


def dump_rows(
    registry: Registry,
    target: Target,
    stage: str,
    wanted: Sequence[NativeFunction] | None,
    *,
    extra: bool = False,
    backend: ExternalBackend | None = None,
    selection: Selection | None = None,
) -> list[Row]:
    """Return the rows of one stage, for the functions `wanted` or for all, sorted by name and schema.

    `model` has the fields of the entries, `registry` adds groups, `signatures` the C++ signatures;
    `registrations` has one row for each function that is registered, `files` one for each generated file.
    `extra` adds the position of each entry in its file, and Python signatures to `signatures`.
    """
    functions = registry.functions if wanted is None else tuple(wanted)
    context = Context(registry, target, Library("library"), backend, selection)
    match stage:
        case "model":
            rows = [model_row(f) for f in functions]
        case "registry":
            rows = [model_row(f) | registry_row(registry, f) for f in functions]
        case "signatures":
            rows = signature_rows(registry, target, functions)
            if extra:
                rows = [row | python_row(f, target) for f, row in zip(functions, rows, strict=True)]
        case "registrations":
            return registration_rows(context, functions)
        case "files":
            return file_rows(context)
        case _:
            raise ValueError(f"there is no stage '{stage}'")
    if extra:
        places = (f.spans.entry for f in functions)
        rows = [
            {"file": span.source.path, "start": span.start, "end": span.end} | row
            for span, row in zip(places, rows, strict=True)
        ]
    return sorted(rows, key=lambda row: (row["name"], row["schema"]))


def signature_rows(
    registry: Registry, target: Target, functions: Iterable[NativeFunction]
) -> list[Row]:
    """Return all fields of each function, in the order given."""
    classes: dict[str, Row] = {}
    rows = []
    for f in functions:
        group = registry.structured_group_of(f)
        name = "" if group is None else group.functional.full_name
        if name not in classes:
            classes[name] = structured_row(group, target)
        row = model_row(f) | registry_row(registry, f) | cpp_row(f, target.cpp.spelling)
        rows.append(row | classes[name])
    return rows


def model_row(f: NativeFunction) -> Row:
    """Return the fields of the entry itself, with all defaults filled in."""
    func, keys = f.func, {key for key, _ in f.dispatch}
    of_name = {
        "name": f.full_name,
        "namespace": f.namespace,
        "operator_name": str(func.name),
        "base": func.name.name.base,
        "overload": func.name.overload_name,
        "inplace": func.name.name.inplace,
        "dunder": func.name.name.dunder_method,
        "unambiguous_name": func.name.unambiguous_name,
        "root_name": f.root_name,
        "schema": str(func),
        "kind": func.kind().name,
        "signature": str(func.signature()),
        "has_symint": func.has_symint(),
    }
    # The keys of the entry. Those of opgen's own are left out where they have no value.
    values = {name: getattr(f, name) for name in KEYS if name != "func"}
    written = {
        name: _value(f, name, value)
        for name, value in values.items()
        if value not in (None, False) or KEYS[name].of is Users.all
    }
    derived = {
        "part_of_structured_group": f.part_of_structured_group,
        "has_composite": {
            "implicit": f.has_composite_implicit_autograd_kernel,
            "implicit_nested": DispatchKey.CompositeImplicitAutogradNestedTensor in keys,
            "explicit": DispatchKey.CompositeExplicitAutograd in keys,
            "explicit_non_functional": DispatchKey.CompositeExplicitAutogradNonFunctional in keys,
            "any": f.has_composite_kernel,
        },
        "is_abstract": f.is_abstract,
        "is_view": f.is_view_op,
        "view_schema_kind": f.view_schema_kind.name,
        "generated": "generated" in f.tags,
        "line": f.spans.entry.source.location(f.spans.entry.start).line,
    }
    return of_name | written | derived


def _value(f: NativeFunction, name: str, value: Any) -> Json:
    match value:
        case Precompute():
            replaced = {name: [str(a) for a in arguments] for name, arguments in value.replace}
            return {"replace": replaced, "add": [str(a) for a in value.add]}
        case tuple() if name == "ufunc_inner_loop":
            return {
                str(key): {"name": loop.name, "dtypes": [str(t) for t in loop.supported_dtypes]}
                for key, loop in value
            }
        case tuple() if name == "dispatch":
            return {str(key): _kernel(f, kernel) for key, kernel in _by_name(value)}
        case tuple() | frozenset():
            items = [_value(f, name, item) for item in value]
            return items if isinstance(value, tuple) else sorted(items)
        case Enum():
            return value.name
        case _:
            return str(value) if isinstance(value, OperatorName) else value


def _kernel(f: NativeFunction, kernel: Kernel) -> Row:
    """Return a dispatch row as JSON. If authors do not write the kernel, its `source` is added; a fallthrough has no kernel,
    and a kernel in Python no name."""
    row: Row = {"kernel": None, "structured": kernel.structured, "symint": kernel.supports_symint}
    match kernel.source:
        case KernelSource.author:
            namespace = kernel_namespace(f.namespace, kernel.namespace)
            return row | {"kernel": f"{namespace}::{kernel.name}"}
        case KernelSource.existing:
            return row | {"kernel": kernel.cpp_name, "source": "existing"}
        case KernelSource.fallthrough | KernelSource.python:
            return row | {"symint": False, "source": kernel.source.name}


def registry_row(registry: Registry, f: NativeFunction) -> Row:
    """Return how `f` relates to its siblings."""
    group = registry.group_of(f) or registry.structured_group_of(f)
    views = registry.view_group_of(f)
    members = view_role = None
    if group is not None:
        found = (
            (role, getattr(group, role, None))
            for role in ("functional", "out", "inplace", "mutable")
        )
        members = {role: None if g is None else g.full_name for role, g in found}
    if views is not None:
        roles = ("view", "view_copy", "view_inplace")
        role = next(role for role in roles if getattr(views, role) is f)
        view_role = {"view": views.view.full_name, "role": role, "composite": views.composite}
    return {
        "group": None if group is None else group.functional.full_name,
        "group_members": members,
        "view_group": view_role,
    }


def cpp_row(f: NativeFunction, spelling: TypeSpelling) -> Row:
    """Return every C++ signature of `f`."""
    made = Signatures()

    def dispatcher(*, symint: bool) -> Json:
        return _guarded(lambda: made.dispatcher(f, symint=symint).decl(spelling))

    def native(*, symint: bool, name: str | None = None) -> Json:
        return _guarded(lambda: made.native(f, symint=symint).decl(spelling, name=name))

    def cpp(*, method: bool) -> Row:
        found = {
            (s.faithful, s.symint): _guarded(partial(s.decl, spelling))
            for s in made.cpp(f, method=method)
        }
        return {
            "plain": found[False, False],
            "faithful": found.get((True, False)),
            "symint": found.get((False, True)),
            "symint_faithful": found.get((True, True)),
        }

    is_method = Variant.method in f.variants
    return {
        "cpp": _guarded(lambda: cpp(method=False)),
        "cpp_method": _guarded(lambda: cpp(method=True)) if is_method else None,
        "dispatcher": dispatcher(symint=True),
        "dispatcher_no_symint": dispatcher(symint=False),
        "native": native(symint=False),
        "native_symint": native(symint=True),
        "return_names": list(return_names(f)),
        "kernel_decls": {
            str(key): native(symint=kernel.supports_symint, name=kernel.name)
            for key, kernel in _by_name(f.dispatch)
            if kernel.is_declared
        },
    }


def structured_row(group: StructuredGroup | None, target: Target) -> Row:
    """Return the classes of a structured group, the same for each of its members; without a group, no class."""
    if group is None:
        names = ("structured_meta", "structured_impl_args", "structured_impl_structs")
        return dict.fromkeys(names)
    spelling = target.cpp.spelling

    def meta() -> Row:
        return {
            "struct": signatures.struct_name(group),
            "parent": group.primary.structured_inherits or target.cpp.meta_base,
            "returns": "void" if group.primary.precomputed is None else "meta_return_ty",
            "args": parameters(signatures.meta_arguments(group), spelling),
        }

    def impl_structs() -> Row:
        macros = target.cpp.api_macros
        return {
            str(key): {
                "struct": f"structured_{kernel.name}",
                "namespace": kernel_namespace(group.primary.namespace, kernel.namespace),
                "decl": signatures.impl_struct(
                    group, kernel, spelling, macros.get(key, target.cpp.api_macro)
                ),
            }
            for key, kernel in _by_name(structured_rows(group))
        }

    return {
        "structured_meta": _guarded(meta),
        "structured_impl_args": _guarded(
            lambda: parameters(signatures.impl_arguments(group), spelling)
        ),
        "structured_impl_structs": _guarded(impl_structs),
    }


def python_row(f: NativeFunction, target: Target) -> Row:
    """Return how `f` is called from Python, as a function and as a method."""
    spellings = Spellings(target.cpp.spelling, target.python)

    def signature(*, method: bool) -> Json:
        return _guarded(lambda: spellings.signature(f, method=method).signature_str(spellings))

    function = partial(spellings.signature, f, method=False)
    return {
        "python_signature": signature(method=False),
        "python_method_signature": signature(method=True) if Variant.method in f.variants else None,
        "pyi_signature": _guarded(lambda: function().signature_str_pyi(spellings)),
    }


def registration_rows(context: Context, functions: Iterable[NativeFunction]) -> list[Row]:
    """Return one row for each operator and each key with a registration, sorted by both."""
    wanted = {f.full_name for f in functions}
    rows = [
        {
            "key": str(row.key),
            "name": row.function.full_name,
            "schema": str(row.function.func),
            "kind": row.kind.name,
            "kernel": _registered(row),
        }
        for registered in context.registered.values()
        for row in registered
        if row.function.full_name in wanted
    ]
    return sorted(rows, key=lambda row: (row["key"], row["name"]))


def _registered(row: Registration) -> str | None:
    """Return the qualified name of the kernel or class of a registration; None if there is none."""
    match row.kind:
        case RegistrationKind.unstructured:
            assert row.kernel is not None
            return f"{kernel_namespace(row.function.namespace, row.kernel.namespace)}::{row.kernel.name}"
        case RegistrationKind.structured | RegistrationKind.composite_structured:
            return structured_class(row)
        case RegistrationKind.external:
            assert row.kernel is not None
            return f"{row.kernel.namespace}::{row.kernel.name}"
        case RegistrationKind.existing:
            assert row.kernel is not None
            return row.kernel.cpp_name
        case _:
            return None


def file_rows(context: Context) -> list[Row]:
    """Return all generated files as their templates see them, sorted by path."""
    return sorted(map(_as_json, build_files(context)), key=lambda row: str(row["path"]))


def _as_json(value: object) -> Json:
    """Return a generated file as JSON: records become objects, operators and members of enums their names."""
    if isinstance(value, NativeFunction):
        return value.full_name
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        more = vars(value) if isinstance(value, GeneratedFile) else {}
        return {name: _as_json(one) for name, one in {**fields, **more}.items()}
    if isinstance(value, Item):
        return {name: _as_json(one) for name, one in vars(value).items()}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, tuple | list):
        return [_as_json(item) for item in value]
    assert value is None or isinstance(
        value, str | int
    ), f"{value!r} has no place in a generated file"
    return value


def _by_name(rows: Iterable[tuple[DispatchKey, Kernel]]) -> list[tuple[DispatchKey, Kernel]]:
    return sorted(rows, key=lambda row: row[0].name)


def _guarded(make: Callable[[], Json]) -> Json:
    """Return the result of `make`, or the problem if it has no C++ or Python form."""
    try:
        return make()
    except (NoCppType, BadDefault, NoPythonSignature) as problem:
        return {"error": str(problem)}
