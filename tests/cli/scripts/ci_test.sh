#!/usr/bin/env bash
# Cases of .ci/run, with a test run that leaves the report a case wants.
. "$(dirname "${BASH_SOURCE[0]}")/harness.sh"

set_up() {
  mkdir -p "$T/tree/.ci"
  cp "$repo/.ci/run" "$T/tree/.ci"
  write_script "$T/tree/tools/bootstrap.sh" <<<$'#!/bin/sh\necho "bootstrap: $*"\nexit "${BOOTSTRAP_RC:-0}"'
  write_script "$T/tree/run_tests.sh" <<'S'
#!/bin/sh
echo "CI=$CI TITAN_WERROR=$TITAN_WERROR"
mkdir -p build
[ -z "$REPORT" ] || echo "$REPORT" >"$2"
exit "${TESTS_RC:-0}"
S
}

suite() { # TESTS FAILURES DISABLED SKIPPED
  printf '<?xml version="1.0"?>\n<testsuite name="Linux"\n\ttests="%s"\n\tfailures="%s"\n\tdisabled="%s"\n\tskipped="%s"\n\thostname="">\n' "$@"
}

expect_last_line() { [[ $(tail -n 1 "$T/out") == "$1" ]] || fail "the last line is not: $1"; }

case_all_pass() {
  REPORT=$(suite 120 0 0 0) run "$T/tree/.ci/run"
  expect_rc 0
  expect_last_line "120 passed, 0 failed"
  expect_says "bootstrap: --checks"
  expect_says "CI=true TITAN_WERROR=1"
}

case_some_fail() {
  REPORT=$(suite 120 3 1 2) TESTS_RC=8 run "$T/tree/.ci/run"
  expect_rc 1
  expect_says "3 skipped"
  expect_last_line "114 passed, 3 failed"
}

case_no_report() {
  REPORT="" TESTS_RC=70 run "$T/tree/.ci/run"
  expect_rc 1
  expect_last_line "0 passed, 1 failed"
}

case_an_old_report_does_not_count() {
  mkdir -p "$T/tree/build"
  suite 5 0 0 0 >"$T/tree/build/tests.xml"
  REPORT="" TESTS_RC=0 run "$T/tree/.ci/run"
  expect_rc 1
  expect_last_line "0 passed, 1 failed"
}

case_failure_outside_the_report() {
  REPORT=$(suite 9 0 0 0) TESTS_RC=1 run "$T/tree/.ci/run"
  expect_rc 1
  expect_last_line "9 passed, 1 failed"
}

case_bootstrap_fails() {
  BOOTSTRAP_RC=69 REPORT=$(suite 9 0 0 0) run "$T/tree/.ci/run"
  expect_rc 1
  expect_last_line "0 passed, 1 failed"
}

set_up
run_case "$@"
