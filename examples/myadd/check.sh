#!/bin/sh
# check.sh: check that the committed files are up to date. After a change, run: opgen generate ... -o generated
set -eu
cd "$(dirname "$0")"
opgen check native_functions.yaml -o generated
