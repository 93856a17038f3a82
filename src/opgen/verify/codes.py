"""The records of all properties, from which `opgen explain V0104` prints their pages. They need no other library."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from opgen.diagnostics.codes import Code, Example


def code(
    number: str, title: str, explanation: str, failing: str, fixed: str, file: str = "kernel.cpp"
) -> Code:
    """Return the record of a property: how the shortest code that violates it looks, and how it is fixed."""
    example = Example(failing.strip("\n") + "\n", fixed.strip("\n") + "\n", file)
    return Code(number, title, explanation, example)


V0101 = code(
    "V0101",
    "an in-place variant differs from the functional one",
    "The in-place variant `f_` writes what `f` returns. They differ if each has a kernel of its own and one of them "
    "was changed, or if the in-place loop reads elements that it has written already.",
    "for (int64_t i = 1; i < n; ++i) self[i] = (self[i - 1] + self[i]) / 2;  // reads what it wrote",
    "result = f(self); self.copy_(result);",
)
V0102 = code(
    "V0102",
    "a variant with out= differs from the functional one",
    "`f.out` writes to `out` what `f` returns, also if `out` has gaps or another order of dimensions. A common mistake "
    "is to swap two outputs, to forget an argument, or to write `out` as if it were dense.",
    "float* to = out.mutable_data_ptr<float>();\nfor (int64_t i = 0; i < n; ++i) to[i] = value(i);  // out may have gaps",
    "for (int64_t i = 0; i < n; ++i) to[i * out.stride(0)] = value(i);",
)
V0103 = code(
    "V0103",
    "out= is not resized to the shape of the result",
    "An `out` of another shape is resized to the shape of the result. (A kernel may also refuse it.) It is not "
    "enough to fill what fits, or to keep the number of dimensions.",
    "out.copy_(result.flatten());",
    "at::native::resize_output(out, result.sizes());\nout.copy_(result);",
)
V0104 = code(
    "V0104",
    "out= is resized without a warning, or warned of without a reason",
    "Resizing an `out` that has elements warns: its elements are lost, and views of it remain as they were. No "
    "warning is issued for an `out` without elements, nor for one of the right shape.",
    "out.resize_(result.sizes());",
    "at::native::resize_output(out, result.sizes());  // warns",
)
V0105 = code(
    "V0105",
    "out= of a dtype that cannot hold the result is written",
    "A result of floating-point numbers does not fit into integers, a complex one not into real numbers, an integer "
    "not into bool. Such an `out` is refused before anything is written.",
    "out.copy_(x / 3);  // truncates, if out has integers",
    'TORCH_CHECK(at::canCast(x.scalar_type(), out.scalar_type()), "out cannot hold the result");',
)
V0106 = code(
    "V0106",
    "out= does not keep its memory and its strides",
    "An `out` of the right shape keeps its memory, strides and offset, however it lies in memory: it may be a view "
    "of a larger tensor, whose owner waits for the result.",
    "out.set_(result);",
    "out.copy_(result);",
)
V0107 = code(
    "V0107",
    "a written argument has another shape, other strides or another dtype after the call",
    "An operator that writes an argument leaves its shape, strides and dtype alone, or refuses the call: if other "
    "arguments broadcast to a larger shape, the result does not fit. The tag `inplace_view` marks operators whose "
    "purpose is another shape.",
    "self.resize_(result.sizes()); self.copy_(result);",
    'TORCH_CHECK(self.sizes() == result.sizes(), "the result does not fit into self");',
)
V0110 = code(
    "V0110",
    "an argument is written that the schema does not mark as written",
    "Only arguments with `!` in the schema are written: `Tensor(a!) self`. Compilers keep and reuse the others, and "
    "callers do not expect that they change.",
    "weight.div_(weight.norm());",
    "const Tensor unit = weight / weight.norm();",
)
V0111 = code(
    "V0111",
    "bytes between the elements of an argument are written",
    "A tensor may be a view with gaps: every second column of a matrix. The bytes in the gaps belong to other "
    "tensors.",
    "std::fill_n(self.mutable_data_ptr<float>(), span_of(self), value);",
    "self.fill_(value);",
)
V0112 = code(
    "V0112",
    "bytes outside of a storage are written",
    "Writing before or behind a storage destroys what lies there. All storages of a call lie between marked bytes and "
    "pages that cannot be written: those of arguments, and, if a C compiler is installed, those that the kernel "
    "allocates.",
    "for (int64_t i = 0; i < n; i += 8) store(to + i, load(from + i));  // n is no multiple of 8",
    "for (; i + 8 <= n; i += 8) store(to + i, load(from + i));\nfor (; i < n; ++i) to[i] = from[i];",
)
V0113 = code(
    "V0113",
    "bytes beside the elements of an argument are read",
    "The result must not depend on bytes between the elements of an argument or outside of them. The call is "
    "repeated with other bytes there, and with arguments that end, or begin, where a page ends.",
    "y[i] = x[i] - x[i - 1];  // i may be 0",
    "y[i] = i == 0 ? x[0] : x[i] - x[i - 1];",
)
V0114 = code(
    "V0114",
    "an element of a result is not written",
    "Memory of a new tensor contains anything. The call is repeated with other bytes in new memory: the result must be "
    "the same.",
    "Tensor y = empty_like(x);\nfor (int64_t i = 0; i + 8 <= n; i += 8) …  // the last elements are left out",
    "for (; i < n; ++i) y[i] = f(x[i]);",
)
V0115 = code(
    "V0115",
    "a result shares memory with an argument, and the schema does not say so",
    "A result without an annotation is new memory. If a kernel returns its argument because there is nothing to do, "
    "or a view of it, write into the result changes the argument, and compiled programs are wrong.",
    "if (factor == 1) return x;",
    "if (factor == 1) return x.clone();",
)
V0116 = code(
    "V0116",
    "a result does not share memory with the argument that the schema names",
    "`-> Tensor(a)` promises a view of the argument with `(a)`, `-> Tensor(a!)` the argument itself. A kernel that "
    "copies where its input is not dense breaks that promise.",
    "return x.reshape({-1});  // copies at times",
    "return x.view({-1});  // refuses instead",
)
V0117 = code(
    "V0117",
    "memory that overlaps is written without a check",
    "The elements of an expanded tensor share memory, and an input may overlap the output. The kernel refuses such "
    "a call, or the result is that of tensors in memory of their own.",
    "for (int64_t i = 1; i < n; ++i) out[i] = x[i - 1];  // out may be x[1:]",
    "at::assert_no_internal_overlap(out);\nat::assert_no_overlap(out, x);",
)
V0118 = code(
    "V0118",
    "a refused call has changed an argument",
    "A call that throws leaves its arguments as they were: check first, then write.",
    'self.mul_(0.5);\nTORCH_CHECK(self.sizes() == other.sizes(), "shapes differ");',
    'TORCH_CHECK(self.sizes() == other.sizes(), "shapes differ");\nself.mul_(0.5);',
)
V0120 = code(
    "V0120",
    "inputs with other strides give another result",
    "Any tensor can be a view: transposed, with gaps, part of a larger one. A kernel reads it through its strides, or "
    "makes a dense copy first.",
    "const float* p = x.const_data_ptr<float>();\nfor (int64_t i = 0; i < n; ++i) sum += p[i];",
    "const Tensor dense = x.contiguous();\nconst float* p = dense.const_data_ptr<float>();",
)
V0121 = code(
    "V0121",
    "expanded inputs give another result",
    "An expanded tensor has stride 0: several of its elements are the same memory, and its storage has fewer elements "
    "than the tensor.",
    "const int64_t step = std::max<int64_t>(x.stride(0), 1);",
    "const int64_t step = x.stride(0);",
)
V0122 = code(
    "V0122",
    "inputs that begin inside of their storage give another result",
    "The first element of a tensor is not the first one of its storage. `data_ptr` includes the offset.",
    "const float* p = static_cast<const float*>(x.storage().data());",
    "const float* p = x.const_data_ptr<float>();",
)
V0123 = code(
    "V0123",
    "inputs at unaligned addresses give another result",
    "The address of a tensor is a multiple of the size of an element, and of nothing more: it may be a view that "
    "begins anywhere, or memory of another library.",
    "const __m256 a = _mm256_load_ps(p);",
    "const __m256 a = _mm256_loadu_ps(p);",
)
V0124 = code(
    "V0124",
    "inputs without elements are handled wrongly",
    "A tensor without elements is an input as any other: the kernel refuses it in words, or its result has the shape "
    "that the Meta kernel says, and every element of it is written.",
    "const int64_t share = total / x.size(0);",
    "const int64_t share = x.size(0) == 0 ? 0 : total / x.size(0);",
)
V0125 = code(
    "V0125",
    "inputs without dimensions give other elements",
    "A tensor without dimensions has one element. If the kernel accepts it, its result has the elements that a tensor "
    "of one dimension with one element gives.",
    "for (int64_t i = 0; i < (x.dim() ? x.size(0) : 0); ++i) …",
    "for (int64_t i = 0; i < x.numel(); ++i) …",
)
V0126 = code(
    "V0126",
    "lazily conjugated or negated inputs give another result",
    "`x.conj()` of PyTorch sets a bit; the elements in memory stay as they are. Kernels for the keys Conjugate and "
    "Negative see such tensors, and must honor the bit. Other kernels get a copy.",
    'TORCH_LIBRARY_IMPL(mylib, Conjugate, m) { m.impl("square", square_cpu); }',
    "// No kernel for Conjugate: PyTorch's fallback copies.",
)
V0127 = code(
    "V0127",
    "inputs that are broadcast give another result than expanded ones",
    "An operator that claims to be pointwise broadcasts all of its tensors as PyTorch does: from the last dimension "
    "on, and each of them.",
    "y[i] = a[i] + b[i % b.numel()];",
    "build_binary_op(maybe_get_output(), a, b);",
)
V0130 = code(
    "V0130",
    "Meta says another shape than the kernel returns",
    "The Meta kernel plans memory for compiled programs. It returns as many tensors as the real kernel, with the same "
    "shapes, for all numbers and flags.",
    "return x.new_empty({(n - size) / step});",
    "return x.new_empty({(n - size) / step + 1});",
)
V0131 = code(
    "V0131",
    "Meta says other strides than the kernel returns",
    "Compiled programs rely on the strides that Meta says, and read other memory if they are wrong. They must agree "
    "for inputs with other strides, too. (Strides of dimensions with one element do not matter.)",
    "return at::empty_like(x);  // keeps the strides of x; the kernel returns a dense tensor",
    "return x.new_empty(x.sizes());",
)
V0132 = code(
    "V0132",
    "Meta says another dtype than the kernel returns",
    "The dtype of a result follows from the dtypes of the inputs and from flags, in the kernel and in Meta alike.",
    "return x.new_empty(sizes);  // the kernel returns indices",
    "return x.new_empty(sizes, at::kLong);",
)
V0133 = code(
    "V0133",
    "Meta and the kernel do not refuse the same calls",
    "What the kernel refuses for shapes, dtypes and numbers, Meta refuses too: a traced program would fail only when "
    "it runs. What the kernel accepts, Meta accepts. (Calls that the kernel refuses for their elements do not count.)",
    "Tensor pick_meta(const Tensor& x, int64_t at) { return x.new_empty(rest(x)); }",
    'TORCH_CHECK(at < x.size(0), "the place is out of range");',
)
V0134 = code(
    "V0134",
    "a graph serves only the sizes that it was traced with",
    "With sizes as symbols, one traced graph serves all sizes. A Meta kernel that reads a size as a number, or branches "
    "on one, makes PyTorch compile a graph for each.",
    "const int64_t n = x.size(0);\nif (n > 8) …",
    "const auto n = x.sym_size(0);",
)
V0135 = code(
    "V0135",
    "sizes that depend on data cannot be traced",
    "The number of rows that a mask selects is not known while a program is traced. A Meta kernel must not ask for "
    "it: conditions are checked by torch._check, or OPGEN_SYM_CHECK, when the program runs.",
    "if x.numel() == 0:\n    return x.new_zeros(())",
    "return x.new_empty(())",
    "fake.py",
)
V0136 = code(
    "V0136",
    "a fake tensor is not like the real one",
    "A call of fake tensors returns fake tensors with the shape, strides, dtype and device of the real result.",
    'return torch.empty(x.shape, device="meta")',
    "return torch.empty_like(x)",
    "fake.py",
)
V0140 = code(
    "V0140",
    "dtypes are promoted in another way than PyTorch promotes them",
    "An operator that claims to be pointwise gives the same result for inputs of two dtypes as for inputs of the "
    "dtype that both are promoted to. Floating-point results of integers have the default dtype.",
    "return a * b.to(a.scalar_type());",
    "return a * b;  // or build_binary_op, which promotes",
)
V0141 = code(
    "V0141",
    "results of narrow dtypes are less precise than rounding explains",
    "A sum of float16 or of int8 numbers is computed in a wider dtype, and rounded once. Results of narrow inputs are "
    "compared with those of the same numbers in float64 or int64.",
    "at::Half sum = 0;\nfor (int64_t i = 0; i < n; ++i) sum += x[i];",
    "float sum = 0;\nfor (int64_t i = 0; i < n; ++i) sum += static_cast<float>(x[i]);",
)
V0150 = code(
    "V0150",
    "the result depends on the number of threads",
    "Parts of a parallel loop write elements of their own, and what an element is does not depend on how the range is "
    "divided. Large inputs are computed with one thread and with several. (Sums may round differently.)",
    "parallel_for(0, n, grain, [&](int64_t first, int64_t last) {\n  for (int64_t i = first; i < last; ++i) "
    "counts[x[i]] += 1;\n});",
    "// A part for each range, added in the end; or atomics.",
)
V0151 = code(
    "V0151",
    "the same call returns something else the next time",
    "An operator keeps nothing between two calls. Random operators have the tag `nondeterministic_seeded`.",
    "static int64_t calls = 0;\nreturn x + calls++;",
    "return x;",
)
V0152 = code(
    "V0152",
    "random numbers are used without the tag",
    "`nondeterministic_seeded` tells compilers that two calls differ, so that they keep both, and that a call must "
    "not be repeated in a backward pass.",
    "- func: mylib::dither(Tensor self) -> Tensor",
    "- func: mylib::dither(Tensor self) -> Tensor\n  tags: nondeterministic_seeded",
    "native_functions.yaml",
)
V0153 = code(
    "V0153",
    "a generator is not used as passed",
    "All random numbers of a call come from the generator that is passed: the same seed gives the same result, "
    "another one another result, and the default generator stays where it was.",
    "return x + at::rand(x.sizes());",
    "return x + at::rand(x.sizes(), generator);",
)
V0154 = code(
    "V0154",
    "calls in two threads disturb one another",
    "Calls from several threads run at the same time: PyTorch and opgen's runtime release the GIL. They share no "
    "buffers and no settings.",
    "static std::vector<float> buffer;",
    "std::vector<float> buffer(n);",
)
V0160 = code(
    "V0160",
    "a gradient is wrong",
    "Backward formulas are compared with finite differences, in float64 and, where the kernel accepts it, complex128. "
    "A wrong sign, a missing factor, a missing conjugate, a gradient that was not summed after broadcasting.",
    "- name: mylib::square\n  self: grad * 2",
    "- name: mylib::square\n  self: grad * 2 * self",
    "derivatives.yaml",
)
V0161 = code(
    "V0161",
    "a forward gradient is wrong",
    "Forward formulas (`torch.func.jvp`) are compared with finite differences.",
    "- name: mylib::square\n  self: grad * 2 * self\n  result: self_t * 2",
    "- name: mylib::square\n  self: grad * 2 * self\n  result: self_t * 2 * self_p",
    "derivatives.yaml",
)
V0162 = code(
    "V0162",
    "the gradient of a gradient is wrong",
    "If the gradient has a gradient, it is compared with finite differences, too. Operators of which only the "
    "first one is there say so: `not_implemented`, or `once_differentiable`.",
    "- name: mylib::square_backward\n  grad_output: mylib::square_backward(grad, self)\n  self: non_differentiable",
    "- name: mylib::square_backward\n  grad_output: mylib::square_backward(grad, self)\n"
    "  self: grad * grad_output * 2",
    "derivatives.yaml",
)
V0163 = code(
    "V0163",
    "an input that the result depends on has no gradient, and nobody says so",
    "A gradient that is zero, or not there, where finite differences find one, stops training silently. An operator "
    "without a formula throws an error instead.",
    "return x + bias.detach();",
    "return x + bias;",
)
V0164 = code(
    "V0164",
    "an integer tensor requires a gradient",
    "Indices and masks have no gradient, even if they come from the same operator as values that have one.",
    "set_history({values, indices}, node);",
    "set_history({values}, node);",
)
V0165 = code(
    "V0165",
    "the gradient depends on how the incoming gradient lies in memory",
    "The gradient of a sum is expanded: all of its elements are the same memory. That of a transposed result is "
    "transposed. A backward kernel reads it through its strides.",
    "const float* g = grad.const_data_ptr<float>();\nfor (int64_t i = 0; i < n; ++i) y[i] = g[i] * 2;",
    "const Tensor dense = grad.contiguous();",
)
V0166 = code(
    "V0166",
    "a write is not counted",
    "Each tensor has a version counter. Every operator that writes it adds one, so that autograd notices when a tensor "
    "that it has saved is no longer the same.",
    'TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("scale_", scale_); }',
    "TORCH_LIBRARY_IMPL(mylib, ADInplaceOrView, m) {\n"
    '  m.impl("scale_", torch::autograd::autogradNotImplementedInplaceOrViewFallback());\n}',
)
V0170 = code(
    "V0170",
    "vmap returns something else than a loop",
    "`torch.vmap` of the operator, over all of its tensors or one of them, returns what a loop over the examples "
    "returns. Without a batching rule of its own, PyTorch loops.",
    "return result, 1  # the batch is dimension 0 of the result",
    "return result, 0",
    "ops.py",
)
V0171 = code(
    "V0171",
    "a functionalized program returns something else",
    "`torch.func.functionalize` replaces operators that write by others that return new tensors. The program still "
    "returns the same, and what it has written has the same elements.",
    "replace_(self, result);  // forgotten",
    "at::functionalization::impl::replace_(self, result);\nat::functionalization::impl::commit_update(self);",
)
V0172 = code(
    "V0172",
    "a compiled program returns something else",
    "`torch.compile` of a program that calls the operator returns what the program returns, in one graph, with other "
    "sizes too. With --thorough, inductor compiles it; else its decompositions are applied and the graph is run.",
    "@register_decomposition(torch.ops.mylib.f)\ndef f(x): return x * 2 - 1  # the kernel adds 1",
    "@register_decomposition(torch.ops.mylib.f)\ndef f(x): return x * 2 + 1",
    "ops.py",
)
V0173 = code(
    "V0173",
    "an exported program returns something else, or cannot be exported",
    "`torch.export` records the operator, or the operators that a composite one calls. It cannot record a branch on "
    "an element of a tensor.",
    "return x.sum().item<double>() > 0 ? x * 2 : x * 3;",
    "return at::where(x.sum() > 0, x * 2, x * 3);",
)
V0174 = code(
    "V0174",
    "autocast returns something else",
    "Under `torch.autocast`, the operator returns what it returns without, up to the precision of bfloat16. Kernels "
    "for the autocast keys convert their inputs and call the operator with all of its arguments.",
    "return linear(cast(x), cast(weight), {});",
    "return linear(cast(x), cast(weight), cast(bias));",
)
V0180 = code(
    "V0180",
    "a result cannot be copied or pickled",
    "A deep copy of a result and what is read from its pickle have its elements and strides. The storage of a tensor "
    "has at least the bytes that its elements need.",
    "result.storage().set_nbytes(0);",
    "// A storage with the right size, as from empty().",
)
V0181 = code(
    "V0181",
    "the GIL is held during a call",
    "PyTorch and opgen's packages release the GIL before they call an operator, so that other threads of Python run "
    "meanwhile. (opgen's packages: for tensors of 16,384 elements and more.) Kernels do not take it for long.",
    "py::gil_scoped_acquire gil;\ncompute();",
    "compute();\npy::gil_scoped_acquire gil;",
)
V0182 = code(
    "V0182",
    "memory does not return to what it was",
    "After a call, and after its results are gone, the memory that it has taken is free again. The call is repeated, "
    "and tensors and bytes that remain are counted.",
    "static std::vector<Tensor> kept;\nkept.push_back(scratch);",
    "// scratch is a local variable",
)
V0190 = code(
    "V0190",
    "a call ends the process",
    "A null pointer, a division by zero, an index without a check, a call of abort: every call returns or throws. "
    "Operators run in processes of their own, so the others are verified all the same.",
    "const float w = *weight->const_data_ptr<float>();  // weight may be None",
    "const float w = weight.has_value() ? *weight->const_data_ptr<float>() : 1;",
)
V0191 = code(
    "V0191",
    "a call does not return",
    "Every call returns within seconds. Loops end for negative steps, zeros and NaN.",
    "while (left > 0) left -= step;  // step may be negative",
    'TORCH_CHECK(step > 0, "expected a positive step");',
)
V0192 = code(
    "V0192",
    "a call is refused by a failed assertion",
    "An argument that does not fit is refused in words that name it. INTERNAL ASSERT FAILED, or an exception that is "
    "not derived from std::exception, says that the library is broken.",
    "TORCH_INTERNAL_ASSERT(x.dim() == 2);",
    'TORCH_CHECK(x.dim() == 2, "expected a matrix, got ", x.dim(), " dimensions");',
)

# The properties by their names.
PROPERTIES: Mapping[str, Code] = MappingProxyType(
    {
        "inplace-agrees": V0101,
        "out-agrees": V0102,
        "out-resizes": V0103,
        "out-warns": V0104,
        "out-refuses": V0105,
        "out-keeps": V0106,
        "inplace-keeps": V0107,
        "undeclared-write": V0110,
        "write-between": V0111,
        "write-beyond": V0112,
        "read-beyond": V0113,
        "uninitialised": V0114,
        "undeclared-alias": V0115,
        "missing-alias": V0116,
        "overlap": V0117,
        "exception-safe": V0118,
        "strided-inputs": V0120,
        "expanded-inputs": V0121,
        "offset-inputs": V0122,
        "misaligned-inputs": V0123,
        "empty-inputs": V0124,
        "scalar-inputs": V0125,
        "conjugated-inputs": V0126,
        "broadcasting": V0127,
        "meta-shape": V0130,
        "meta-strides": V0131,
        "meta-dtype": V0132,
        "meta-refuses": V0133,
        "symbolic-sizes": V0134,
        "unbacked-sizes": V0135,
        "fake-agrees": V0136,
        "promotion": V0140,
        "precision": V0141,
        "threads": V0150,
        "repeatable": V0151,
        "undeclared-random": V0152,
        "generator": V0153,
        "concurrent": V0154,
        "backward-gradient": V0160,
        "forward-gradient": V0161,
        "second-gradient": V0162,
        "silent-zero": V0163,
        "integer-gradient": V0164,
        "gradient-strides": V0165,
        "version-counter": V0166,
        "vmap": V0170,
        "functionalization": V0171,
        "inductor": V0172,
        "export": V0173,
        "autocast": V0174,
        "copying": V0180,
        "gil": V0181,
        "memory-returned": V0182,
        "crash": V0190,
        "hang": V0191,
        "internal-error": V0192,
    }
)
CODES: Mapping[str, Code] = MappingProxyType({code.code: code for code in PROPERTIES.values()})
# The families of properties, by the beginnings of their codes.
FAMILIES: tuple[tuple[str, str], ...] = (
    ("V010", "Variants"),
    ("V011", "Memory"),
    ("V012", "Inputs"),
    ("V013", "Meta kernels and symbols"),
    ("V014", "Dtypes"),
    ("V015", "Repetition"),
    ("V016", "Gradients"),
    ("V017", "Transforms"),
    ("V018", "Results, threads and memory"),
    ("V019", "How calls end"),
)


def name_of(code: Code) -> str:
    """Return the name of the property with a code."""
    return next(name for name, known in PROPERTIES.items() if known is code)
