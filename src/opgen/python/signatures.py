"""Operators into Python signatures: what the argument parser reads, and what a stub declares.

Python's arguments are the schema's in order, but for these: the out arguments are one, `out`, that may
be missing; the quartet dtype, layout, device, pin_memory comes last and with `requires_grad`, and
factories and their kin have it even if the schema does not.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence

from opgen.cpp.spelling import TypeSpelling
from opgen.dataclasses import dataclass, field
from opgen.model.function_schema import TENSOR, Argument, FunctionSchema, Return
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.python.defaults import parser_default, python_default, stub_default
from opgen.python.python_types import NoPythonSignature, or_none, parser_type
from opgen.python.spelling import PythonSpelling

# Added to every signature with tensor options, so no schema can have it.
REQUIRES_GRAD = "requires_grad"


@dataclass(frozen=True, slots=True)
class Spellings:
    """How a target writes defaults in C++, from which Python's follow, and types in Python."""

    cpp: TypeSpelling
    python: PythonSpelling


@dataclass(frozen=True, slots=True)
class PythonArgument:
    """`default` is C++ text with Python's words and numbers, as `python_default` makes it.

    `annotation` is what a stub says of it where that is not what it says of the type.
    """

    name: str
    type: Type
    default: str | None
    annotation: str | None = field(default=None, kw_only=True)

    def parser_text(self, spellings: Spellings, *, method: bool) -> str:
        """`Tensor input`, `int64_t dim=-1`: as the argument parser reads it."""
        type = parser_type(self.type, spellings.python)
        name = self._python_name(method)
        text = f"{type} {name}"
        if self.default is None:
            return text
        return f"{text}={parser_default(self.default, spellings.cpp)}"

    def stub_text(self, spellings: Spellings, *, method: bool) -> str:
        """`input: Tensor`, `dim: _int = -1`: as a stub declares it."""
        type = self.annotation or spellings.python.taken(self.type)
        name = self._python_name(method)
        text = f"{_identifier(name)}: {or_none(type) if name == 'out' else type}"
        if self.default is None:
            return text
        return f"{text} = {stub_default(self.default, self.type, spellings.cpp, spellings.python)}"

    def _python_name(self, method: bool) -> str:
        """A function's tensor `self` is called `input`."""
        is_input = self.name == "self" and self.type == TENSOR and not method
        return "input" if is_input else self.name


_WORD = re.compile(r"\w+")


def _identifier(name: str) -> str:
    """`from_` for the keyword that is the name of arguments."""
    return f"{name}_" if keyword.iskeyword(name) else name


@dataclass(frozen=True, slots=True)
class PythonOutArgument(PythonArgument):
    """All out arguments as one; `outputs` are those of the schema."""

    outputs: tuple[PythonArgument, ...]

    @staticmethod
    def from_outputs(outputs: tuple[PythonArgument, ...]) -> PythonOutArgument | None:
        """None if there are no outputs. Raises NoPythonSignature."""
        if not outputs:
            return None
        if len(outputs) == 1:
            return PythonOutArgument(outputs[0].name, outputs[0].type, "None", outputs)
        if not all(a.type.is_tensor_like() for a in outputs):
            raise NoPythonSignature("one of several out arguments is no tensor")
        tensors = ListType(TENSOR, len(outputs))
        return PythonOutArgument("out", tensors, "None", outputs)


# The types and defaults of these are the same whatever the schema says.
_TENSOR_OPTIONS = (
    PythonArgument("dtype", OptionalType(BaseType(BaseTy.ScalarType)), "None"),
    PythonArgument("layout", OptionalType(BaseType(BaseTy.Layout)), "None"),
    PythonArgument("device", OptionalType(BaseType(BaseTy.Device)), "None"),
    PythonArgument("pin_memory", OptionalType(BaseType(BaseTy.bool)), "False"),
    PythonArgument(REQUIRES_GRAD, OptionalType(BaseType(BaseTy.bool)), "False"),
)


@dataclass(frozen=True, slots=True)
class PythonSignature:
    """One way to call an operator, as a function or as a method (which does not have `self`).

    `result` is what a stub says is returned where that is not what it says of `returns`.
    """

    name: str
    input_args: tuple[PythonArgument, ...]
    input_kwargs: tuple[PythonArgument, ...]
    output_args: PythonOutArgument | None
    tensor_options_args: tuple[PythonArgument, ...]
    returns: tuple[Return, ...]
    method: bool
    result: str | None = None

    @staticmethod
    def from_native_function(
        f: NativeFunction, spelling: TypeSpelling, *, method: bool = False
    ) -> PythonSignature:
        """The signature of `f`. Raises NoPythonSignature."""
        arguments = f.func.arguments
        if any(a.name == REQUIRES_GRAD for a in arguments.flat_all):
            raise NoPythonSignature(f"an argument is called {REQUIRES_GRAD}")
        positional = arguments.flat_positional
        if method:
            positional = arguments.pre_self_positional + arguments.post_self_positional
        keyword = arguments.pre_tensor_options_kwarg_only + arguments.post_tensor_options_kwarg_only
        outputs = _python_arguments(arguments.out, spelling)
        return PythonSignature(
            name=str(f.func.name.name),
            input_args=_python_arguments(positional, spelling),
            input_kwargs=_python_arguments(keyword, spelling),
            output_args=PythonOutArgument.from_outputs(outputs),
            tensor_options_args=_TENSOR_OPTIONS if _takes_tensor_options(f) else (),
            returns=f.func.returns,
            method=method,
        )

    def arguments(self) -> tuple[PythonArgument, ...]:
        outputs = () if self.output_args is None else (self.output_args,)
        return self.input_args + self.input_kwargs + outputs + self.tensor_options_args

    def signature_str(self, spellings: Spellings) -> str:
        """The signature as the argument parser reads it. Raises NoPythonSignature."""
        texts = [a.parser_text(spellings, method=self.method) for a in self.arguments()]
        return f"{self.name}({', '.join(self._with_star(texts))})"

    def signature_str_pyi(self, spellings: Spellings) -> str:
        """The signature as a stub declares it. Raises NoPythonSignature."""
        texts = [a.stub_text(spellings, method=self.method) for a in self.arguments()]
        own = ["self"] if self.method else []
        returned = self._stub_returns(spellings.python)
        return spellings.python.declare(self.name, own + self._with_star(texts), returned)

    def signature_str_pyi_vararg(self, spellings: Spellings) -> str | None:
        """`zeros(2, 3)` for `zeros((2, 3))`, as a stub declares it; None if there is no such call.

        Raises NoPythonSignature.
        """
        if len(self.input_args) != 1 or str(self.input_args[0].type) not in ("int[]", "SymInt[]"):
            return None
        (list_arg,) = self.input_args
        assert isinstance(list_arg.type, ListType)
        number = spellings.python.taken(list_arg.type.elem)
        texts = [a.stub_text(spellings, method=self.method) for a in self.arguments()[1:]]
        own = ["self"] if self.method else []
        own += [f"{list_arg.name}0: {number}", "/", f"*{list_arg.name}: {number}"]
        returned = self._stub_returns(spellings.python)
        return spellings.python.declare(self.name, own + texts, returned)

    def signature_str_help(self, spellings: Spellings) -> str:
        """The signature on one line, for people: `add(input: Tensor, dim: int = 0) -> Tensor`.

        Raises NoPythonSignature.
        """
        texts = [a.stub_text(spellings, method=self.method) for a in self.arguments()]
        returned = self._stub_returns(spellings.python)
        text = f"{self.name}({', '.join(self._with_star(texts))}) -> {returned}"
        say = spellings.python.people_say
        return _WORD.sub(lambda word: say.get(word[0], word[0]), text)

    def _with_star(self, texts: list[str]) -> list[str]:
        """`texts` with the star after which arguments are keyword-only, if any are."""
        positional = len(self.input_args)
        if len(texts) == positional:
            return texts
        return [*texts[:positional], "*", *texts[positional:]]

    def _stub_returns(self, spelling: PythonSpelling) -> str:
        if self.result is not None:
            return self.result
        if field_names(self.returns):
            return f"{spelling.return_types}.{self.name}"
        types = [spelling.returned(r.type) for r in self.returns]
        if len(types) > 1:
            return f"tuple[{', '.join(types)}]"
        return types[0] if types else "None"


def field_names(returns: Sequence[Return]) -> tuple[str, ...]:
    """The names by which several returns can be taken; none, if they have none.

    Raises NoPythonSignature if only some have one.
    """
    names = tuple(r.name for r in returns if r.name is not None)
    if len(returns) <= 1 or not names:
        return ()
    if len(names) < len(returns):
        raise NoPythonSignature("some of the returns have a name, and others do not")
    return names


def _python_arguments(
    arguments: Iterable[Argument], spelling: TypeSpelling
) -> tuple[PythonArgument, ...]:
    return tuple(
        PythonArgument(
            a.name,
            a.type,
            None if a.default is None else python_default(a.default, a.type, spelling),
        )
        for a in arguments
    )


def _takes_tensor_options(f: NativeFunction) -> bool:
    """Factories make tensors from no tensor, and `new_…` and `…_like` others from one."""
    if f.category_override == "dummy":
        return False
    return f.category_override in ("factory", "new", "like") or _is_factory(f.func)


def _is_factory(func: FunctionSchema) -> bool:
    name = str(func.name.name)
    if name.startswith("new_") or (name.endswith("_like") and not func.is_out_fn()):
        return True
    makes_tensor = any(r.type.is_tensor_like() for r in func.returns)
    return makes_tensor and not func.arguments.has_tensor_arg()
