#!/bin/sh
# check.sh: check the schemas and formulas for both targets, and that the picture and README.md show losses.csv.
set -eu
cd "$(dirname "$0")"
for target in runtime torch; do
  opgen lint --deny-warnings --target "$target" native_functions.yaml
done
python3 report.py
