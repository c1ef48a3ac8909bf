#!/usr/bin/env bash
# Builds everything and runs the tests: ./run_tests.sh [CTEST ARGUMENT...], for instance ./run_tests.sh -L unit
# Tests with the label slow run when they are asked for: ./run_tests.sh -L slow
#
# Environment: TITAN_PRESET (release; dev, asan-ubsan and tsan have test settings too), TITAN_VECTORS_DIR (reference
# vectors, default tests/vectors), and those of tools/build.sh.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$root/tools/build.sh" all
cd "$root"
chosen=(-LE '^slow$')
for argument in "$@"; do
  case "$argument" in -L | -LE | -R | --label-* | --tests-*) chosen=() ;; esac
done
exec ctest --preset "${TITAN_PRESET:-release}" -j "$(nproc)" --output-on-failure "${chosen[@]}" "$@"
