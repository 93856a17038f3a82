#!/bin/sh
# check.sh: check that the schemas and formulas have no problems, and that README.md shows what opgen prints about one.
set -eu
cd "$(dirname "$0")"
opgen lint --deny-warnings --target torch native_functions.yaml
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
opgen explain --target torch rms_norm | sed -n '/^Gradients/,/^$/p' | sed '$d' >"$printed"
sed -n '/^Gradients$/,/^```$/p' README.md | sed '$d' | diff -u - "$printed"
