"""Mistakes of a kernel author on the first day, and what a good message about each contains.

They are typical of people who write C++ and Python all day: types, declarations and comments of these languages,
YAML's indentation, and names that were mistyped. The list was written before the messages were improved.

`«…»` in a text marks the place to which the message must point; the marks are removed before the text is read.
"""

from __future__ import annotations

from dataclasses import dataclass

_HEAD = "- namespace: mylib\n\n"
_TABLE = "  dispatch:\n    CPU: f_cpu\n"


@dataclass(frozen=True)
class Mistake:
    """A file with one mistake.

    `says` is part of the message, and names the cause. `remedy` is part of the hint or of a note. `fix` is what
    `--fix` writes instead of the marked text; None if no fix is certain.
    """

    name: str
    text: str
    says: str
    remedy: str
    fix: str | None = None

    @property
    def source(self) -> str:
        return self.text.replace("«", "").replace("»", "")

    @property
    def place(self) -> tuple[int, int]:
        """The start and the end of the marked text in `source`."""
        start = self.text.index("«")
        return start, self.text.index("»") - 1


def _schema(name: str, schema: str, says: str, remedy: str, fix: str | None = None) -> Mistake:
    """A mistake in the schema of an operator."""
    return Mistake(name, f"{_HEAD}- func: {schema}\n{_TABLE}", says, remedy, fix)


def _argument(name: str, type_: str, says: str, remedy: str, fix: str | None = None) -> Mistake:
    """A mistake in the type of an argument."""
    return _schema(name, f"f(Tensor self, «{type_}» x) -> Tensor", says, remedy, fix)


def _returns(name: str, type_: str, says: str, remedy: str, fix: str | None = None) -> Mistake:
    """A mistake in what an operator returns."""
    return _schema(name, f"f(Tensor self) -> «{type_}»", says, remedy, fix)


def _keys(name: str, keys: str, says: str, remedy: str, fix: str | None = None) -> Mistake:
    """A mistake in the keys after `func`."""
    text = f"{_HEAD}- func: f(Tensor self, int n) -> Tensor\n{keys}"
    return Mistake(name, text, says, remedy, fix)


def _table(name: str, rows: str, says: str, remedy: str, fix: str | None = None) -> Mistake:
    """A mistake in the dispatch table."""
    return _keys(name, f"  dispatch:\n    {rows}\n", says, remedy, fix)


_SOFTEN = (
    "- func: soften(Tensor self, float amount) -> Tensor\n  structured_delegate: soften.out\n\n"
)
_SOFTEN_OUT = "- func: soften.out(Tensor self, float amount, *, Tensor(a!) out) -> Tensor(a!)\n"


def _minmax(name: str, rest: str, says: str, remedy: str) -> Mistake:
    """A mistake in the out arguments, or in what is returned, of a structured operator with two of them."""
    text = (
        f"{_HEAD}- func: minmax(Tensor self) -> (Tensor, Tensor)\n"
        f"  structured_delegate: minmax.out\n\n- func: minmax.out(Tensor self, *, {rest}\n"
        "  structured: True\n  dispatch:\n    CPU: minmax_out\n"
    )
    return Mistake(name, text, says, remedy)


_VIEW = "- func: aten::flip_view(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: flip_view\n\n"
_COPY_TABLE = (
    "  tags: view_copy\n  dispatch:\n    CompositeExplicitAutogradNonFunctional: flip_view_copy\n"
)

MISTAKES: tuple[Mistake, ...] = (
    # Types of C++.
    _argument("double", "double", "'double' is a type of C++", "write 'float'", "float"),
    _argument("int64_t", "int64_t", "'int64_t' is a type of C++", "write 'int'", "int"),
    _argument("long", "long", "'long' is a type of C++", "write 'int'", "int"),
    _argument("size_t", "size_t", "'size_t' is a type of C++", "write 'int'"),
    _argument("std_string", "std::string", "is a type of C++", "write 'str'", "str"),
    _argument("at_tensor", "at::Tensor", "is a type of C++", "write 'Tensor'", "Tensor"),
    _argument("const_ref", "const Tensor&", "is a type of C++", "write 'Tensor'", "Tensor"),
    _argument("written_ref", "Tensor&", "is a type of C++", "'Tensor(a!)' if it is written"),
    _argument("optional", "std::optional<Tensor>", "is a type of C++", "'Tensor?'", "Tensor?"),
    _argument("vector", "std::vector<int64_t>", "is a type of C++", "'int[]'", "int[]"),
    _argument("array_ref", "IntArrayRef", "is a type of C++", "write 'int[]'", "int[]"),
    _argument("pointer", "float*", "is a type of C++", "'Tensor'"),
    _returns("void", "void", "'void' is a type of C++", "write '()'", "()"),
    _returns(
        "std_tuple",
        "std::tuple<Tensor, Tensor>",
        "is a type of C++",
        "'(Tensor, Tensor)'",
        "(Tensor, Tensor)",
    ),
    # Types of Python.
    _argument("torch_tensor", "torch.Tensor", "is a type of Python", "'Tensor'", "Tensor"),
    _argument("list_of_int", "List[int]", "is a type of Python", "write 'int[]'", "int[]"),
    _argument("optional_float", "Optional[float]", "is a type of Python", "'float?'", "float?"),
    _argument("dtype", "torch.dtype", "is a type of Python", "'ScalarType'", "ScalarType"),
    _argument("ndarray", "np.ndarray", "is a type of Python", "write 'Tensor'"),
    _argument("tuple_of_two", "Tuple[int, int]", "is a type of Python", "'int[2]'"),
    _argument("bare_list", "list", "is a type of Python", "'int[]'"),
    _returns("none", "None", "'None' is a type of Python", "write '()'", "()"),
    # Other words for a type.
    _argument("float32", "float32", "unknown type 'float32'", "write 'float'"),
    _argument("string", "string", "'string' is a type of C++", "write 'str'", "str"),
    _argument("boolean", "boolean", "unknown type 'boolean'", "write 'bool'", "bool"),
    _argument("misspelt", "Tensr", "unknown type 'Tensr'", "did you mean 'Tensor'?", "Tensor"),
    _argument("nothing_near", "Image", "unknown type 'Image'", "Tensor, int, float, bool, str"),
    # Punctuation of schemas.
    _schema(
        "no_comma",
        "crop(Tensor self, int top« »int left) -> Tensor",
        "a comma is missing between 'int top' and 'int left'",
        "write ', '",
        ", ",
    ),
    _schema("semicolon", "f(Tensor self«;» int n) -> Tensor", "';'", "write ','", ","),
    _schema("ends_in_semicolon", "f(Tensor self) -> Tensor«;»", "';'", "remove", ""),
    _schema(
        "cpp_comment", "f(Tensor self) -> Tensor  «// blurs»", "comment of C++", "begins with '#'"
    ),
    _schema("arrow_of_math", "f(Tensor self) «=>» Tensor", "'=>'", "write '->'", "->"),
    _schema("no_returns", "f(Tensor self)«»", "what the operator returns", "'-> Tensor'"),
    _schema(
        "cpp_declaration",
        "«Tensor» f(Tensor self)",
        "before its name",
        "'f(Tensor self) -> Tensor'",
    ),
    _schema("def", "«def »f(Tensor self) -> Tensor", "'def'", "without 'def'", ""),
    _schema(
        "args", "f(Tensor self, «*args») -> Tensor", "variable number of arguments", "Tensor[]"
    ),
    _schema("no_type", "f(«self») -> Tensor", "the type of 'self' is missing", "'Tensor self'"),
    _schema("no_name", "f(«Tensor») -> Tensor", "the name of this argument", "'Tensor self'"),
    _schema("name_first", "f(«self Tensor») -> Tensor", "before its type", "'Tensor self'"),
    _schema(
        "python_argument", "f(«self: Tensor», int n) -> Tensor", "'self: Tensor'", "'Tensor self'"
    ),
    _schema("unclosed", "f(Tensor self, «int n» -> Tensor", "is not closed", "')'"),
    _schema(
        "two_commas", "f(Tensor self, «», int n) -> Tensor", "is missing here", "remove the ','"
    ),
    _schema("point", "f(Tensor self«. »int n) -> Tensor", "a comma is missing", "write ', '", ", "),
    _schema(
        "open_list", "f(Tensor self, «int[2» n) -> Tensor", "is not a type", "'int[2]'", "int[2]"
    ),
    _schema(
        "comment_inside",
        "f(Tensor self, int n «# times»\n    ) -> Tensor",
        "this comment ends the schema",
        "after 'func: |-'",
    ),
    _schema("dotted_name", "«mylib.f»(Tensor self) -> Tensor", "overload 'f'", "'mylib::f'"),
    # Defaults.
    _schema(
        "true",
        "f(Tensor self, bool b=«true») -> Tensor",
        "cannot have this default",
        "'True'",
        "True",
    ),
    _schema("nullptr", "f(Tensor self, Tensor? x=«nullptr») -> Tensor", "default", "None", "None"),
    _schema("one_f", "f(Tensor self, float x=«1.0f») -> Tensor", "default", "'1.0'", "1.0"),
    _schema("bare_string", "f(Tensor self, str m=«mean») -> Tensor", "default", "'\"mean\"'"),
    _schema("none_for_int", "f(Tensor self, int n=«None») -> Tensor", "default", "'int?'"),
    _schema(
        "torch_float32",
        "f(Tensor self, ScalarType t=«torch.float32») -> Tensor",
        "default",
        "'float32'",
        "float32",
    ),
    _schema(
        "misspelt_dtype",
        "f(Tensor self, ScalarType d=«flot32») -> Tensor",
        "'d' of 'f' cannot have this default",
        "did you mean 'float32'?",
        "float32",
    ),
    _schema(
        "misspelt_truth", "f(Tensor self, bool b=«Flase») -> Tensor", "default", "'False'", "False"
    ),
    # Annotations.
    Mistake(
        "one_letter_for_two",
        f"{_HEAD}- func: minmax.out(Tensor self, *, Tensor(a!) min, «Tensor(a!)» max)"
        f" -> (Tensor(a!), Tensor(a!))\n{_TABLE}",
        "'min' and 'max' have the same letter",
        "a letter of its own",
    ),
    _minmax(
        "one_letter_for_two_structured",
        "Tensor(a!) lo, «Tensor(a!)» hi) -> (Tensor(a!), Tensor(a!))",
        "'lo' and 'hi' have the same letter",
        "letter of its own: 'Tensor(b!) hi', and return '(Tensor(a!), Tensor(b!))'",
    ),
    _minmax(
        "one_letter_for_two_with_two_returned",
        "Tensor(a!) lo, «Tensor(a!)» hi) -> (Tensor(a!), Tensor(b!))",
        "'lo' and 'hi' have the same letter",
        "letter of its own: 'Tensor(b!) hi'",
    ),
    _minmax(
        "one_letter_returned_twice",
        "Tensor(a!) lo, Tensor(b!) hi) -> («Tensor(a!), Tensor(a!)»)",
        "it does not return 'lo' and 'hi'",
        "return '(Tensor(a!), Tensor(b!))'",
    ),
    _minmax(
        "second_out_is_not_marked",
        "Tensor(a!) lo, «Tensor» hi) -> (Tensor(a!), Tensor)",
        "'hi' is not marked as written",
        "write 'Tensor(b!) hi', and return '(Tensor(a!), Tensor(b!))'",
    ),
    _minmax(
        "structured_outs_are_not_marked",
        "«Tensor» lo, Tensor hi) -> (Tensor, Tensor)",
        "'lo' is not marked as written",
        "write 'Tensor(a!) lo'",
    ),
    Mistake(
        "structured_out_is_not_marked",
        f"{_HEAD}{_SOFTEN}- func: soften.out(Tensor self, float amount, *, «Tensor» out) -> Tensor\n"
        "  structured: True\n  dispatch:\n    CPU: soften_out\n",
        "'out' is not marked as written",
        "write 'Tensor(a!) out', and return 'Tensor(a!)'",
    ),
    Mistake(
        "out_is_not_marked",
        f"{_HEAD}- func: blur.out(Tensor self, *, «Tensor» out) -> Tensor\n{_TABLE}",
        "'out' is not marked as written",
        "'Tensor(a!) out'",
    ),
    # Keys.
    Mistake(
        "structurd",
        f"{_HEAD}{_SOFTEN}{_SOFTEN_OUT}  «structurd»: True\n"
        "  structured_inherits: TensorIteratorBase\n  dispatch:\n    CPU: soften_out\n",
        "unknown key 'structurd'",
        "did you mean 'structured'?",
        "structured",
    ),
    _keys(
        "row_at_the_left", "  dispatch:\n  «CPU»: f_cpu\n", "unknown key 'CPU'", "under dispatch"
    ),
    _keys(
        "second_row_at_the_left",
        "  dispatch:\n    CPU: f_cpu\n  «CUDA»: f_cuda\n",
        "unknown key 'CUDA'",
        "indent it under dispatch",
    ),
    _keys("description", f"  «description»: blurs\n{_TABLE}", "unknown key", "'doc'", "doc"),
    _keys("kernels", "  «kernels»:\n    CPU: f_cpu\n", "unknown key 'kernels'", "'dispatch'"),
    _keys(
        "tags_in_one_string",
        f"  tags: «core, pointwise»\n{_TABLE}",
        "in one string",
        "[core, po",
        "[core, pointwise]",
    ),
    _keys("unknown_tag", f"  tags: «random»\n{_TABLE}", "unknown tag 'random'", "pointwise, "),
    _keys(
        "misspelt_tag",
        f"  tags: «pointwize»\n{_TABLE}",
        "unknown tag 'pointwize'",
        "did you mean 'pointwise'?",
        "pointwise",
    ),
    _keys(
        "variants_without_comma",
        f"  variants: «function method»\n{_TABLE}",
        "not separated by ', '",
        "'function, method'",
        "function, method",
    ),
    _keys("variants_in_a_list", f"  variants: «[function]»\n{_TABLE}", "a list", "'function'"),
    _keys("structured_in_quotes", f"  structured: '«True»'\n{_TABLE}", "true or false", "quotes"),
    _keys("one_kernel", "  dispatch: «f_cpu»\n", "'dispatch' takes a mapping", "'CPU: f_cpu'"),
    _keys("table_as_list", "  dispatch:\n    «- CPU: f»\n", "this is a list", "without '- '"),
    Mistake(
        "Func", f"{_HEAD}- «Func»: f(Tensor self) -> Tensor\n{_TABLE}", "'Func'", "'func'", "func"
    ),
    Mistake(
        "op", f"{_HEAD}- «op»: f(Tensor self) -> Tensor\n{_TABLE}", "key 'op'", "'func'", "func"
    ),
    Mistake(
        "namespace_of_an_entry",
        "- func: f(Tensor self) -> Tensor\n  «namespace»: mylib\n" + _TABLE,
        "unknown key 'namespace'",
        "'mylib::f'",
    ),
    Mistake(
        "namepsace",
        "- «namepsace»: mylib\n\n- func: f(Tensor self) -> Tensor\n" + _TABLE,
        "unknown key 'namepsace'",
        "'namespace'",
        "namespace",
    ),
    # Rows of the table.
    _table("lower_case", "«cpu»: f_cpu", "unknown dispatch key 'cpu'", "'CPU'", "CPU"),
    _table("gpu", "«GPU»: f_gpu", "unknown dispatch key 'GPU'", "'CUDA'"),
    _table("default_key", "«default»: f", "'default'", "CompositeExplicitAutograd"),
    _table("two_keys", "«CPU Meta»: f", "CPU Meta", "'CPU, Meta'", "CPU, Meta"),
    _table("call", "CPU: «f()»", "not the name of a C++ function", "write 'f'", "f"),
    _table("no_colon", "«CPU f»", "this is a string", "'CPU: f'"),
    _table("no_space", "«CPU:f»", "this is a string", "'CPU: f'"),
    # YAML.
    _keys("tab", f"«\t»variants: function\n{_TABLE}", "a tab", "spaces"),
    _keys("tab_in_table", "  dispatch:\n«\t»CPU: f_cpu\n", "a tab", "spaces"),
    _keys("too_deep", f"    «variants»: function\n{_TABLE}", "deeper", "as far as 'func'"),
    _keys("at_the_margin", f"«variants»: function\n{_TABLE}", "not indented", "as far as 'func'"),
    _keys("equals", f"  «variants = function»\n{_TABLE}", "no ': '", "'variants: function'"),
    _keys("no_space_after_colon", f"  «variants:function»\n{_TABLE}", "no ': '", "'variants: f"),
    _keys("table_in_a_line", "  dispatch: «CPU: f_cpu»\n", "': '", "a line of its own"),
    Mistake(
        "no_dash", f"{_HEAD}«func»: f(Tensor self) -> Tensor\n{_TABLE}", "no '- '", "'- func: "
    ),
    Mistake(
        "dash", f"{_HEAD}«-func»: f(Tensor self) -> Tensor\n{_TABLE}", "after '-'", "'- func: "
    ),
    Mistake("no_func", f"{_HEAD}- «f(Tensor self) -> Tensor»\n{_TABLE}", "no key", "'- func: f("),
    Mistake(
        "slashes", f"{_HEAD}«// blurs»\n- func: f(Tensor self) -> Tensor\n{_TABLE}", "C++", "'#'"
    ),
    _schema("open_quote", "«'»f(Tensor self) -> Tensor", "quote is not closed", "write '"),
    _schema(
        "colon_in_a_default",
        'f(Tensor self, str mode=«"a: b"») -> Tensor',
        "a ': ' in the default",
        "put the whole schema in single quotes",
    ),
    # Several entries.
    Mistake(
        "out_by_position",
        f"{_HEAD}- func: f.out(Tensor self, int n, «Tensor(a!)» out) -> Tensor(a!)\n"
        "  structured: True\n  dispatch:\n    CPU: f_out\n",
        "'out' is not after '*'",
        "write '*, ' before 'Tensor(a!) out'",
    ),
    Mistake(
        "in_place_without_self",
        f"{_HEAD}- func: f_(Tensor(a!) image, int n) -> Tensor(a!)\n{_TABLE}  autogen: «f, f.out»\n",
        "it returns an argument that it writes",
        "rename 'image' to 'self'",
    ),
    Mistake(
        "in_place_of_a_structured_operator_without_self",
        f"{_HEAD}- func: f_(Tensor(a!) image) -> Tensor(a!)\n  structured_delegate: «f.out»\n"
        "- func: f(Tensor image) -> Tensor\n  structured_delegate: f.out\n"
        "- func: f.out(Tensor image, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  dispatch:\n    CPU: f_out\n",
        "another signature",
        "rename 'image' to 'self'",
    ),
    Mistake(
        "delegate_of_another_type",
        f"{_HEAD}- func: f(Tensor self, int x) -> Tensor\n  structured_delegate: f.out\n"
        "- func: «f.out»(Tensor self, float x, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  dispatch:\n    CPU: f_out\n",
        "another signature",
        "'float x'",
    ),
    Mistake(
        "copy_that_autogen_spells_otherwise",
        _VIEW
        + "- func: aten::flip_veiw_copy(Tensor self) -> Tensor\n"
        + _COPY_TABLE
        + "  autogen: «flip_view_copy.out»\n",
        "'autogen' asks for 'flip_view_copy.out'",
        "one of the two names is misspelt",
    ),
    Mistake(
        "misspelt_out_variant",
        f"{_HEAD}{_SOFTEN.replace('soften.out', '«soften.out»')}"
        f"{_SOFTEN_OUT.replace('soften.out', 'softn.out')}  structured: True\n  dispatch:\n    CPU: soften_out\n",
        "delegates to 'soften.out', which is not defined",
        "is 'softn.out' misspelt?",
    ),
    Mistake(
        "copy_of_a_misspelt_view",
        _VIEW.replace("view", "veiw").replace("«", "").replace("flip_veiw(", "«flip_veiw»(")
        + "- func: aten::flip_view_copy(Tensor self) -> Tensor\n"
        + _COPY_TABLE,
        "'flip_veiw'",
        "one of the two names",
    ),
    Mistake(
        "misspelt_copy_of_a_view",
        _VIEW.replace("flip_view(", "«flip_view»(")
        + "- func: aten::flip_veiw_copy(Tensor self) -> Tensor\n"
        + _COPY_TABLE.replace("flip_view_copy", "flip_veiw_copy"),
        "'flip_v",
        "one of the two names",
    ),
)
