#!/usr/bin/env bash
# Cases of tools/build.sh and run_tests.sh, with a bootstrap, a cmake, a ninja and a ctest that only tell how they were called.
. "$(dirname "${BASH_SOURCE[0]}")/harness.sh"

set_up() {
  mkdir -p "$T/tree/tools" "$T/elsewhere"
  cp "$repo/tools/build.sh" "$T/tree/tools"
  cp "$repo/run_tests.sh" "$repo/CMakePresets.json" "$T/tree"
  cp "$repo/tools/pins.txt" "$T/tree/tools"
  write_script "$T/tree/tools/bootstrap.sh" <<<$'#!/bin/sh\necho "deps: $TITAN_DEPS_DIR"\nexit "${BOOTSTRAP_RC:-0}"'
  write_script "$T/bin/cmake" <<<$'#!/bin/sh\necho "cmake: $*" >>"$T/calls"\necho "CMake says why"\nmkdir -p build/release && touch build/release/build.ninja\nexit "${CMAKE_RC:-0}"'
  write_script "$T/bin/ninja" <<<$'#!/bin/sh\necho "ninja in $(pwd -P): $*" >>"$T/calls"\nexit "${NINJA_RC:-0}"'
  write_script "$T/bin/ctest" <<<$'#!/bin/sh\necho "ctest in $(pwd -P): $*" >>"$T/calls"\nexit "${CTEST_RC:-0}"'
  export T PATH="$T/bin:$PATH"
  cd "$T/tree" || exit 1
}

expect_calls() { grep -qE -- "$1" "$T/calls" || fail "expected '$1' among the calls: $(<"$T/calls")"; }
forget_calls() { rm -f "$T/calls"; }

case_configures_once() {
  run tools/build.sh some_target
  expect_rc 0
  expect_says "configuring build/release"
  expect_calls "cmake: --preset release .*-DTITAN_DEPS_DIR=$T/tree/.deps "
  expect_calls "ninja in $(pwd -P)/build/release: -j [0-9]+ some_target"
  forget_calls
  run tools/build.sh
  expect_rc 0
  ! grep -q cmake "$T/calls" || fail "configured again: $(<"$T/calls")"
  expect_calls "ninja .* all$"
}

case_configures_again() {
  run tools/build.sh
  forget_calls
  TITAN_TORCH_DIR=/opt/torch run tools/build.sh
  expect_calls "cmake: .*-DTITAN_TORCH_DIR=/opt/torch"
  forget_calls
  TITAN_TORCH_DIR=/opt/torch TITAN_WERROR=1 run tools/build.sh
  expect_calls "cmake:"
  forget_calls
  echo >>CMakePresets.json
  TITAN_TORCH_DIR=/opt/torch TITAN_WERROR=1 run tools/build.sh
  expect_calls "cmake:"
}

case_relative_paths_are_the_callers() {
  cd "$T/elsewhere" || exit 1
  TITAN_DEPS_DIR=cache run ../tree/tools/build.sh
  expect_rc 0
  expect_says "deps: $T/elsewhere/cache"
  expect_calls "-DTITAN_DEPS_DIR=$T/elsewhere/cache"
}

case_bootstrap_fails() {
  BOOTSTRAP_RC=69 run tools/build.sh
  expect_rc 69
  expect_no_file "$T/calls"
}

case_configuring_fails() {
  CMAKE_RC=1 run tools/build.sh
  expect_rc 70
  expect_says "CMake says why"
  expect_says "configuring failed"
  forget_calls
  run tools/build.sh
  expect_rc 0
  expect_calls "cmake:"
}

case_build_fails() {
  NINJA_RC=1 run tools/build.sh
  expect_rc 70
  expect_says "the build failed"
}

case_jobs() {
  TITAN_JOBS=7 run tools/build.sh
  expect_calls "ninja .*: -j 7 all"
}

case_tests_pass_arguments_on() {
  run ./run_tests.sh -L unit
  expect_rc 0
  expect_calls "ninja .* all$"
  expect_calls "ctest in $(pwd -P): --preset release -j [0-9]+ --output-on-failure -L unit"
}

case_tests_of_another_preset() {
  TITAN_PRESET=tsan run ./run_tests.sh
  expect_rc 0
  expect_calls "cmake: --preset tsan"
  expect_calls "ninja in $(pwd -P)/build/tsan:"
  expect_calls "ctest in .*: --preset tsan"
}

case_tests_fail() {
  CTEST_RC=8 run ./run_tests.sh
  expect_rc 8
  NINJA_RC=1 run ./run_tests.sh
  expect_rc 70
}

set_up
run_case "$@"
