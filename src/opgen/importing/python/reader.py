"""Read the registrations of Python sources: torch.library, and helpers that define an operator from a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NoReturn

from msgspec import Struct, field

from opgen.diagnostics.suggestions import shorten
from opgen.importing.common.registrations import (
    CATCH_ALL,
    Definition,
    FakeKernel,
    Implementation,
    Kernel,
    KernelKind,
    Reading,
    find_name,
)
from opgen.importing.python.module import Around, Function, PythonModule
from opgen.importing.python.schema import UNKNOWN, NoSchema, infer_schema, is_none
from opgen.importing.python.values import CUSTOM_OPS, FAKE, HELPER, IN_PYTHON, META_KERNEL, METHODS
from opgen.model.native_function import FALLTHROUGH, AliasAnalysisKind

_LIBRARY = frozenset({"torch.library.Library", "torch.library._scoped_library"})
# The modules that export functions of `torch.library`.
_MODULES = (
    "torch.library.",
    "torch._library.",
    "torch._library.triton.",
    "torch._library.custom_ops.",
)
_HELPER_ARGUMENTS = (
    *("op_name", "op_func", "mutates_args", "fake_impl", "target_lib", "dispatch_key", "tags"),
)
_ALWAYS_TAGGED = "pt2_compliant_tag"


class _PythonLibrary(Struct, frozen=True):
    """A `torch.library.Library`: its namespace, None if that is known only at run time, and its dispatch key."""

    namespace: str | None
    key: str | None


class _Stop(Exception):
    """Ends the reading of a call, after a report."""


class _Module(Struct, frozen=True):
    """A module that is read; `modules` are all sources. `operators` are those that custom_op made, by their objects' names."""

    module: PythonModule
    modules: Sequence[PythonModule]
    namespace: str | None
    reading: Reading
    operators: dict[str, str] = field(default_factory=dict)


def read_module(
    module: PythonModule, modules: Sequence[PythonModule], namespace: str | None, reading: Reading
) -> None:
    """Read the calls of a module, in order, and add its registrations to `reading`. `modules` are all sources."""
    of = _Module(module, modules, namespace, reading)
    for node, around, function in _calls(module):
        with suppress(_Stop):
            _CallReader(of, node, around, function).read()


class _CallReader:
    """Reads one call, or a decorator with or without brackets. `function` is the decorated one."""

    def __init__(self, of: _Module, node: ast.expr, around: Around, function: Function | None):
        self.module, self.modules = of.module, of.modules
        self.namespace, self.reading, self.operators = of.namespace, of.reading, of.operators
        self.node, self.around, self.function = node, around, function
        call = node if isinstance(node, ast.Call) else None
        # The called name: the call may have many lines.
        self.called = node if call is None else call.func
        self.arguments = [] if call is None else call.args
        keywords = [] if call is None else call.keywords
        self.keywords = {one.arg: one.value for one in keywords if one.arg is not None}

    def argument(self, place: int, name: str) -> ast.expr | None:
        """Return the argument that is passed by position or by name."""
        if place < len(self.arguments):
            return self.arguments[place]
        return self.keywords.get(name)

    def read(self) -> None:
        name = self._full_name(self.module.dotted(self.called))
        method = name.rpartition(".")[2]
        if any(isinstance(node, Function) and node.name == HELPER for node in self.around):
            # The body of the helper is skipped: its calls are read.
            return
        if name == "getattr":
            self._unknown_attribute()
        elif method == HELPER:
            self._helper()
        elif name.startswith(_MODULES) or self._is_like(method):
            self._torch_library(method)
        else:
            self._method()

    def _unknown_attribute(self) -> None:
        """Report a function of torch.library, or a method of a library, whose name is known only at run time."""
        found = self.module.attribute(self.node, self.around)
        if found is None or found[1]:
            return
        owner = found[0]
        is_module = f"{self.module.dotted(owner)}." in _MODULES
        if is_module or self._library(owner) is not None or self._may_be_library(owner):
            self._unknown("what registers")

    def _is_like(self, method: str) -> bool:
        """Return whether a function that is not known has the name and the operator of one of torch.library."""
        named = self._string(self.argument(0, "name")) if self.arguments else None
        return method in {*CUSTOM_OPS, *IN_PYTHON} and "::" in (named or "")

    # Functions of torch.library

    def _torch_library(self, method: str) -> None:
        first = self.argument(0, "qualname") or self.argument(0, "op") or self.argument(0, "lib")
        library = None if first is None else self._library(first)
        if method in CUSTOM_OPS:
            self._custom_op()
        elif method == "define" and library is not None:
            self._define(library, self.argument(1, "schema"), None)
            self._stays("a kernel", None)
        elif method == "define":
            self._define_qualified()
        elif method == "impl" and library is not None:
            name = self.argument(1, "name")
            self._python_kernel(library, name, self._string(self.argument(2, "key")))
        elif method == "impl":
            self._impl_qualified()
        elif method in IN_PYTHON:
            self._stays(IN_PYTHON[method], self._operator(first))

    def _define_qualified(self) -> None:
        namespace, name = self._qualified(self.argument(0, "qualname"))
        schema = self._string(self.argument(1, "schema"))
        if schema is None or not namespace:
            self._unknown("the name or the schema")
        self._add(namespace, f"{name}{schema}", self._tags())

    def _impl_qualified(self) -> None:
        keys = self._strings(self.argument(1, "types"))
        operator = self._operator(self.argument(0, "qualname"))
        function = self.argument(2, "func")
        if operator is not None and self._is_fallthrough(function):
            for key in keys or ():
                self._fallthrough(operator, key)
            return
        self._stays(f"a kernel for {', '.join(keys or ('some keys',))}", operator)

    # Methods

    def _method(self) -> None:
        found = self.module.attribute(self.called, self.around)
        if found is None or found[1] not in METHODS:
            return
        value, method = found
        library = self._library(value)
        owner = self._operator(value)
        if library is not None and method == "define":
            self._define(library, self.argument(0, "schema"), self.argument(1, "alias_analysis"))
        elif library is not None and method == "impl":
            key = self._string(self.argument(2, "dispatch_key")) or library.key
            self._python_kernel(library, self.argument(0, "op_name"), key)
        elif library is not None and method == "fallback":
            message = "a fallback belongs to no operator"
            self.reading.problems.warn("W1163", message, self.module.span(self.node))
        elif library is not None and method in IN_PYTHON:
            self._stays(IN_PYTHON[method], self._name_in(library, self.argument(0, "op_name")))
        elif owner is not None and method in IN_PYTHON:
            self._stays(IN_PYTHON[method], owner)
        elif self._may_be_library(value) or method in IN_PYTHON:
            self._unknown("the library or the operator")

    def _define(
        self, library: _PythonLibrary, schema: ast.expr | None, analysis: ast.expr | None
    ) -> None:
        written = self._known(schema, "the schema")
        given = self._string(analysis)
        kind = self.reading.analysis(given, self.module.span(self.node)) if given else None
        namespace = library.namespace or self.namespace
        if namespace is None:
            self._unknown_namespace()
        self._add(namespace, written, self._tags(), kind)

    def _python_kernel(
        self, library: _PythonLibrary, name: ast.expr | None, key: str | None
    ) -> None:
        operator = self._name_in(library, name)
        if operator is not None and self._is_fallthrough(self.argument(1, "fn")):
            self._fallthrough(operator, key or CATCH_ALL)
            return
        self._stays(f"a kernel for {key or CATCH_ALL}", operator)

    # Operators that a function defines

    def _custom_op(self) -> None:
        namespace, name = self._qualified(self.argument(0, "name"))
        if not namespace:
            self._unknown("the operator's name")
        operator = f"{namespace}::{name}"
        function = self.function or self._function(self.argument(1, "fn"))
        if self.function is not None:
            self.operators[self.function.name] = operator
        tags = self._tags()
        schema = self._string(self.keywords.get("schema"))
        if schema is None and "schema" in self.keywords and not is_none(self.keywords["schema"]):
            self._unknown("the schema")
        if schema is None:
            schema = self._infer(function, self.keywords.get("mutates_args"), tags, operator)
        self._add(namespace, f"{name}{schema}", tuple(dict.fromkeys((_ALWAYS_TAGGED, *tags))))
        self._stays("its kernel", operator)

    def _helper(self) -> None:
        """Read `direct_register_custom_op(op_name=..., op_func=..., mutates_args=[...])`."""
        arguments = {n: self.argument(i, n) for i, n in enumerate(_HELPER_ARGUMENTS)}
        name = self._known(arguments["op_name"], "the operator's name")
        namespace = self._helpers_namespace(arguments["target_lib"])
        if namespace is None:
            self._unknown_namespace()
        function = self._function(arguments["op_func"])
        operator = f"{namespace}::{name}"
        schema = self._infer(function, arguments["mutates_args"], (), operator)
        self._add(namespace, f"{name}{schema}", self._tags_of(arguments["tags"]))
        key = self._string(arguments["dispatch_key"])
        kernel = "its kernel" if key is None else f"its kernel for {key}"
        self._stays(kernel, operator)

    def _helpers_namespace(self, target: ast.expr | None) -> str | None:
        """Return the namespace of the library that is passed to the helper, or else of the one that it uses."""
        if target is not None and not is_none(target):
            library = self._library(target)
            if library is not None:
                return library.namespace
        namespaces = {
            library.namespace
            for module in self.modules
            for function in module.functions.get(HELPER, ())
            for node in ast.walk(function)
            if isinstance(node, ast.Name)
            for library in _libraries(module, node.id)
        }
        if len(namespaces) == 1:
            return namespaces.pop()
        return self.namespace

    def _infer(
        self,
        function: Function | None,
        mutates: ast.expr | None,
        tags: Sequence[str],
        operator: str,
    ) -> str:
        reason = ""
        names = self._strings(mutates) if mutates is not None else ()
        if isinstance(mutates, ast.Constant) and mutates.value == UNKNOWN:
            names = None
        elif mutates is not None and names is None:
            reason = "mutates_args is known only at run time"
        if function is None:
            reason = "its function is not among the sources"
        if not reason and function is not None:
            written = UNKNOWN if names is None else names
            try:
                return infer_schema(self.module, function, self.around, written, tags)
            except NoSchema as problem:
                reason = str(problem)
        message = f"'{operator}' has no schema: {reason}"
        self.reading.problems.warn("W1165", message, self.module.span(self.node))
        raise _Stop

    def _function(self, node: ast.expr | None) -> Function | None:
        """Return the function that an expression names; None if another module defines it."""
        if not isinstance(node, ast.Name):
            return None
        return self.module.find_function(node.id, self.node.lineno)

    # Results

    def _add(
        self,
        namespace: str,
        written: str,
        tags: tuple[str, ...],
        analysis: AliasAnalysisKind | None = None,
    ) -> None:
        span = self.module.span(self.node)
        made = Definition(namespace, "", span, (), tags, alias_analysis=analysis)
        self.reading.define(written, made)

    def _fallthrough(self, operator: str, key: str) -> None:
        namespace, _, name = operator.partition("::")
        span = self.module.span(self.node)
        if not key.isidentifier():
            message = f"the dispatch key '{shorten(key)}' is not known"
            self.reading.problems.warn("W1177", message, span)
            return
        kernel = Kernel(KernelKind.fallthrough, FALLTHROUGH, span)
        self.reading.registrations.append(Implementation(namespace, name, key, kernel, span))

    def _stays(self, what: str, operator: str | None) -> None:
        if operator is not None and what in (FAKE, META_KERNEL):
            self.reading.fakes.append(FakeKernel(operator, self.module.span(self.called)))
            return
        subject = "an operator" if operator is None else f"'{operator}'"
        message = f"{subject} has {what} in Python, which stays there"
        self.reading.problems.warn("W1164", message, self.module.span(self.called))

    def _report(self, what: str) -> None:
        message = f"{what} is known only at run time"
        self.reading.problems.warn("W1160", message, self.module.span(self.called))

    def _unknown(self, what: str) -> NoReturn:
        self._report(what)
        raise _Stop

    def _unknown_namespace(self) -> NoReturn:
        name = "the namespace of a library in Python"
        self.reading.unknown_namespaces.setdefault(name, []).append(self.module.span(self.called))
        raise _Stop

    # Values

    def _string(self, node: ast.expr | None) -> str | None:
        return self.module.find_string(node, self.around)

    def _known(self, node: ast.expr | None, what: str) -> str:
        """Return the string that an expression evaluates to; without one, report `what` and raise."""
        found = self._string(node)
        if found is None:
            self._unknown(what)
        return found

    def _qualified(self, node: ast.expr | None) -> tuple[str, str]:
        """Return the namespace and the name in `ns::name`; empty if they are known only at run time."""
        return find_name(self._string(node) or "") or ("", "")

    def _strings(self, node: ast.expr | None) -> tuple[str, ...] | None:
        """Return the strings of a tuple, list or set, or a single string; None if they are known only at run time."""
        value = None if node is None else self.module.value(node, self.around)
        if node is None or (value is None or value == {}):
            return None if node is None else ()
        items = value if isinstance(value, list) else [value]
        known = tuple(item for item in items if isinstance(item, str))
        return known if len(known) == len(items) else None

    def _tags(self) -> tuple[str, ...]:
        return self._tags_of(self.keywords.get("tags"))

    def _tags_of(self, node: ast.expr | None) -> tuple[str, ...]:
        if isinstance(node, ast.Name):
            node = self.module.find_value(node, self.around) or node
        if node is None or is_none(node):
            return ()
        items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
        names = [self.module.dotted(item) for item in items]
        known = [n.rpartition(".")[2] for n in names if ".Tag." in n]
        if len(known) < len(items):
            self._report("a tag")
        return tuple(dict.fromkeys(known))

    def _full_name(self, dotted: str) -> str:
        """Return the name in torch.library for which another source's name stands: `register = torch.library.register_fake`."""
        for module, name in self._elsewhere(dotted):
            full = module.full_name(name)
            if full.startswith(_MODULES):
                return full
        return dotted

    def _elsewhere(self, dotted: str) -> Iterator[tuple[PythonModule, str]]:
        """Yield the sources that may define a name that this one imports, each with the name there."""
        path, _, name = dotted.rpartition(".")
        file = path.rpartition(".")[2]
        for module in self.modules if file else ():
            if module.source.path.rpartition("/")[2] in (f"{file}.py", "__init__.py"):
                yield module, name

    def _may_be_library(self, node: ast.expr) -> bool:
        """Return whether an expression that is not known may be a library, by its name or its annotation."""
        last = self.module.dotted(node.func if isinstance(node, ast.Call) else node)
        name = node.id if isinstance(node, ast.Name) else ""
        for function in self.around if name else ():
            for one in function.args.args if isinstance(function, Function) else ():
                if one.arg == name and one.annotation is not None:
                    return self.module.dotted(one.annotation) in _LIBRARY
        return "lib" in last.rpartition(".")[2].lower()

    def _library(self, node: ast.expr) -> _PythonLibrary | None:
        """Return the library that an expression evaluates to; None if it is not a known one."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            # A function that only returns a library.
            function = self.module.find_function(node.func.id, node.lineno)
            inside = () if function is None else ast.walk(function)
            returned = [n.value for n in inside if isinstance(n, ast.Return) and n.value]
            if len(returned) == 1 and isinstance(returned[0], ast.Call):
                return _library_of(self.module, returned[0], self.around)
        if isinstance(node, ast.Name | ast.Attribute):
            assigned = self.module.find_assigned(ast.unparse(node), self.around, self.node.lineno)
            if assigned is None:
                # Another source creates it, and this one imports it: `from pkg.lib import my_lib`.
                elsewhere = self._elsewhere(self.module.dotted(node))
                return next((one for place in elsewhere for one in _libraries(*place)), None)
            return _library_of(self.module, assigned.value, assigned.around)
        return _library_of(self.module, node, self.around)

    def _operator(self, node: ast.expr | None) -> str | None:
        """Return `ns::name` for a string, for `torch.ops.ns.name`, or for a result of custom_op; None for others."""
        if node is None:
            return None
        string = self._string(node)
        if string is not None:
            return string if "::" in string else None
        dotted = self.module.dotted(node)
        if dotted in self.operators:
            return self.operators[dotted]
        value = self.module.find_value(node, self.around) if isinstance(node, ast.Name) else None
        if isinstance(value, ast.Call) and value.args:
            is_custom = self.module.dotted(value.func).rpartition(".")[2] in CUSTOM_OPS
            return self._string(value.args[0]) if is_custom else None
        parts = dotted.split(".")
        if parts[:2] != ["torch", "ops"] or not 4 <= len(parts) <= 5:
            return None
        overload = f".{parts[4]}" if len(parts) == 5 and parts[4] != "default" else ""
        return f"{parts[2]}::{parts[3]}{overload}"

    def _name_in(self, library: _PythonLibrary, node: ast.expr | None) -> str | None:
        string = self._string(node)
        if string is None or library.namespace is None:
            return self._operator(node)
        return string if "::" in string else f"{library.namespace}::{string}"

    def _is_fallthrough(self, node: ast.expr | None) -> bool:
        return node is not None and self.module.dotted(node).endswith("fallthrough_kernel")


def _calls(module: PythonModule) -> Iterator[tuple[ast.expr, Around, Function | None]]:
    """Yield calls and decorators, in order, with what is around them, and the functions that they decorate."""
    decorators: set[int] = set()
    for node, around in module.nodes:
        if isinstance(node, Function):
            for decorator in node.decorator_list:
                decorators.add(id(decorator))
                yield decorator, around, node
        elif isinstance(node, ast.Call) and id(node) not in decorators:
            # `register_fake("ns::f")(fn)`, and `custom_op("ns::f", mutates_args=())(fn)`.
            inner = node.func
            if isinstance(inner, ast.Call) and module.attribute(inner) is None:
                decorators.add(id(inner))
                decorated = node.args[0] if node.args else None
                name = decorated.id if isinstance(decorated, ast.Name) else ""
                yield inner, around, module.find_function(name, node.lineno)
            else:
                yield node, around, None


def _library_of(module: PythonModule, node: ast.expr, around: Around) -> _PythonLibrary | None:
    """Return the library that an expression creates; None if it creates none."""
    if not isinstance(node, ast.Call) or module.dotted(node.func) not in _LIBRARY:
        return None
    positional = [*node.args, None, None, None]
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    namespace = module.find_string(positional[0] or named.get("ns"), around)
    key = module.find_string(positional[2] or named.get("dispatch_key"), around)
    return _PythonLibrary(namespace, key or None)


def _libraries(module: PythonModule, name: str) -> Iterator[_PythonLibrary]:
    """Yield the libraries that are assigned to a name of a module."""
    for assigned in module.assigned.get(name, ()):
        library = _library_of(module, assigned.value, assigned.around)
        if library is not None:
            yield library
