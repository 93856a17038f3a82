"""Questions of people who have not seen opgen: README answers each, or a link in README leads to the answer."""

from __future__ import annotations

import re

import pytest
from test_docs_links import anchor

from support.build import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
WHY = "docs/concepts/why.md"
SHORT = f"{WHY}#short-answers"

# The question, README or the link in it, and words of the answer.
QUESTIONS = (
    ("how do I install it", "README.md#install", "pip install path/to/opgen"),
    ("which platforms", "README.md#install", "Linux, a\nC++20 compiler"),
    ("which releases of PyTorch", "docs/start/install.md#releases-of-pytorch", "2.9 to 2.15"),
    ("which licence", "README.md#status", "BSD-3-Clause"),
    ("why not TORCH_LIBRARY by hand", "README.md#which-tool", "`TORCH_LIBRARY` by hand"),
    ("why not custom_op", "README.md#which-tool", "`torch.library.custom_op`"),
    ("why not pybind11 or nanobind", "README.md#which-tool", "pybind11, nanobind"),
    ("how stable is it", "docs/guides/versions.md", "## What is stable"),
    ("how do I upgrade", "docs/guides/versions.md", "run `opgen generate` again"),
    ("what changed", "CHANGELOG.md", "## "),
    ("a CUDA kernel from the entry to the wheel", "docs/guides/cuda.md", "pip wheel"),
    ("ROCm", SHORT, "ROCm, HIP?** Not supported"),
    ("setup.py", "docs/guides/import.md#an-extension-built-by-setuppy", "ext_modules="),
    ("pybind11 bindings that exist", SHORT, "pybind11 bindings, not TORCH_LIBRARY"),
    ("kernels in Triton", SHORT, "Triton or Python?"),
    ("do I commit generated files", SHORT, "Do I commit generated files?"),
    ("how do I remove it", SHORT, "How do I remove it?"),
    ("fp8", SHORT, "Float8_e4m3fn"),
    ("channels_last", SHORT, "suggest_memory_format"),
    ("autocast for my operator", SHORT, "Autocast for my own operator?"),
    ("symbolic sizes", SHORT, "sizes that are symbols"),
    ("a gradient", "docs/guides/gradients.md", "derivatives.yaml"),
    (
        "opcheck and torch.compile",
        "docs/start/torch.md",
        "`opcheck` of all variants, `torch.compile`",
    ),
    ("one wheel for many releases of PyTorch", "docs/guides/torch-stable.md", "torch-stable"),
    ("Bazel", SHORT, "Bazel, Buck?"),
    ("threads", SHORT, "Is it thread-safe?"),
    ("where do I report a bug", "CONTRIBUTING.md#report-a-bug", "Open an issue"),
)


@pytest.mark.parametrize(("question", "link", "answer"), QUESTIONS)
def test_readme_leads_to_the_answer(question: str, link: str, answer: str) -> None:
    """Protects who decides in ten minutes whether to use opgen: an answer is one link away."""
    page, _, section = link.partition("#")
    assert page == "README.md" or f"]({link})" in README
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    if section:
        parts = re.split(r"^(?=#+ )", text, flags=re.MULTILINE)
        first = next(
            i for i, part in enumerate(parts) if anchor(part.split("\n")[0].lstrip("# ")) == section
        )
        level = len(parts[first]) - len(parts[first].lstrip("#"))
        rest = (part for part in parts[first + 1 :] if part.startswith("#" * (level + 1)))
        text = "".join((parts[first], *rest))
    assert answer in text
