#!/usr/bin/env bash
# Fetches what the build needs and does not find: Debian packages (tools/packages.txt) and libtorch (tools/pins.txt).
# Nothing is installed into the system's Python. Called again, it returns at once and needs no network.
#
#   tools/bootstrap.sh [--checks]   --checks: also what .ci/run needs
#
# Environment
#   TITAN_DEPS_DIR   where libtorch is kept (default: .deps in the checkout); several checkouts may share it
#   TITAN_TORCH_DIR  an existing libtorch to use instead (the folder that holds include/ and lib/)
#   TITAN_CUDA_DIR   the one place to look for the CUDA runtime libraries (default: the system's, /usr/local/cuda)
#
# Exit codes: 64 command line, 65 wrong hash, 66 TITAN_TORCH_DIR is no libtorch, 69 no network, 70 a tool failed,
# 71 too little disk, 72 a distribution package is missing (pip among them), 73 TITAN_DEPS_DIR cannot be written,
# 128+n ended by signal n. None leaves a half-made installation behind.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
deps="${TITAN_DEPS_DIR:-$tools/../.deps}"
tmp=""
child=""
watcher=""

say() { printf '[bootstrap] %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$@"; exit "$code"; }

stop_watching() {
  [[ -n $watcher ]] || return 0
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  watcher=""
}

clean_up() {
  # A background part that is killed before it has shed these traps must not clean up for all.
  [[ $BASHPID == "$$" ]] || return 0
  if [[ -n $child ]]; then
    kill "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
    if [[ -t 2 ]]; then printf '\033[?25h\n' >&2; fi # pip's bar hides the cursor
  fi
  stop_watching
  if [[ -n $tmp ]]; then rm -rf -- "$tmp"; fi
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command so that a signal to this script ends it at once, not when the command is done.
run() {
  local rc=0
  "$@" <&0 &
  child=$!
  wait "$child" || rc=$?
  child=""
  return "$rc"
}

# --- distribution packages -------------------------------------------------------------------------------------------

# Prints the packages of the given groups that are missing, one a line.
missing_packages() {
  local group="" package command installed
  installed=" $(dpkg-query -W -f='${db:Status-Abbrev}${Package} ' 2>/dev/null | sed 's/ii  */+/g') "
  while read -r package command; do
    case $package in
      "" | "#"*) continue ;;
      "["*) group=$package; continue ;;
    esac
    [[ " $* " == *" $group "* ]] || continue
    if [[ -n $command ]] && command -v "${command#= }" >/dev/null; then continue; fi
    [[ $installed == *"+$package "* ]] || echo "$package"
  done <"$tools/packages.txt"
}

install_packages() {
  local log="$tmp/apt.log"
  if [[ $(id -u) != 0 ]]; then
    say "distribution packages are missing; install them with"
    printf '\n    sudo apt-get update && sudo apt-get install -y --no-install-recommends %s\n\n' "$*" >&2
    die 72 "and call this again"
  fi
  say "installing with apt-get: $*"
  export DEBIAN_FRONTEND=noninteractive
  local rc=0 shower
  exec 8> >(tee "$log" | sed -un 's/^Setting up /[bootstrap] &/p' >&2)
  shower=$!
  dpkg --configure -a </dev/null >&8 2>&1 || true # finishes what an interrupted call left
  { run apt-get -q update && run apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    install --no-install-recommends "$@"; } </dev/null >&8 2>&1 || rc=$?
  exec 8>&-
  wait "$shower" || true
  if [[ $rc != 0 ]]; then
    tail -n 15 "$log" >&2
    if grep -qE 'Failed to fetch|Could not resolve|Temporary failure|Unable to locate|Could not connect' "$log"; then
      die 69 "no network: apt-get cannot fetch the packages. Connect, or set the proxy of apt-get, and call this again"
    fi
    die 70 "apt-get failed, see above"
  fi
}

need_packages() {
  local groups=("[build]") missing
  [[ $1 == yes ]] && groups+=("[check]")
  if ! command -v dpkg-query >/dev/null; then
    say "this is not Debian: what tools/packages.txt lists must be there already"
    return
  fi
  missing=$(missing_packages "${groups[@]}")
  # shellcheck disable=SC2086
  [[ -z $missing ]] || { enter; install_packages $missing; }
}

# --- checks before anything is fetched -------------------------------------------------------------------------------

pin() { awk -v name="$1" -v field="$2" '$1 == name { print $field }' "$tools/pins.txt"; }

need_pip() {
  python3 -m pip --version >/dev/null 2>&1 && return
  command -v python3 >/dev/null ||
    die 72 "no python3: it is needed to fetch libtorch. On Debian: sudo apt-get install -y python3-pip"
  die 72 "no pip: 'python3 -m pip' fails, and it is needed to fetch libtorch. On Debian: sudo apt-get install -y python3-pip"
}

# need_disk NAME...: room for the wheels and for what they unpack to, twice their size.
need_disk() {
  local name need=64 have
  for name in "$@"; do need=$((need + 3 * $(pin "$name" 3) / 1000000)); done
  have=$(df -Pm "$deps" | awk 'NR == 2 { print $4 }')
  ((have >= need)) || die 71 "too little disk for ${*}: need $need MB, have $have MB at $deps." \
    "Make room, or point TITAN_DEPS_DIR at another disk"
}

need_platform() {
  [[ $(uname -sm) == "Linux x86_64" ]] ||
    die 72 "no libtorch is pinned for this platform: $(uname -sm), pinned: Linux x86_64. Set TITAN_TORCH_DIR to one of yours"
}

# --- wheels ----------------------------------------------------------------------------------------------------------

# Alone in $deps from here on, with a scratch folder; what a killed bootstrap left is swept.
enter() {
  [[ -z $tmp ]] || return 0
  { exec 9>"$deps/.lock"; } 2>/dev/null || die 73 "cannot write to $deps"
  if ! flock -n 9; then
    say "another bootstrap is at work in $deps: waiting for it"
    run flock 9
  fi
  rm -rf -- "$deps"/.bootstrap.*
  tmp=$(mktemp -d "$deps/.bootstrap.XXXXXX") || die 73 "cannot write to $deps"
}

# Without a terminal pip shows no bar: one line for every tenth instead.
watch_download() {
  local total=$2 shown=0 have
  while kill -0 "$$" 2>/dev/null && sleep 1; do
    have=$(du -sb "$1" 2>/dev/null | cut -f1) || continue
    ((have * 10 / total > shown && shown < 9)) || continue
    shown=$((have * 10 / total))
    say "$3: $((have / 1000000)) of $((total / 1000000)) MB"
  done
}

explain_pip() {
  tail -n 5 "$2" >&2
  if grep -qE 'No space left|Disk quota' "$2"; then die 71 "too little disk while fetching $1, at $deps"; fi
  if grep -qiE 'connection|timed? ?out|name resolution|unreachable|proxy|ssl|from versions: none|resolve' "$2"; then
    die 69 "no network: pip cannot fetch $1. Connect, or set the proxy or index of pip, and call this again"
  fi
  die 70 "pip failed to fetch $1, see above"
}

# fetch NAME: the verified wheel, in $wheel.
fetch() {
  local name=$1 version size sum folder log bar=off tag tags=()
  version=$(pin "$name" 2) size=$(pin "$name" 3) sum=$(pin "$name" 4)
  folder="$tmp/$name" log="$tmp/$name.log"
  for tag in manylinux_2_28 manylinux_2_27 manylinux_2_25 manylinux_2_17 manylinux2014; do
    tags+=(--platform "${tag}_x86_64")
  done
  mkdir -p "$folder"
  say "fetching $name $version ($((size / 1000000)) MB)"
  if [[ -t 2 ]]; then
    bar=on
  else
    watch_download "$folder" "$size" "$name" 9>&- >/dev/null &
    watcher=$!
  fi
  local rc=0 out="$log"
  [[ $bar == off ]] || out=/dev/stderr
  # TMPDIR: pip's own temporary copy belongs on the disk that was checked, and is swept with ours.
  TMPDIR="$folder" run python3 -m pip download --no-deps --only-binary=:all: --python-version 3.11 "${tags[@]}" \
    --no-cache-dir --disable-pip-version-check --no-input --retries 2 --progress-bar "$bar" -d "$folder/wheel" \
    "$name==$version" </dev/null >>"$out" 2>>"$log" || rc=$?
  stop_watching
  [[ $rc == 0 ]] || explain_pip "$name" "$log"
  wheel=$(find "$folder/wheel" -name '*.whl' -print -quit)
  [[ -n $wheel ]] || die 70 "pip brought no wheel for $name"
  local got
  got=$(sha256sum "$wheel" | cut -d' ' -f1)
  [[ $got == "$sum" ]] || die 65 "wrong hash, the file was thrown away: ${wheel##*/}: expected $sum, got $got." \
    "A proxy or an index of your own serves something else, or the transfer was damaged: call this again"
}

# unpack NAME FOLDER PATTERN...: the fetched $wheel; frees its disk space.
unpack() {
  local name=$1 rc=0
  shift
  run python3 "$tools/unpack_wheel.py" "$wheel" "$@" || rc=$?
  [[ $rc != 71 ]] || die 71 "too little disk while unpacking $name, at $deps"
  [[ $rc == 0 ]] || die 70 "cannot unpack $name, see above"
  rm -f -- "$wheel"
}

# publish FOLDER TARGET STAMP: all of it appears at once, or nothing.
publish() {
  printf '%s\n' "$3" >"$1/.complete"
  sync -f "$1/.complete"
  if [[ -e $2 ]]; then mv -- "$2" "$tmp/old.$RANDOM"; fi
  mkdir -p "$(dirname "$2")"
  mv -- "$1" "$2"
}

is_complete() { [[ -f $1/.complete && $(<"$1/.complete") == "$2" ]]; }

# --- libtorch and the CUDA runtime it is linked with -----------------------------------------------------------------

torch_home="libtorch-$(pin torch 2)"
torch_stamp="torch $(pin torch 4)"
cuda_stamp="cuda $(pin nvidia-cuda-runtime 4) $(pin nvidia-cuda-cupti 4)"

fetch_torch() {
  fetch torch
  say "unpacking libtorch"
  local new="$tmp/new-torch" part
  # Not needed: the Python modules, the binding to Python, and programs of PyTorch's own build.
  unpack torch "$new" 'torch/include/*' 'torch/share/*' 'torch/version.py' '*.dist-info/licenses/*' \
    'torch/lib/libc10*' 'torch/lib/libtorch.so' 'torch/lib/libtorch_c*' 'torch/lib/libtorch_nvshmem*' \
    'torch/lib/libgomp*' 'torch/lib/libcaffe2_nvrtc*' 'torch/lib/libtorch_global_deps*'
  for part in include/ATen/ATen.h lib/libtorch_cpu.so lib/libc10.so; do
    [[ -e $new/torch/$part ]] || die 70 "the wheel of torch has no torch/$part"
  done
  publish "$new" "$deps/$torch_home" "$torch_stamp"
}

fetch_cuda_runtime() {
  local new="$tmp/new-cuda" name
  for name in nvidia-cuda-runtime nvidia-cuda-cupti; do
    fetch "$name"
    unpack "$name" "$new" 'nvidia/cu13/lib/libcudart.so*' 'nvidia/cu13/lib/libcupti.so*' '*.dist-info/licenses/*'
  done
  mv -- "$new"/*.dist-info "$new/nvidia/"
  publish "$new/nvidia" "$deps/$torch_home/nvidia" "$cuda_stamp"
}

has_library() {
  local dir root="${TITAN_CUDA_DIR:-/usr/local/cuda}"
  if [[ -z ${TITAN_CUDA_DIR:-} && $(ldconfig -p) == *"$1 "* ]]; then return; fi
  for dir in lib64 lib extras/CUPTI/lib64; do
    if [[ -e $root/$dir/$1 ]]; then return; fi
  done
  return 1
}

needs_cuda_runtime() {
  if has_library libcudart.so.13 && has_library libcupti.so.13; then return 1; fi
  if is_complete "$deps/$torch_home/nvidia" "$cuda_stamp"; then return 1; fi
  [[ -n ${TITAN_TORCH_DIR:-} ]] || return 0
  if [[ -e $TITAN_TORCH_DIR/../nvidia/cu13/lib/libcudart.so.13 ]]; then return 1; fi
  # A libtorch of the user's may be a CPU build.
  [[ $(readelf -d "$TITAN_TORCH_DIR/lib/libtorch_cpu.so" 2>/dev/null) == *libcudart.so.13* ]]
}

needs_torch() {
  [[ -z ${TITAN_TORCH_DIR:-} ]] && ! is_complete "$deps/$torch_home" "$torch_stamp"
}

check_own_torch() {
  local part version
  for part in include/ATen/ATen.h lib/libtorch_cpu.so lib/libc10.so; do
    [[ -e $TITAN_TORCH_DIR/$part ]] ||
      die 66 "TITAN_TORCH_DIR is no libtorch: $TITAN_TORCH_DIR has no $part. Name the folder that holds include/ and lib/"
  done
  version=$(sed -nE 's/^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' \
    "$TITAN_TORCH_DIR"/include/torch/{headeronly,csrc/api/include/torch}/version.h 2>/dev/null | paste -sd.) || true
  say "using libtorch ${version:-of unknown version} at $TITAN_TORCH_DIR"
  [[ $version == "$(pin torch 2 | cut -d. -f1,2)".* ]] ||
    say "warning: titan is built and tested with libtorch $(pin torch 2)"
}

main() {
  local checks=no wanted=()
  for argument in "$@"; do
    case $argument in
      --checks) checks=yes ;;
      *) die 64 "unknown argument: $argument. Usage: tools/bootstrap.sh [--checks]" ;;
    esac
  done
  mkdir -p "$deps" 2>/dev/null || die 73 "cannot create TITAN_DEPS_DIR: $deps"
  deps=$(cd "$deps" && pwd)
  [[ -z ${TITAN_TORCH_DIR:-} ]] || check_own_torch

  # Cheap refusals first: before minutes of downloads, and before the machine is changed.
  if needs_torch; then need_platform; wanted+=(torch); fi
  if needs_cuda_runtime; then wanted+=(nvidia-cuda-runtime nvidia-cuda-cupti); fi
  if ((${#wanted[@]})); then
    need_pip
    need_disk "${wanted[@]}"
  fi
  need_packages "$checks"
  ((${#wanted[@]})) || return 0

  enter
  if needs_torch; then fetch_torch; fi
  if needs_cuda_runtime; then fetch_cuda_runtime; fi
  say "ready: $deps/$torch_home"
}

main "$@"
