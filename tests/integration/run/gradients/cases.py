"""Run the same expressions with PyTorch and with a package: print what each gives, one line for each."""

from __future__ import annotations

import contextlib
import copy
import importlib
import pickle
import re
import sys
import warnings
from typing import Any

# A line ends with an expression, whose value is shown; statements before its last `;` run first. `m` is the module,
# `a` a leaf that requires a gradient, `y` is computed from it, `i` has integers, and `d` is a leaf in double.
CASES = """\
a.requires_grad, a.is_leaf, a.grad, a.grad_fn, a.output_nr
y.requires_grad, y.is_leaf, y.grad_fn is None, y.grad_fn is y.grad_fn
m.tensor([1.0]).requires_grad, i.requires_grad, m.zeros(2).is_leaf
i.requires_grad = True
i.requires_grad_()
i.requires_grad = False; i.requires_grad
y.requires_grad = False
y.requires_grad = True
y.requires_grad_(False)
y.requires_grad_() is y
a.requires_grad = 1
a.requires_grad_(1)
del a.requires_grad
a.requires_grad = False; a.requires_grad, y.requires_grad
m.zeros(2, requires_grad=True)
m.zeros(2, requires_grad=False).requires_grad
m.zeros(2, dtype=m.int64, requires_grad=True)
m.zeros(2, dtype=m.int64, requires_grad=False)
m.tensor([1.0], requires_grad=True)
m.tensor([1], requires_grad=True)
y.sum().backward(); a.grad
y.sum().backward(); y.sum().backward()
y.sum().backward(); (a * 3).sum().backward(); a.grad
(a * a).sum().backward(retain_graph=True); (a * 3).sum().backward(); a.grad
s = (a * a).exp().sum(); s.backward(retain_graph=True); s.backward(); a.grad
s = (a * a * a).sum(); s.backward(create_graph=True); g = a.grad; a.grad = None; g.sum().backward(); a.grad
y.backward()
y.backward(m.tensor([1.0, 10.0])); a.grad
y.backward(gradient=m.tensor([1, 10])); a.grad, a.grad.dtype
y.backward(m.tensor([1.0, 10.0], dtype=m.float64)); a.grad
y.backward(m.zeros(3))
y.backward(m.zeros(2, dtype=m.complex64))
m.zeros(1).backward()
y.sum().backward(inputs=[])
y.sum().backward(inputs=a); a.grad
y.sum().backward(inputs=[y, d]); y.grad, a.grad, d.grad
m.autograd.backward(y.sum()); a.grad
m.autograd.backward([y.sum(), (a * 3).sum()]); a.grad
m.autograd.backward([y, a * 3], [m.tensor([1.0, 2.0]), m.tensor([1.0, 1.0])]); a.grad
m.autograd.backward(y, m.tensor([1.0, 2.0])); a.grad
m.autograd.backward([y.sum(), m.zeros(1)])
m.autograd.backward([y.sum()], inputs=[])
m.autograd.grad(y.sum(), a)
m.autograd.grad(y, a)
m.autograd.grad(y, [a, y], m.tensor([1.0, 3.0]))
m.autograd.grad((a * a).sum(), a, create_graph=True)[0].requires_grad
m.autograd.grad(m.autograd.grad((a * a * a).sum(), a, create_graph=True)[0].sum(), a)
m.autograd.grad(y.sum(), a); a.grad
m.autograd.grad(y.sum(), [d])
m.autograd.grad(y.sum(), [a, d], allow_unused=True)
m.autograd.grad(y.sum(), [a, d], materialize_grads=True)
m.autograd.grad(y.sum(), [d], allow_unused=False, materialize_grads=True)
m.autograd.grad(y.sum(), [m.zeros(1)])
m.autograd.grad(m.zeros(1), [a])
m.autograd.grad(y.sum(), [])
a.grad = 3
a.grad = m.zeros(3)
a.grad = m.zeros(2, dtype=m.float64)
a.grad = a
a.grad = m.tensor([1.0, 2.0]); y.sum().backward(); a.grad
a.grad = m.tensor([1.0, 2.0]); a.grad = None; a.grad
a.grad = m.tensor([1.0, 2.0]); del a.grad; a.grad
y.grad_fn = None
y.is_leaf = True
y.grad_fn.next_functions[0][1], y.grad_fn.next_functions[1]
y.grad_fn.next_functions[0][0] is (a * 3).grad_fn.next_functions[0][0]
isinstance(y.grad_fn, m.autograd.graph.Node) and not isinstance(a, m.autograd.graph.Node)
y.grad_fn.metadata
y.detach(), y.detach().requires_grad, a.detach().grad_fn
y.detach().data_ptr() == y.data_ptr()
y.detach_() is y, y.requires_grad, y.is_leaf
a.unsqueeze(0).detach_()
a.unsqueeze(0).requires_grad, a.unsqueeze(0).is_leaf
a.numpy()
y.numpy()
np.asarray(a)
a.detach().numpy().tolist()
copy.deepcopy(y)
copy.deepcopy(a), copy.deepcopy(a) is a
y.sum().backward(); copy.deepcopy(a).grad
pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(a)).is_leaf
pickle.loads(pickle.dumps(a.detach())).requires_grad
with m.no_grad(): r = a * 2
with m.no_grad(): r = a * 2; r.requires_grad, r.is_leaf, m.is_grad_enabled()
r = m.no_grad()(lambda x: x * 2)(a); r.requires_grad
r = m.no_grad(lambda x: x * 2)(a); r.requires_grad
with m.no_grad(), m.enable_grad(): r = a * 2; r.requires_grad
with m.no_grad(): r = m.enable_grad()(lambda x: x * 2)(a); r.requires_grad
with m.set_grad_enabled(False): r = a * 2; r.requires_grad, m.is_grad_enabled()
m.set_grad_enabled(False); r = a * 2; m.set_grad_enabled(True); r.requires_grad
m.set_grad_enabled(False)(lambda: m.is_grad_enabled())(), m.is_grad_enabled()
with m.inference_mode(): r = a * 2; r.requires_grad, r.is_inference(), m.is_inference_mode_enabled()
with m.inference_mode(): r = a * 2, m.is_grad_enabled(), m.is_inference_mode_enabled(); r[1:], m.is_grad_enabled()
with m.inference_mode(False): r = a * 2; r.requires_grad
with m.inference_mode(), m.inference_mode(False): r = a * 2; r.requires_grad
with m.inference_mode(), m.no_grad(): r = a * 2; m.is_grad_enabled(), m.is_inference_mode_enabled()
r = m.inference_mode()(lambda x: x * 2)(a); r.is_inference()
r = m.inference_mode(lambda x: x * 2)(a); r.is_inference()
with m.inference_mode(): r = a * 2; r.requires_grad = True
list(counted(m.no_grad)), m.is_grad_enabled()
m.autograd.gradcheck(lambda x: (x * x).exp(), d)
m.autograd.gradcheck(lambda x, z: x * z, (d, d * 1))
m.autograd.gradcheck(lambda x: x * 2, d.detach())
m.autograd.gradcheck(lambda x: x.detach(), d)
m.autograd.functional.vjp(lambda x: x * x, a, m.tensor([1.0, 2.0]))
m.autograd.functional.vjp(lambda x: (x * x).sum(), a)
m.autograd.functional.vjp(lambda x, z: x * z, (a, y), m.tensor([1.0, 2.0]))
z = a * 1; z.mul_(m.tensor([3.0, 4.0])); z.sum().backward(); a.grad
z = a * 1; w = z * 2; h = w.register_hook(lambda g: g * 10); w.sum().backward(); a.grad
w = y * 2; h = w.register_hook(lambda g: g * 10); h.remove(); h.remove(); w.sum().backward(); a.grad
w = y * 2; w.register_hook(seen.append); w.sum().backward(); seen
with a.register_hook(seen.append): y.sum().backward(retain_graph=True); y.sum().backward(); seen, a.grad
a.register_hook(lambda g: g * 2); a.register_hook(lambda g: g + 1); y.sum().backward(); a.grad
a.register_hook(lambda g: None); y.sum().backward(); a.grad
a.register_hook(lambda g: "x"); y.sum().backward()
a.register_hook(lambda g: m.zeros(3)); y.sum().backward()
a.register_hook(lambda g: 1 / 0); y.sum().backward()
a.register_hook(lambda g: 1 / 0); y.sum().backward(inputs=[a])
a.register_hook(lambda g: g * 3); m.autograd.grad(y.sum(), a), a.grad
m.zeros(1).register_hook(print)
a.register_hook(lambda g: m.autograd.backward((d * 2).sum())); y.sum().backward(); a.grad, d.grad
y.retains_grad, a.retains_grad; y.retain_grad(); y.retains_grad
y.retain_grad(); y.retain_grad(); y.sum().backward(); y.grad, a.grad
y.retain_grad(); y.register_hook(lambda g: g * 5); y.sum().backward(); y.grad, a.grad
a.retain_grad(); a.retains_grad
m.zeros(1).retain_grad()
y.sum().backward(); y.grad
a.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad)); y.sum().backward(); seen
a.register_post_accumulate_grad_hook(lambda t: 3); y.sum().backward()
y.register_post_accumulate_grad_hook(print)
m.zeros(1).register_post_accumulate_grad_hook(print)
y.grad_fn.register_hook(lambda i, o: seen.append((i[0], len(i), o))); y.sum().backward(); seen
y.grad_fn.register_hook(lambda i, o: (i[0] * 7, i[1])); y.sum().backward(); a.grad
y.grad_fn.register_hook(lambda i, o: (i[0],)); y.sum().backward()
y.grad_fn.register_hook(lambda i, o: "x"); y.sum().backward()
y.grad_fn.register_prehook(lambda o: (o[0] * 7,)); y.sum().backward(); a.grad
y.grad_fn.register_prehook(lambda o: "x"); y.sum().backward()
h = y.grad_fn.register_prehook(lambda o: 1 / 0); h.remove(); y.sum().backward(); a.grad
fw.make_dual(a, a)
fw.unpack_dual(a)
fw.exit_dual_level()
fw.enter_dual_level(), fw.exit_dual_level()
with fw.dual_level(): r = tuple(fw.unpack_dual(fw.make_dual(b, b))); r
with fw.dual_level(): r = tuple(fw.unpack_dual(fw.make_dual(b, b * 2) * b)); r
with fw.dual_level(): r = fw.unpack_dual((fw.make_dual(b, b) * b).exp()).tangent; r
with fw.dual_level(): r = fw.unpack_dual(b); r.tangent
with fw.dual_level(): fw.make_dual(i, i)
with fw.dual_level(): fw.make_dual(b, i)
with fw.dual_level(): fw.make_dual(b, m.zeros(3))
with fw.dual_level(): fw.make_dual(fw.make_dual(b, b), b)
with fw.dual_level(): fw.enter_dual_level()
with fw.dual_level(): z = fw.make_dual(b, b); fw.unpack_dual(z).tangent
with fw.dual_level(): r = repr(fw.make_dual(i * 1.0, i * 1.0)).replace(".0", ".").replace(" ", ""); r
m.autograd.functional.jvp(lambda x: x * x, b, m.tensor([1.0, 10.0]))
m.autograd.functional.jvp(lambda x, z: (x * z, z), (b, b), (b, b))
m.autograd.gradcheck(lambda x: (x * x).exp(), d, check_forward_ad=True)
m.autograd.gradcheck(lambda x: (x * x).exp(), d, check_forward_ad=True, check_backward_ad=False)
with m.autograd.detect_anomaly(check_nan=False): r = m.is_anomaly_enabled(), m.is_anomaly_check_nan_enabled(); r
with m.autograd.set_detect_anomaly(True): r = m.is_anomaly_enabled(); r, m.is_anomaly_enabled()
with m.no_grad(): a.mul_(m.tensor([2.0, 2.0])); a, a.is_leaf
"""


def counted(mode: Any) -> Any:
    @mode()
    def generator() -> Any:
        for i in range(2):
            yield i, M.is_grad_enabled()

    return generator()


def shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "(" + ", ".join(map(shown, value)) + ")"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, M.Tensor):
        kind = str(value.dtype).rpartition(".")[2]
        return f"{kind} {value.detach().tolist()} {value.requires_grad}"
    return repr(value).replace("torch.", "")


def outcome(case: str) -> str:
    a = M.tensor([1.0, 2.0], requires_grad=True)
    names = {
        "m": M,
        "a": a,
        "y": a * 2,
        "i": M.tensor([1, 2]),
        "d": M.tensor([1.0, 2.0], dtype=M.float64, requires_grad=True),
        "np": importlib.import_module("numpy"),
        "copy": copy,
        "pickle": pickle,
        "counted": counted,
        "seen": [],
        "b": M.tensor([1.0, 2.0]),
        "fw": importlib.import_module(f"{M.__name__}.autograd.forward_ad"),
    }
    *before, last = case.split("; ")
    try:
        for statement in before:
            exec(statement, names)
        try:
            code = compile(last, "case", "eval")
        except SyntaxError:
            exec(last, names)
            return "done"
        return shown(eval(code, names))
    except Exception as error:
        text = re.sub(r"torch\.Size\((.*?)\)", r"\1", str(error)).partition("\n")[0]
        text = re.sub(r"'(opgen\.Tensor|torch\._C\.TensorBase)'", "Tensor", text)
        return f"{type(error).__name__}: {text.replace('torch.', '')}"
    finally:
        M.set_grad_enabled(True)
        with contextlib.suppress(RuntimeError):
            names["fw"].exit_dual_level()


M: Any = importlib.import_module(sys.argv[1])
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in CASES.splitlines():
        print(f"{line}  ->  {outcome(line)}")
