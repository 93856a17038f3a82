"""Codes W1019 to W1033 and W1035 to W1037: lints for operators of libraries other than PyTorch."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_CPU = "\n  dispatch:\n    CPU: foo_cpu\n"
_META = "    Meta: foo_meta\n"

W1019 = Code(
    "W1019",
    "unusual white space",
    "PyTorch's parser ignores white space between the tokens of a schema. The usual form has one space after "
    "each comma, between a type and a name, and on each side of '->', and none elsewhere. `opgen format` and "
    "`opgen lint --fix` write this form. A literal string ('|') of several lines may stay as it is.",
    Example(
        f"- func: custom::foo(Tensor self,Tensor  other)->Tensor{_CPU}",
        f"- func: custom::foo(Tensor self, Tensor other) -> Tensor{_CPU}",
    ),
)
W1020 = Code(
    "W1020",
    "an operator that seems random, without the tag for it",
    "A compiler may call an operator twice, or replace two calls by one. The tag nondeterministic_seeded "
    "prevents this, and makes the compiler restore the generator's state where needed. opgen suggests the tag "
    "for operators that take a Generator, and for operators with 'rand' or 'dropout' in their names.",
    Example(
        f"- func: custom::foo(Tensor self, Generator? generator=None) -> Tensor{_CPU}",
        f"- func: custom::foo(Tensor self, Generator? generator=None) -> Tensor{_CPU}  tags: nondeterministic_seeded\n",
    ),
)
W1021 = Code(
    "W1021",
    "an argument has the name of a Python keyword",
    "A Python keyword cannot be used as an argument name in a call, so this argument can be passed only by "
    "position.",
    Example(
        f"- func: custom::foo(Tensor self, int lambda) -> Tensor{_CPU}",
        f"- func: custom::foo(Tensor self, int lambd) -> Tensor{_CPU}",
    ),
)
W1022 = Code(
    "W1022",
    "two arguments with the same name",
    "PyTorch registers such a schema, but a call cannot pass the second argument by name, and tools that read "
    "schemas may confuse the two. In C++ opgen appends a number to the second name.",
    Example(
        f"- func: custom::foo(Tensor input, Tensor input) -> Tensor{_CPU}",
        f"- func: custom::foo(Tensor input, Tensor other) -> Tensor{_CPU}",
    ),
)
W1023 = Code(
    "W1023",
    "an alias annotation on an argument that is not a tensor",
    "Only tensors can be written or viewed. PyTorch's parser accepts the annotation for any type, and its "
    "functionalization then rejects the operator. opgen's functionalization ignores the annotation.",
    Example(
        f"- func: custom::foo(Tensor! out, int! n) -> (){_CPU}",
        f"- func: custom::foo(Tensor! out, int n) -> (){_CPU}",
    ),
)
W1024 = Code(
    "W1024",
    "an operator without a visible effect",
    "An operator that returns nothing and writes nothing has no effect that a compiler can see. torch.compile "
    "silently removes the call. If it has no tensor arguments, it runs once while the program is traced, and "
    "never with the compiled program. Mark each argument that the kernel writes ('Tensor! out'). If the operator "
    "only reads, for example to send a tensor or to print, write 'effects: ordered': then compiled programs keep "
    "every call, in the order of the program.",
    Example(
        f"- func: custom::foo(Tensor x, Tensor out) -> (){_CPU}",
        f"- func: custom::foo(Tensor x, Tensor! out) -> (){_CPU}",
    ),
    target="torch",
)
W1025 = Code(
    "W1025",
    "a return that cannot be traced",
    "If an operator returns a single number, bool or string, torch.compile breaks the graph (an error with "
    "fullgraph=True), and torch.export fails. A SymInt can be traced, but the call is not kept, so its writes "
    "are lost. This does not matter for an operator that is called once to query a value.",
    Example(
        f"- func: custom::foo(Tensor x) -> int{_CPU}",
        f"- func: custom::foo(Tensor x) -> Tensor{_CPU}{_META}",
    ),
    target="torch",
)
W1026 = Code(
    "W1026",
    "a backend kernel that no call may reach",
    "The dispatcher chooses the backend from the tensors of a call, or from a device if the operator creates "
    'tensors. A call with neither fails with "There were no tensor arguments to this function". List the kernel '
    "under CompositeExplicitAutograd instead.",
    Example(
        f"- func: custom::foo(int n) -> Tensor{_CPU}",
        "- func: custom::foo(int n) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo_cpu\n",
    ),
)
W1027 = Code(
    "W1027",
    "a return that aliases no argument",
    "The annotation of a return names the argument that shares its memory. No argument is in this alias set, so "
    "the annotation has no effect, and PyTorch's functionalization rejects the operator because of it.",
    Example(
        f"- func: custom::foo(Tensor x) -> Tensor(a){_CPU}",
        f"- func: custom::foo(Tensor x) -> Tensor{_CPU}",
    ),
)
W1028 = Code(
    "W1028",
    "an in-place name on an operator that writes nothing",
    "A name that ends in '_' means that the operator writes its argument. This operator marks no argument as "
    "written, so compilers assume that it only reads.",
    Example(
        f"- func: custom::foo_(Tensor self) -> Tensor{_CPU}",
        f"- func: custom::foo_(Tensor(a!) self) -> Tensor(a!){_CPU}",
    ),
)

W1029 = Code(
    "W1029",
    "tensors in a type where compilers do not find them",
    "torch.compile, torch.export and autograd find tensors only in arguments of type Tensor, Tensor?, Tensor[], "
    "Tensor?[] and Tensor[]?. They do not find tensors in a Dict or a tuple: eager calls work, but compiled "
    "calls fail. Pass two lists instead.",
    Example(
        f"- func: custom::foo(Tensor x, Dict(str, Tensor) parts) -> Tensor{_CPU}{_META}",
        f"- func: custom::foo(Tensor x, str[] names, Tensor[] parts) -> Tensor{_CPU}{_META}",
    ),
    target="torch",
)

W1030 = Code(
    "W1030",
    "an operator that cannot be traced",
    "torch.compile and torch.export call operators with tensors that have no data. This operator has only "
    "kernels for backends, so such a call fails with an error that neither names the operator's file nor "
    "suggests a fix. Add a row for Meta, with a kernel that creates the results without computing them, or "
    "describe the results by a line of Python ('fake'); for sizes that depend on data, use new_size(). If Python "
    "code does this with torch.library.register_fake, a comment can silence the warning.",
    Example(
        f"- func: custom::foo(Tensor x) -> Tensor{_CPU}",
        f"- func: custom::foo(Tensor x) -> Tensor{_CPU}{_META}",
    ),
    target="torch",
)

W1031 = Code(
    "W1031",
    "two written arguments with the same letter",
    "Arguments with the same letter may share memory. Two outputs that are written are different tensors, so each "
    "needs a letter of its own, and so does the return that belongs to it.",
    Example(
        f"- func: custom::foo.out(Tensor x, *, Tensor(a!) low, Tensor(a!) high) -> (Tensor(a!), Tensor(a!)){_CPU}",
        f"- func: custom::foo.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!)){_CPU}",
    ),
)
W1032 = Code(
    "W1032",
    "an out argument that is not marked as written",
    "The overload is named like an out variant, but its argument 'out' is not marked as written, so compilers assume "
    "that the operator only reads it. Mark it with a letter and '!', and return it.",
    Example(
        f"- func: custom::foo.out(Tensor x, *, Tensor out) -> Tensor{_CPU}",
        f"- func: custom::foo.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!){_CPU}",
    ),
)
W1033 = Code(
    "W1033",
    "an operator that is named like its namespace",
    "In a schema, '.' comes before the name of an overload, and '::' comes after a namespace: 'custom.foo' is the "
    "overload 'foo' of an operator 'custom'.",
    Example(
        f"- func: custom::custom.foo(Tensor x) -> Tensor{_CPU}",
        f"- func: custom::foo(Tensor x) -> Tensor{_CPU}",
    ),
)
W1035 = Code(
    "W1035",
    "an overload whose calls another one takes",
    "In eager mode, PyTorch tries overloads in the order of registration and converts arguments: a tensor with one element "
    "to a number, numbers and None to a bool, None to an undefined tensor. Compiled code does not convert the tensor, so it "
    "may call another overload. opgen registers overloads in an order in which none takes the calls of a later one; of "
    "these two, each takes some calls of the other. Give one of them another name, or call it as "
    "torch.ops.NAMESPACE.NAME.OVERLOAD.",
    Example(
        f"- func: custom::foo.flag(Tensor self, bool on) -> Tensor{_CPU}{_META}"
        f"- func: custom::foo.level(Tensor self, int level) -> Tensor{_CPU}{_META}",
        f"- func: custom::foo(Tensor self, bool on) -> Tensor{_CPU}{_META}"
        f"- func: custom::foo_level(Tensor self, int level) -> Tensor{_CPU}{_META}",
    ),
    target="torch",
)
W1036 = Code(
    "W1036",
    "a Dict or list that a kernel may fill",
    "PyTorch copies each Dict and list that it passes from Python to a kernel. A kernel that adds elements changes the copy, "
    "and the caller's Dict or list stays as it is. Return the elements, or write them to a Tensor. If the kernel only reads "
    "them, and the operator is called for what it does outside of tensors, write 'effects: ordered'.",
    Example(
        f"- func: custom::foo(Tensor x, Dict(str, float) stats) -> (){_CPU}",
        f"- func: custom::foo(Tensor x, Dict(str, float) stats) -> (){_CPU}  effects: ordered\n",
    ),
    target="torch",
)

W1037 = Code(
    "W1037",
    "a view that cannot be traced",
    "torch.compile, torch.export and opcheck replace a view by an operator that copies. opgen makes it for operators that "
    "return one view of their first argument, or a list of views, and nothing else. For others, such as those that return "
    "two views or a view of the second argument, PyTorch raises an error when it traces a call. (Target torch-stable "
    "replaces views by PyTorch's own, so operators may return more than one view of their first argument.) Return a list, "
    "or write a kernel for CompositeImplicitAutograd, which is traced as the operators that it calls.",
    Example(
        "- func: custom::foo(Tensor(a) x) -> (Tensor(a), Tensor(a))\n"
        "  dispatch:\n    CompositeExplicitAutograd: foo\n",
        "- func: custom::foo(Tensor(a) x) -> Tensor(a)[]\n"
        "  dispatch:\n    CompositeExplicitAutograd: foo\n",
    ),
    target="torch",
)

CODES = (
    *(W1019, W1020, W1021, W1022, W1023, W1024, W1025, W1026, W1027, W1028, W1029, W1030),
    *(W1031, W1032, W1033, W1035, W1036, W1037),
)
