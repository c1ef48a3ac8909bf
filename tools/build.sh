#!/usr/bin/env bash
# Brings build/<preset> up to date: fetches what is missing, configures when something changed, builds the targets.
#
#   tools/build.sh [TARGET...]     default target: all
#
# Environment: TITAN_PRESET (release), TITAN_JOBS (as many as processors and free memory allow), TITAN_WERROR (1: warnings
# are errors; CI sets it), and those of tools/bootstrap.sh.
# Everything it says goes to stderr. Exit codes: bootstrap's, or 70 where the build fails.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset="${TITAN_PRESET:-release}"
build="$root/build/$preset"

trap 'exit 130' INT
say() { printf '[build] %s\n' "$*" >&2; }

# Paths from the caller's folder, before this script leaves it.
for variable in TITAN_DEPS_DIR TITAN_TORCH_DIR TITAN_CUDA_DIR; do
  if [[ -n ${!variable:-} ]]; then export "$variable=$(realpath -m -- "${!variable}")"; fi
done
export TITAN_DEPS_DIR="${TITAN_DEPS_DIR:-$root/.deps}"
cd "$root"
tools/bootstrap.sh

# A unit that includes libtorch takes up to 1.5 GB.
jobs() {
  local processors memory limit
  processors=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [[ $limit != max ]] && ((limit / 1048576 < memory)); then memory=$((limit / 1048576)); fi
  ((memory / 1500 < processors)) && processors=$((memory / 1500))
  echo $((processors > 0 ? processors : 1))
}

configure() {
  local key
  key=$(cksum CMakePresets.json tools/pins.txt && echo "$TITAN_DEPS_DIR|${TITAN_TORCH_DIR:-}|${TITAN_CUDA_DIR:-}|${TITAN_WERROR:-}")
  [[ -f $build/build.ninja && -f $build/.configured && $(<"$build/.configured") == "$key" ]] && return
  say "configuring build/$preset"
  rm -f -- "$build/.configured"
  if ! cmake --preset "$preset" "-DTITAN_DEPS_DIR=$TITAN_DEPS_DIR" "-DTITAN_TORCH_DIR=${TITAN_TORCH_DIR:-}" \
    "-DTITAN_CUDA_DIR=${TITAN_CUDA_DIR:-}" >"$build/configure.log" 2>&1; then
    tail -n 40 "$build/configure.log" >&2
    say "configuring failed, the whole log: build/$preset/configure.log"
    exit 70
  fi
  printf '%s\n' "$key" >"$build/.configured"
}

mkdir -p "$build"
exec 9>"$build/.lock"
if ! flock -n 9; then
  say "another build of build/$preset is under way: waiting for it"
  flock 9
fi
configure
cd "$build"
NINJA_STATUS="[build %f/%t, %es] " ninja -j "${TITAN_JOBS:-$(jobs)}" "${@:-all}" >&2 9>&- || {
  say "the build failed, see above"
  exit 70
}
