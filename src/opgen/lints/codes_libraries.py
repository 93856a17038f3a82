"""The records of the lints of libraries' operators (W1019 to W1030)."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_CPU = "\n  dispatch:\n    CPU: foo_cpu\n"
_META = "    Meta: foo_meta\n"

W1019 = Code(
    "W1019",
    "white space that is not as it is usual",
    "PyTorch's parser skips white space between the words and signs of a schema. Usual is one space after each comma, between a type "
    "and a name, and on each side of '->', and none elsewhere. `opgen format` and `opgen lint --fix` write it so. A literal text ('|') "
    "over several lines may stay as it is.",
    f"- func: custom::foo(Tensor self,Tensor  other)->Tensor{_CPU}",
    f"- func: custom::foo(Tensor self, Tensor other) -> Tensor{_CPU}",
)
W1020 = Code(
    "W1020",
    "an operator that seems to draw random numbers, without the tag",
    "A compiler may call an operator twice, or once for two calls. With the tag nondeterministic_seeded it does not, and "
    "replays the generator's state where it has to. It is asked of operators that take a Generator, and of those that have 'rand' "
    "or 'dropout' in their names.",
    f"- func: custom::foo(Tensor self, Generator? generator=None) -> Tensor{_CPU}",
    f"- func: custom::foo(Tensor self, Generator? generator=None) -> Tensor{_CPU}  tags: nondeterministic_seeded\n",
)
W1021 = Code(
    "W1021",
    "an argument that is called like a keyword of Python",
    "A keyword of Python names no argument of a call, so this argument can be passed by its position alone.",
    f"- func: custom::foo(Tensor self, int lambda) -> Tensor{_CPU}",
    f"- func: custom::foo(Tensor self, int lambd) -> Tensor{_CPU}",
)
W1022 = Code(
    "W1022",
    "two arguments of one name",
    "PyTorch registers such a schema. A call cannot pass the second by its name, and what reads schemas may take one for the "
    "other. In C++ the second has a number behind its name.",
    f"- func: custom::foo(Tensor input, Tensor input) -> Tensor{_CPU}",
    f"- func: custom::foo(Tensor input, Tensor other) -> Tensor{_CPU}",
)
W1023 = Code(
    "W1023",
    "an alias annotation of what is no tensor",
    "Tensors alone are written or viewed. PyTorch's parser takes the mark for any type, and its functionalization then refuses "
    "the operator; that of opgen leaves the mark aside.",
    f"- func: custom::foo(Tensor! out, int! n) -> (){_CPU}",
    f"- func: custom::foo(Tensor! out, int n) -> (){_CPU}",
)
W1024 = Code(
    "W1024",
    "a call without an effect that is known of",
    "An operator that returns nothing and writes nothing has no use that a compiler can see: torch.compile leaves the call out without "
    "a word, and one without tensors runs while the program is traced, and not with it. Mark each argument that the kernel "
    "writes ('Tensor! out'). If it only reads, as one that sends a tensor or prints, return a Tensor that the caller needs, or "
    "keep it out of compiled code.",
    f"- func: custom::foo(Tensor x, Tensor out) -> (){_CPU}",
    f"- func: custom::foo(Tensor x, Tensor! out) -> (){_CPU}",
    target="torch",
)
W1025 = Code(
    "W1025",
    "a return that cannot be traced",
    "Where an operator returns one number, bool or text, torch.compile breaks the graph (with fullgraph=True it is an error), and "
    "torch.export refuses it. A SymInt can be traced, but the call is not kept: what the operator writes is lost. "
    "None of this matters for an operator that is called once, to ask something.",
    f"- func: custom::foo(Tensor x) -> int{_CPU}",
    f"- func: custom::foo(Tensor x) -> Tensor{_CPU}{_META}",
    target="torch",
)
W1026 = Code(
    "W1026",
    "a kernel for a backend that no call may reach",
    "The dispatcher takes the backend from the tensors of a call, or from a device where the operator makes tensors. A call with "
    'neither ends in "There were no tensor arguments to this function". A kernel under CompositeExplicitAutograd serves it.',
    f"- func: custom::foo(int n) -> Tensor{_CPU}",
    "- func: custom::foo(int n) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo_cpu\n",
)
W1027 = Code(
    "W1027",
    "a return that aliases no argument",
    "The annotation of a return says which argument shares its memory. This one names an alias set that no argument is in, "
    "so it says nothing, and PyTorch's functionalization refuses the operator for it.",
    f"- func: custom::foo(Tensor x) -> Tensor(a){_CPU}",
    f"- func: custom::foo(Tensor x) -> Tensor{_CPU}",
)
W1028 = Code(
    "W1028",
    "a name that promises a write",
    "A name that ends in '_' says that the operator writes its argument. This one marks none as written, so compilers take it for "
    "one that only reads.",
    f"- func: custom::foo_(Tensor self) -> Tensor{_CPU}",
    f"- func: custom::foo_(Tensor(a!) self) -> Tensor(a!){_CPU}",
)

W1029 = Code(
    "W1029",
    "tensors where a compiler does not look",
    "torch.compile, torch.export and autograd find the tensors of a call in Tensor, Tensor?, Tensor[], Tensor?[] and Tensor[]? alone. "
    "In a Dict or a tuple they find none: eager calls work, compiled ones end in an error. Pass two lists instead.",
    f"- func: custom::foo(Tensor x, Dict(str, Tensor) parts) -> Tensor{_CPU}{_META}",
    f"- func: custom::foo(Tensor x, str[] names, Tensor[] parts) -> Tensor{_CPU}{_META}",
    target="torch",
)

W1030 = Code(
    "W1030",
    "an operator that cannot be traced",
    "torch.compile and torch.export call operators with tensors that have no data. This one has kernels for backends alone, so such a call "
    "ends in an error that names neither the operator's file nor what to write. Add a row for Meta, whose kernel makes the results without "
    "computing them, or say in one line of Python what is returned ('fake'), also where sizes depend on data: new_size(). Where Python's "
    "torch.library.register_fake does it, a comment allows the warning.",
    f"- func: custom::foo(Tensor x) -> Tensor{_CPU}",
    f"- func: custom::foo(Tensor x) -> Tensor{_CPU}{_META}",
    target="torch",
)

CODES = (W1019, W1020, W1021, W1022, W1023, W1024, W1025, W1026, W1027, W1028, W1029, W1030)
