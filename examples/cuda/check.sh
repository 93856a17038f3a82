#!/bin/sh
# check.sh: check that the schemas have no problems, and that the guide shows the entry and the kernel as they are.
set -eu
cd "$(dirname "$0")"
opgen lint --deny-warnings --target torch native_functions.yaml
guide=../../docs/guides/cuda.md
shown=$(mktemp)
trap 'rm -f "$shown"' EXIT
sed -n '/^```yaml$/,/^```$/p' "$guide" | sed '1d;$d' >"$shown"
sed '1d' native_functions.yaml | diff -u - "$shown"
sed -n '/^```cpp$/,/^```$/p' "$guide" | sed '1d;$d' >"$shown"
sed -n '/^OPGEN_IMPL_FUNC/,$p' kernels/rms_norm.cu | diff -u - "$shown"
