#!/bin/sh
# check.sh: check that the committed files in after/ are what opgen generates from before/ and from the YAML.
set -eu
cd "$(dirname "$0")"
again=$(mktemp -d)
trap 'rm -rf "$again"' EXIT
(cd before && opgen import csrc fuse --kernels-as-they-are -o "$again/native_functions.yaml") 2>/dev/null
for file in native_functions.yaml native_functions_kernels.h; do
  diff -u "after/$file" "$again/$file"
done
cd after
opgen lint --target torch native_functions.yaml 2>/dev/null
opgen check native_functions.yaml --target torch -o generated
