# shellcheck shell=bash disable=SC2034  # its readers are the files that source it
# Sourced by the *_test.sh files: a scratch folder for one case, and what the cases expect. A file is called with the name
# of one case: `bootstrap_test.sh no_pip` runs case_no_pip. Needs no network and changes nothing outside $T.
set -uo pipefail
export LC_ALL=C
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
unset TITAN_DEPS_DIR TITAN_TORCH_DIR TITAN_CUDA_DIR TITAN_PRESET TITAN_JOBS TITAN_WERROR NGPU MODULE CONFIG LOG_RANK COMM_MODE
T=$(mktemp -d "${TMPDIR:-/tmp}/titan-scripts.XXXXXX") || exit 1
trap 'rm -rf -- "$T"' EXIT
touch "$T/out"

fail() {
  printf 'FAILED: %s\n' "$*"
  [[ ! -f $T/out ]] || sed 's/^/  | /' "$T/out"
  exit 1
}

# Runs a command; its output and its exit code go to $T/out and $rc.
run() {
  rc=0
  "$@" >"$T/out" 2>&1 </dev/null || rc=$?
}

expect_rc() { [[ $rc == "$1" ]] || fail "exit code $rc, expected $1"; }
expect_says() { grep -qF -- "$1" "$T/out" || fail "it does not say: $1"; }
expect_silent_about() { ! grep -qF -- "$1" "$T/out" || fail "it says: $1"; }
expect_file() { [[ -e $1 ]] || fail "no such file: $1"; }
expect_no_file() { [[ ! -e $1 ]] || fail "this should not exist: $1"; }

# write_script FILE: an executable from stdin.
write_script() {
  mkdir -p "$(dirname "$1")"
  cat >"$1"
  chmod +x "$1"
}

# wait_for CONDITION...: until the command succeeds, at most 30 s.
wait_for() {
  local tries=300
  until "$@"; do
    ((tries-- > 0)) || fail "waited in vain for: $*"
    sleep 0.1
  done
}

run_case() {
  declare -F "case_${1:-}" >/dev/null || fail "unknown case: $*"
  "case_$1"
}
