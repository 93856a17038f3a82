"""Derivatives[_n].cpp: the nodes of operators with formulas, and their kernels for the keys of autograd.

A node is what differs between operators: what it saves, and its formulas. The classes of <opgen/autograd/derived.h> do
the rest, for both targets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property

import msgspec
from msgspec import Struct

from opgen import data
from opgen.autograd.called_functions import HELPERS, HELPERS_OF_ATEN
from opgen.autograd.derivative import (
    OPTIONAL_STRING,
    Derivative,
    DifferentiabilityInfo,
    DifferentiableFunction,
    ForwardDerivative,
    SavedAttribute,
    optional_string,
)
from opgen.autograd.formula import Formula, names_of, read_formula
from opgen.autograd.formula_checks import NUMBER_FUNCTIONS, called_functions
from opgen.autograd.forward_formulas import FOREACH
from opgen.autograd.kernels import (
    AutogradKernel,
    autograd_kernel,
    differentiable_outputs,
    writes_without_formula,
)
from opgen.cpp.cpp_types import SYM_INT_ARRAY_REF, TENSOR, Base, CType, Optional
from opgen.cpp.names import return_names
from opgen.emit.common.base import (
    GeneratedFile,
    Item,
    blocks,
    cpp_string,
    generated,
    group_by,
    sharded,
    unique,
)
from opgen.emit.common.context import Context
from opgen.emit.common.text import operator_struct
from opgen.emit.cpp.operators import operator_headers
from opgen.model.derivatives import DEFAULT_KEY, TextPlace
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import FunctionSchema, SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace
from opgen.targets.base import FileKind

# The parameter by which formulas reach the node. No argument of an operator may have this name.
_CALL = "opgen_call"
_MASK, _RETAIN = "grad_input_mask", "retain_variables"
# What forward formulas read of an argument. They may compute in place in a tangent.
_OF_FORWARD = (
    ("_p", f"const auto {{}} = {_CALL}.primal({{}});"),
    ("_t", f"auto {{}} = {_CALL}.tangent({{}});"),
)
_WRAP = "wrap_opt_if"
_NOT_IMPLEMENTED = ("not_implemented", "not_implemented_list")
# The type of optional sizes, as torchgen spells it.
_SIZES = "std::optional<c10::SymIntArrayRef>"
# Headers that expressions of saved values need.
_HEADERS_OF_SAVED = (("at::sparse_csr::", "ATen/SparseCsrTensorUtils.h"),)
# The suffixes of the forms of an operator's function.
_OVERLOAD = re.compile(r"(_symint)?(_outf?)?$")
_OPTIONAL_TENSOR = Optional(TENSOR)
# Types that formulas have names for, which are no types of the target.
_OF_FORMULAS: dict[CType, str] = {
    Base("TypeAndSize"): "TypeAndSize",
    Base("TensorGeometry"): "TensorGeometry",
}


def build_derivatives(context: Context) -> Iterator[GeneratedFile]:
    """Build Derivatives[_n].cpp, if any operator has a formula."""
    wanted = [
        fn
        for fn in context.gradients
        if (_records(fn) or _has_none(context, fn)) and context.keeps(fn.func)
    ]
    if not any(map(_records, wanted)):
        return
    count = context.library.shards
    for name, some in sharded("Derivatives", wanted, _root_of_nodes, count):
        outs = tuple(_outs(context, some))
        made = tuple(_nodes(context, some))
        called = {
            name
            for _, node in made
            for call in (*node.backward, *node.forward)
            for name in call.called
        }
        # The root names of the operators among them; `f` for `f_`.
        plain = {name.removesuffix("_") for name in called}.union(called)
        own = sorted(plain.intersection(context.roots))
        yield generated(
            path=f"src/{name}.cpp",
            template="Derivatives.cpp.j2",
            library=context.library.name,
            own_tensor=context.own_tensor,
            name=name,
            includes=operator_headers(context, (*(fn.func for fn in some), *outs)),
            own_includes=tuple(context.library.header(f"ops/{root}.h") for root in own),
            optional_includes=tuple(sorted((called & _aten_operators()).difference(own))),
            more_includes=tuple(
                header
                for text, header in _HEADERS_OF_SAVED
                if any(text in field.expr for _, node in made for field in node.fields)
            ),
            author_includes=context.formula_files.includes,
            nodes=tuple(_blocks_of_nodes(context, made)),
            tables=tuple(_tables(context, name, some, outs)),
        )


@cache
def _aten_operators() -> frozenset[str]:
    return frozenset(name for row in data.read_rows("aten_operators.txt") for name in row)


def _blocks_of_nodes(context: Context, made: Iterable[tuple[str, Item]]) -> Iterator[Item]:
    """Yield the nodes of each C++ namespace, and functions of numbers with the names of operators of the library.

    Beside `sqrt(self)`, formulas call `sqrt(2.0)`. An object with this name hides ATen's function, which C++ would find by
    the types of the arguments.
    """
    for block in blocks(made):
        namespace = block.namespace.partition("::")[0]
        own = {
            name
            for of, names in context.cpp_names.items()
            if operator_namespace(of) == namespace
            for name in names & NUMBER_FUNCTIONS
        }
        called = {
            function.text
            for node in block.items
            for call in (*node.backward, *node.forward)
            if not own.isdisjoint(call.called)
            for function in called_functions(call.read, numbers=True)
        }
        functions = tuple(
            (name, f"{namespace}::{name}(static_cast<decltype(x)>(x)...)")
            for name in sorted(called & own)
        )
        yield Item(namespace=block.namespace, functions=functions, items=block.items)


def _records(fn: DifferentiableFunction) -> bool:
    """Return whether calls are recorded: an out variant rejects tensors that need the formulas of its operator."""
    return fn.has_derivatives and fn.func.func.kind() is not SchemaKind.out


def _has_none(context: Context, fn: DifferentiableFunction) -> bool:
    """Return whether the results of an operator are known to have no gradient: no call of it is recorded.

    Target torch has a table of its own for these.
    """
    return (
        FileKind.REGISTER_AUTOGRAD not in context.target.plan.kinds
        and autograd_kernel(fn) is AutogradKernel.derived
        and not writes_without_formula(fn)
        and not any(key.name.startswith(DispatchKey.Autograd.name) for key, _ in fn.func.dispatch)
    )


def _root_of_nodes(fn: DifferentiableFunction) -> str:
    """Return the root name of the operator that the formulas are written for: variants share its nodes."""
    recorded = (info.func.root_name for info in fn.infos.values() if info.has_derivatives)
    return next(recorded, fn.func.root_name)


def _recording(fn: DifferentiableFunction) -> Iterator[tuple[str, DifferentiabilityInfo]]:
    """Return the keys of `fn` and their gradients, without those that have no backward formula."""
    return ((key, info) for key, info in fn.infos.items() if info.has_derivatives)


def _nodes(
    context: Context, functions: Iterable[DifferentiableFunction]
) -> Iterator[tuple[str, Item]]:
    """Yield each node of the functions once, with its C++ namespace."""
    first: dict[tuple[str, str | None], tuple[DifferentiableFunction, str]] = {}
    for fn in functions:
        for key, info in _recording(fn):
            found = first.setdefault((fn.func.namespace, info.op), (fn, key))
            if fn.func is info.func and found[0].func is not info.func:
                first[fn.func.namespace, info.op] = (fn, key)
    for fn, key in first.values():
        namespace = f"{operator_namespace(fn.func.namespace)}::derivatives"
        yield namespace, _NodeBuilder(context, fn, key).build()


def _tables(
    context: Context,
    name: str,
    functions: Sequence[DifferentiableFunction],
    outs: Sequence[NativeFunction],
) -> Iterator[Item]:
    """Yield the kernels of each namespace for each key of autograd."""
    rows = [
        ((fn.func.namespace, key), fn.func, _recorded(context, fn.func, info))
        for fn in functions
        for key, info in _recording(fn)
    ]
    if FileKind.REGISTER_AUTOGRAD not in context.target.plan.kinds:
        refused = {f.full_name for f in outs}
        rows += [((f.namespace, DEFAULT_KEY), f, _refusal(f)) for f in outs]
        # What an operator without an entry does is right for one that writes in place, unless its entry says otherwise.
        rows += [
            ((fn.func.namespace, DEFAULT_KEY), fn.func, _passes(fn.func))
            for fn in functions
            if not fn.has_derivatives
            and fn.func.full_name not in refused
            and (fn.infos or fn.func.func.kind() is not SchemaKind.inplace)
        ]
    for (namespace, key), some in group_by(rows, lambda row: row[0]).items():
        dispatch_key = "Autograd" if key == DEFAULT_KEY else key
        table = f"{name}_{dispatch_key}_{namespace}"
        yield Item(
            namespace=namespace,
            key=dispatch_key,
            rows=f"opgen_kernels_{table}",
            name=f"opgen_table_{table}",
            items=tuple((f.func.name, kernel) for _, f, kernel in some),
        )


def _recorded(context: Context, f: NativeFunction, info: DifferentiabilityInfo) -> str:
    node = f"{operator_namespace(f.namespace)}::derivatives::{info.op}"
    kind = f"opgen::autograd::Kind::{_kind(f, info)}"
    arguments = filter(None, [node, operator_struct(f), kind, context.spell.own_tensor])
    return f"opgen::autograd::recorded<{', '.join(arguments)}>()"


def _outs(
    context: Context, functions: Sequence[DifferentiableFunction]
) -> Iterator[NativeFunction]:
    """Yield the out variants of operators with a formula, if the source of their formulas has their kernels.

    `eq.Tensor_out` is not one: only the form in place has a formula, and the functional one has no gradient.
    """
    if FileKind.REGISTER_AUTOGRAD in context.target.plan.kinds:
        return
    signatures: dict[str, set[FunctionSchema]] = {}
    without = {fn.func.full_name for fn in functions if not fn.has_derivatives and fn.infos}
    for fn in filter(_records, functions):
        signatures.setdefault(fn.func.scoped_root, set()).add(fn.func.plain_signature)
    for f in context.outs:
        same = signatures.get(f.scoped_root)
        if same is None or f.full_name in without or not context.keeps(f):
            continue
        if f.plain_signature in same:
            yield f


def _refusal(f: NativeFunction) -> str:
    return f"opgen::autograd::refuses_out<{operator_struct(f)}>()"


def _passes(f: NativeFunction) -> str:
    if f.func.kind() is not SchemaKind.out:
        return f"opgen::fallthrough<{operator_struct(f)}>()"
    # One that returns nothing writes results that may have a gradient.
    if not f.func.returns:
        return _refusal(f)
    first = len(f.func.arguments.flat_all) - len(f.func.arguments.out)
    return f"opgen::autograd::refuses_out<{operator_struct(f)}, {first}>()"


def _kind(f: NativeFunction, info: DifferentiabilityInfo) -> str:
    """Return how the kernel of `f` treats what it returns and writes: a value of opgen::autograd::Kind."""
    written = [a.name for a in f.func.arguments.flat_all if a.is_write]
    # One with the name of an in-place operator may do more than to write and return its first argument.
    more = len(written) > 1 or any(n not in written for n in f.func.aliased_return_names())
    if f.func.kind() is SchemaKind.inplace and not more:
        of_one = f.root_name.startswith(FOREACH) and not info.func.root_name.startswith(FOREACH)
        if of_one:
            return "foreach_inplace"
        return "inplace_view" if "inplace_view" in f.tags else "inplace"
    if f.func.is_mutable:
        return "writes"
    return "view" if f.is_view_op else "functional"


class _NodeBuilder(Struct, dict=True):
    """Builds the struct of the node that records `fn` for `key`."""

    context: Context
    fn: DifferentiableFunction
    key: str

    @cached_property
    def info(self) -> DifferentiabilityInfo:
        return self.fn.infos[self.key]

    @cached_property
    def is_foreach(self) -> bool:
        return self.info.func.root_name.startswith(FOREACH)

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments, as the dispatcher passes them."""
        dispatcher = self.context.signatures.dispatcher(self.info.func)
        return tuple(b.name for b in dispatcher.arguments)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        return tuple(b.name for b in self.info.args_with_derivatives)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The names of what is returned; an in-place operator returns `self`, which formulas call `result`."""
        names = tuple("result" if n == "self" else n for n in return_names(self.info.func))
        return names or ("result",)

    @cached_property
    def with_gradient(self) -> tuple[str, ...]:
        """The names of the outputs that have a gradient."""
        return differentiable_outputs(self.fn, self.key)

    def build(self) -> Item:
        """Return the struct: what differs between operators."""
        info, f = self.info, self.info.func
        fields = tuple(self._fields())
        backward = tuple(
            self._backward(one) for d in info.derivatives for one in self._each_without_formula(d)
        )
        forward = tuple(self._forward(d) for d in info.forward_derivatives)
        input_fields = tuple(field for field in fields if not field.is_output)
        output_fields = tuple(field for field in fields if field.is_output)
        names = frozenset[str]().union(*(d.formula.names for d in info.forward_derivatives))
        locals = dict(self._of_forward(names))
        words = names.union(*map(self._tangents, info.forward_derivatives), locals.values())
        if self.is_foreach and forward:
            words |= {"result"}
        outputs = "0"
        if info.func.func.returns:
            outputs = _positions(self.with_gradient, return_names(self.fn.func) or ("result",))
        # Whether a formula uses gradients by number or name, of which some may be undefined.
        reads_several = not self.is_foreach and any(
            d.formula.uses("grads") or d.named_gradients for d in info.derivatives
        )
        condition = info.output_differentiability_condition
        read = None if condition is None else read_formula(condition.text)
        return Item(
            comment=str(f.func),
            name=str(info.op),
            operator=cpp_string(f.full_name),
            inputs=_positions(self.inputs, self.arguments),
            outputs=outputs,
            without_gradient=_positions(info.non_differentiable_arg_names, self.arguments),
            zeros=f.namespace != "aten" and reads_several,
            saves_self=any(
                one.expr == self.arguments[0] and one.type == TENSOR
                for one in info.all_saved_inputs
            ),
            reads_self="self_p" in words or "original_self_p" in words,
            fields=fields,
            input_fields=input_fields,
            output_fields=output_fields,
            visits=" ".join(f"f({field.name}_);" for field in fields),
            parameters=_parameters(self.arguments, names_of(f.expr for f in input_fields)),
            output_parameters=_parameters(self.outputs, names_of(f.expr for f in output_fields)),
            gradients=tuple(self._gradients()),
            backward=backward,
            forward_parameters=_parameters((*self.arguments, *self.outputs), words),
            forward_locals=() if self.is_foreach else tuple(locals),
            forward=forward,
            condition_parameters=_parameters(
                self.arguments, frozenset() if read is None else read.names
            ),
            condition=(
                None if condition is None or read is None else self._call(read, condition.place)
            ),
        )

    # What is saved.

    def _fields(self) -> Iterator[Item]:
        """Yield the fields: what is saved, when, and the name that formulas have for it."""
        sizes = self.context.spell.type(SYM_INT_ARRAY_REF)
        groups = ((self.info.all_saved_inputs, False), (self.info.all_saved_outputs, True))
        for saved, is_output in groups:
            for attribute in saved:
                users = [
                    d
                    for d in self.info.derivatives
                    for one in (d.saved_outputs if is_output else d.saved_inputs)
                    if one.name == attribute.name
                ]
                ctype = attribute.type
                # In PyTorch's own formulas, an absent tensor is an undefined one everywhere.
                if ctype == _OPTIONAL_TENSOR and not self.info.func.is_library:
                    ctype = TENSOR
                guard = self._guard(attribute, users)
                yield Item(
                    type=_OF_FORMULAS.get(ctype) or self.context.spell.type(ctype),
                    name=attribute.name,
                    expr=attribute.expr.replace(_SIZES, f"::std::optional<{sizes}>"),
                    condition=f"if ({guard}) " if guard else "",
                    is_output=is_output,
                )

    def _guard(self, attribute: SavedAttribute, users: Sequence[Derivative]) -> str:
        """Return the condition under which an attribute is saved: that a formula which reads it is needed."""
        if len(users) == 1:
            only = _only_if(attribute.name, users[0].formula)
            if only is not None:
                return self._needs((users[0].var_names[only],))
        if len(self.inputs) == 1 or len(users) == len(self.info.derivatives):
            return ""
        return self._needs([name for d in users for name in d.var_names])

    def _needs(self, names: Iterable[str], question: str = "needs") -> str:
        return " || ".join(f"{_CALL}.{question}({self.inputs.index(n)})" for n in unique(names))

    # Formulas.

    def _gradients(self) -> Iterator[str]:
        """Yield the gradients of outputs that formulas have names for."""
        formulas = [d.formula for d in self.info.derivatives]
        if any(formula.uses("grad") for formula in formulas) and not self.is_foreach:
            yield "const auto& grad = grads[0];"
        for name in sorted(self.info.used_named_gradients):
            number = self.with_gradient.index(name.removeprefix("grad_"))
            yield f"const auto& {name} = grads[{number}];"

    def _each_without_formula(self, derivative: Derivative) -> Iterator[Derivative]:
        """Give each input of `self, other: not_implemented("f")` its own error: the function returns no tuple."""
        formula = derivative.formula
        tree = formula.tree
        if len(derivative.var_names) == 1 or tree is None or tree.scope or tree.kind != "call":
            tree = None
        if tree is None or tree.text not in _NOT_IMPLEMENTED:
            yield derivative
            return
        for name in derivative.var_names:
            function = _NOT_IMPLEMENTED[name in self._lists]
            written = formula.replace([(tree.at, tree.opening, function)])
            yield msgspec.structs.replace(derivative, var_names=(name,), formula=written)

    def _backward(self, derivative: Derivative) -> Item:
        names = derivative.var_names
        numbers = [self.inputs.index(name) for name in names]
        is_list = names[0] in self._lists
        give, after = _giver(numbers, is_list=is_list), ");"
        locals = []
        if derivative.formula.uses(_MASK):
            values = ", ".join(f"{_CALL}.computes({i})" for i in numbers)
            locals.append(f"const ::std::array<bool, {len(names)}> {_MASK}{{{values}}};")
        if derivative.formula.uses(_RETAIN):
            locals.append(f"const bool {_RETAIN} = {_CALL}.{_RETAIN}();")
        if self.is_foreach:
            give = f"{_CALL}.give_each<{numbers[0]}>(grads.size(), [&](::std::size_t i) -> Tensor {{ if (!grads[i].defined()) return Tensor(); return "
            after = "; });"
        return self._call(
            derivative.formula,
            derivative.place,
            condition=self._needs(names, "computes"),
            locals=locals,
            start=give,
            after=after,
        )

    def _of_forward(self, names: AbstractSet[str]) -> Iterator[tuple[str, str]]:
        """Yield the definitions of those `names` that stand for a value or tangent, and the argument that each reads."""
        arguments = [(name, name) for name in self.arguments]
        for name, argument in (*arguments, ("original_self", "self")):
            for suffix, value in _OF_FORWARD:
                if name + suffix in names:
                    item = f"{argument}[i]" if argument in self._lists else argument
                    yield value.format(
                        name + suffix, item if self.is_foreach else argument
                    ), argument

    def _tangents(self, derivative: ForwardDerivative) -> Sequence[str]:
        """Return the arguments with whose tangents a formula is computed."""
        found = [n for n in derivative.required_inputs_fw_grad if n in self.arguments]
        found += [n for n in self.inputs if n not in found and derivative.formula.uses(n)]
        return found or self.inputs

    def _forward(self, derivative: ForwardDerivative) -> Item:
        tangents = self._tangents(derivative)
        names = return_names(self.info.func)
        flags = self.with_gradient
        numbers = [_output_number(n, names, flags) for n in derivative.var_names]
        is_list = derivative.var_types[0].is_list_like() is not None
        start, after = _giver(numbers, is_list=is_list), ");"
        if self.is_foreach:
            locals = [text for text, _ in self._of_forward(derivative.formula.names)]
            items = ", ".join(f"{n}[i]" if n in self._lists else n for n in tangents)
            start = f"{_CALL}.give_each<0>(result.size(), [&](::std::size_t i) -> Tensor {{ if (!{_CALL}.has_tangent({items})) return Tensor(); {' '.join(locals)} return "
            after = "; });"
        return self._call(
            derivative.formula,
            derivative.place,
            condition=f"{_CALL}.has_tangent({', '.join(tangents)})",
            start=start,
            after=after,
        )

    @cached_property
    def _lists(self) -> frozenset[str]:
        """The arguments that are lists of tensors."""
        flat = self.info.func.func.arguments.flat_all
        return frozenset(a.name for a in flat if a.type.is_list_like() is not None)

    def _edits(self, formula: Formula) -> Iterator[tuple[int, int, str]]:
        """Yield what C++ of the target has in place of parts of a formula.

        Calls of the library's own operators and of its author's functions have their namespace: ATen may have functions of
        the same names, which C++ finds by the types of the arguments, so `clone(self)` would be ambiguous.
        """
        f = self.info.func
        namespace = operator_namespace(f.namespace)
        for node in formula.nodes:
            if node.kind in ("call", "method") and not self.context.target.cpp.symint_overloads:
                end = node.at + len(node.text)
                if node.text.endswith("_symint"):
                    yield end - len("_symint"), end, ""
        own = self.context.cpp_names[f.namespace] if f.is_library else ()
        for call in called_functions(formula) if f.is_library else ():
            is_declared = (namespace, call.text) in self.context.formula_files.declared
            if is_declared or _OVERLOAD.sub("", call.text) in own:
                yield call.at, call.at, f"{namespace}::"

    def _call(
        self,
        formula: Formula,
        place: TextPlace,
        *,
        start: str = "return ",
        after: str = ";",
        condition: str = "",
        locals: Iterable[str] = (),
    ) -> Item:
        """Return a formula, what is done with its value, and its place.

        `condition` says when it is needed, `locals` are the values that only it uses. `called` are the operators of the
        library and of ATen that it may call: the functions that neither opgen nor a header of the author declares.
        """
        # The formula begins in the column that it has in its file, so that compilers mark the right characters.
        first = place.part(0, 1)
        source, location = first.source, first.source.location(first.start)
        text = formula.replace(self._edits(formula)).text
        for saved in self.info.all_saved_inputs:
            # What torchgen writes for an optional string has no parentheses.
            if saved.type == OPTIONAL_STRING:
                written = optional_string(saved.name)
                text = text.replace(written, f"({written})")
        known = ("", "at", operator_namespace(self.info.func.namespace))
        declared = {name for _, name in self.context.formula_files.declared}
        declared |= set(HELPERS) - HELPERS_OF_ATEN
        return Item(
            condition=condition,
            locals=tuple(locals),
            start=start.rstrip(),
            formula=f"{' ' * (location.column - 1)}{text.strip()}",
            read=formula,
            called=frozenset(
                node.text.removesuffix("_symint")
                for node in formula.calls()
                if node.scope in known and (node.scope == "at" or node.text not in declared)
            ),
            file=cpp_string(self.context.formula_files.short_names[source.path]),
            line=location.line,
            after=after,
        )


def _giver(numbers: Sequence[int], *, is_list: bool) -> str:
    """Return the text before a formula for these inputs or outputs: a call whose argument is the formula."""
    several = len(numbers) > 1
    function = "gives_all" if several else "gives_list" if is_list else "gives"
    return f"opgen::autograd::{function}<{', '.join(map(str, numbers))}>({_CALL}).value("


def _positions(names: Iterable[str], among: Sequence[str]) -> str:
    """Return `0, 2`: the positions of the names, in their order."""
    return ", ".join(str(among.index(name)) for name in names if name in among)


def _parameters(names: Sequence[str], words: AbstractSet[str]) -> str:
    """Return `const auto& self, const auto&...`: a parameter for each name, which it has if it is one of the words.

    The last ones without a name are a pack: the in-place operator on lists may have fewer arguments.
    """
    used = [name in words for name in names]
    count = max((i + 1 for i, is_used in enumerate(used) if is_used), default=0)
    found = [f", const auto& {n}" if u else ", const auto&" for n, u in zip(names[:count], used)]
    rest = len(names) - count
    return "".join([*found, ", const auto&" if rest == 1 else ", const auto&..." if rest else ""])


def _only_if(name: str, formula: Formula) -> int | None:
    """Return the index i of `wrap_opt_if(name, grad_input_mask[i])`, if the formula reads the name there alone."""
    if _WRAP not in formula.text or len([*formula.find_all(name)]) != 1:
        return None
    calls = (node for node in formula.calls() if node.text == _WRAP and len(node.parts) == 2)
    wrapped = [node.parts[1] for node in calls if node.parts[0].is_name(name)]
    return next((number for number, node in formula.items(_MASK) if node in wrapped), None)


def _output_number(name: str, names: Sequence[str], with_gradient: Sequence[str]) -> int:
    """Return the number of an output among those that have a gradient."""
    if name in with_gradient:
        return with_gradient.index(name)
    match = re.fullmatch(r"result(\d+)", name)
    if match is not None and int(match[1]) < len(names) and names[int(match[1])] in with_gradient:
        return with_gradient.index(names[int(match[1])])
    return 0
