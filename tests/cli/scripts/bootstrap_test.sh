#!/usr/bin/env bash
# Cases of tools/bootstrap.sh, with wheels of a few bytes and a pip, a dpkg and an apt-get that do as a case wants.
. "$(dirname "${BASH_SOURCE[0]}")/harness.sh"

real_python=$(command -v python3)
deps="$T/deps"
home="$deps/libtorch-2.11.0"

make_wheel() { # FILE MEMBER...
  "$real_python" - "$@" <<'P'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for member in sys.argv[2:]:
        wheel.writestr(member, "content of " + member)
P
}

pin_line() { echo "$1 $2 $(stat -c %s "$3") $(sha256sum "$3" | cut -d' ' -f1)"; }

set_up() {
  mkdir -p "$T/tools" "$T/wheels" "$T/cuda/lib64" "$T/none"
  cp "$repo"/tools/{bootstrap.sh,packages.txt,unpack_wheel.py} "$T/tools"
  touch "$T/cuda/lib64/libcudart.so.13" "$T/cuda/lib64/libcupti.so.13"
  make_wheel "$T/wheels/torch.whl" torch/include/ATen/ATen.h torch/lib/libtorch_cpu.so torch/lib/libc10.so \
    torch/lib/libtorch_python.so torch/nn/modules.py torch/version.py torch-2.11.0.dist-info/licenses/LICENSE
  make_wheel "$T/wheels/nvidia-cuda-runtime.whl" nvidia/cu13/lib/libcudart.so.13 nvidia/cu13/include/cuda.h \
    nvidia_cuda_runtime.dist-info/licenses/License.txt
  make_wheel "$T/wheels/nvidia-cuda-cupti.whl" nvidia/cu13/lib/libcupti.so.13 nvidia/cu13/lib/libcheckpoint.so \
    nvidia_cuda_cupti.dist-info/licenses/License.txt
  {
    pin_line torch 2.11.0 "$T/wheels/torch.whl"
    pin_line nvidia-cuda-runtime 13.0.96 "$T/wheels/nvidia-cuda-runtime.whl"
    pin_line nvidia-cuda-cupti 13.0.85 "$T/wheels/nvidia-cuda-cupti.whl"
  } >"$T/tools/pins.txt"

  # $T/pip: what pip does; $T/pip.log: one line for each download. All Debian packages are there, nobody is root.
  echo works >"$T/pip"
  write_script "$T/bin/python3" <<P
#!/usr/bin/env bash
[[ "\$1 \$2" == "-m pip" ]] || exec "$real_python" "\$@"
mode=\$(<"$T/pip")
[[ \$mode != missing ]] || { echo "No module named pip"; exit 1; }
[[ \$3 == download ]] || exit 0
name=\${*: -1}
echo "\$name" >>"$T/pip.log"
while [[ \$# -gt 0 && \$1 != -d ]]; do shift; done
mkdir -p "\$2"
case \$mode in
  offline) echo "WARNING: Retrying: NewConnectionError" >&2; echo "ERROR: No matching distribution" >&2; exit 1 ;;
  full) echo "ERROR: [Errno 28] No space left on device" >&2; exit 1 ;;
  broken) echo "ERROR: something else" >&2; exit 1 ;;
  slow) head -c 100 "$T/wheels/\${name%%==*}.whl" >"\$2/part"; touch "$T/started"; exec sleep 60 ;;
  gated) touch "$T/started"; while [[ ! -e "$T/go" ]]; do sleep 0.05; done ;;&
  other) echo damage >>"$T/wheels/\${name%%==*}.whl" ;;&
  *) cp "$T/wheels/\${name%%==*}.whl" "\$2" ;;
esac
P
  write_script "$T/bin/dpkg-query" <<P
#!/usr/bin/env bash
[[ -e "$T/no-packages" ]] || sed -n 's/^\([a-z][^ ]*\).*/ii  \1 /p' "$T/tools/packages.txt" | tr -d '\n'
P
  write_script "$T/bin/id" <<<$'#!/bin/sh\necho 1000'
  export PATH="$T/bin:$PATH" TITAN_DEPS_DIR="$deps" TITAN_CUDA_DIR="$T/cuda"
}

bootstrap() { run bash "$T/tools/bootstrap.sh" "$@"; }

expect_nothing_left() {
  expect_no_file "$home"
  [[ -z $(compgen -G "$deps/.bootstrap.*") ]] || fail "a scratch folder is left: $(ls -A "$deps")"
}

case_fetches_once() {
  bootstrap
  expect_rc 0
  expect_says "[bootstrap] fetching torch 2.11.0"
  expect_file "$home/torch/include/ATen/ATen.h"
  expect_file "$home/torch/lib/libtorch_cpu.so"
  expect_file "$home/torch-2.11.0.dist-info/licenses/LICENSE"
  expect_no_file "$home/torch/nn"
  expect_no_file "$home/torch/lib/libtorch_python.so"
  expect_no_file "$home/nvidia"
  echo missing >"$T/pip"
  bootstrap
  expect_rc 0
  [[ ! -s $T/out ]] || fail "the second call is not silent"
  [[ $(wc -l <"$T/pip.log") == 1 ]] || fail "fetched again: $(<"$T/pip.log")"
}

case_fetches_cuda_runtime() {
  export TITAN_CUDA_DIR="$T/none"
  bootstrap
  expect_rc 0
  expect_file "$home/torch/lib/libtorch_cpu.so"
  expect_file "$home/nvidia/cu13/lib/libcudart.so.13"
  expect_file "$home/nvidia/cu13/lib/libcupti.so.13"
  expect_no_file "$home/nvidia/cu13/lib/libcheckpoint.so"
  echo missing >"$T/pip"
  bootstrap
  expect_rc 0
}

case_cuda_runtime_alone() {
  bootstrap
  export TITAN_CUDA_DIR="$T/none"
  bootstrap
  expect_rc 0
  expect_silent_about "fetching torch"
  expect_file "$home/nvidia/cu13/lib/libcudart.so.13"
}

case_no_pip() {
  echo missing >"$T/pip"
  bootstrap
  expect_rc 72
  expect_says "no pip"
  expect_says "apt-get install -y python3-pip"
  expect_nothing_left
}

case_no_python() {
  local tool
  mkdir "$T/few"
  for tool in bash awk cat cut df dirname dpkg-query grep head id ldconfig mkdir sed sha256sum tail tr uname; do
    ln -s "$(command -v "$tool")" "$T/few/$tool"
  done
  # bootstrap.sh appends the system's own folders, where there is no python.
  PATH="$T/few" run "$(command -v bash)" "$T/tools/bootstrap.sh"
  expect_rc 72
  expect_says "no python3"
  expect_nothing_left
}

case_no_network() {
  echo offline >"$T/pip"
  bootstrap
  expect_rc 69
  expect_says "no network: pip cannot fetch torch"
  expect_nothing_left
}

case_pip_fails() {
  echo broken >"$T/pip"
  bootstrap
  expect_rc 70
  expect_says "ERROR: something else"
  expect_nothing_left
}

case_wrong_hash() {
  echo other >"$T/pip"
  bootstrap
  expect_rc 65
  expect_says "wrong hash, the file was thrown away: torch.whl: expected"
  expect_nothing_left
}

case_damaged_wheel() {
  head -c 300 "$T/wheels/torch.whl" >"$T/cut" && mv "$T/cut" "$T/wheels/torch.whl"
  sed -i "s/^torch .*/$(pin_line torch 2.11.0 "$T/wheels/torch.whl")/" "$T/tools/pins.txt"
  bootstrap
  expect_rc 70
  expect_says "cannot unpack torch"
  expect_nothing_left
}

case_too_little_disk() {
  write_script "$T/bin/df" <<<$'#!/bin/sh\necho "Filesystem 1M-blocks Used Available Capacity Mounted"\necho "/dev/x 9 9 7 99% /"'
  bootstrap
  expect_rc 71
  expect_says "too little disk for torch: need 64 MB, have 7 MB at $deps"
  expect_nothing_left
  expect_no_file "$T/pip.log"
}

case_disk_fills_up() {
  echo full >"$T/pip"
  bootstrap
  expect_rc 71
  expect_says "too little disk while fetching torch"
  expect_nothing_left
}

case_cannot_write() {
  touch "$T/file"
  TITAN_DEPS_DIR="$T/file/deps" bootstrap
  expect_rc 73
  expect_says "cannot create TITAN_DEPS_DIR: $T/file/deps"
}

case_unknown_argument() {
  bootstrap --fast
  expect_rc 64
  expect_says "unknown argument: --fast"
}

# Starts a bootstrap in the background and waits until its pip is at work.
start_slow() {
  echo "$1" >"$T/pip"
  bash "$T/tools/bootstrap.sh" >"$T/background" 2>&1 </dev/null &
  background=$!
  wait_for test -e "$T/started"
}

nothing_runs() { ! pgrep -f "$T/tools/bootstrap.sh" >/dev/null; }

case_terminated() {
  start_slow slow
  kill -TERM "$background"
  rc=0
  wait "$background" || rc=$?
  expect_rc 143
  expect_nothing_left
  wait_for nothing_runs
  echo works >"$T/pip"
  bootstrap
  expect_rc 0
  expect_file "$home/.complete"
}

case_killed() {
  start_slow slow
  # Its pip outlives it and holds the lock, as it should while it still writes.
  local pip
  pip=$(pgrep -P "$background" sleep)
  kill -KILL "$background"
  wait "$background" 2>/dev/null
  [[ -n $(compgen -G "$deps/.bootstrap.*") ]] || fail "expected the scratch folder of a killed bootstrap"
  kill "$pip"
  wait_for nothing_runs
  echo works >"$T/pip"
  bootstrap
  expect_rc 0
  expect_file "$home/.complete"
  [[ -z $(compgen -G "$deps/.bootstrap.*") ]] || fail "the scratch folder is still there"
}

case_two_at_once() {
  start_slow gated
  bash "$T/tools/bootstrap.sh" >"$T/out" 2>&1 </dev/null &
  local second=$!
  wait_for grep -qF "another bootstrap is at work" "$T/out"
  touch "$T/go"
  wait "$background" || fail "the first one failed: $(<"$T/background")"
  wait "$second" || fail "the second one failed"
  [[ $(wc -l <"$T/pip.log") == 1 ]] || fail "fetched twice"
  expect_file "$home/.complete"
}

case_unfinished_folder_is_replaced() {
  mkdir -p "$home/torch/lib"
  touch "$home/torch/lib/libtorch_cpu.so" "$home/torch/leftover"
  bootstrap
  expect_rc 0
  expect_file "$home/torch/include/ATen/ATen.h"
  expect_no_file "$home/torch/leftover"
}

case_new_pin_is_fetched() {
  bootstrap
  make_wheel "$T/wheels/torch.whl" torch/include/ATen/ATen.h torch/lib/libtorch_cpu.so torch/lib/libc10.so torch/share/new
  sed -i "s/^torch .*/$(pin_line torch 2.11.0 "$T/wheels/torch.whl")/" "$T/tools/pins.txt"
  bootstrap
  expect_rc 0
  expect_file "$home/torch/share/new"
}

make_own_torch() { # VERSION
  mkdir -p "$T/own"/{include/ATen,include/torch/headeronly,lib}
  touch "$T/own/include/ATen/ATen.h" "$T/own/lib/libc10.so" "$T/own/lib/libtorch_cpu.so"
  local major minor patch
  IFS=. read -r major minor patch <<<"$1"
  cat >"$T/own/include/torch/headeronly/version.h" <<H
#define TORCH_VERSION_MAJOR $major
#define TORCH_VERSION_MINOR $minor
#define TORCH_VERSION_PATCH $patch
H
  export TITAN_TORCH_DIR="$T/own"
}

case_own_torch() {
  make_own_torch 2.11.1
  echo missing >"$T/pip"
  bootstrap
  expect_rc 0
  expect_says "using libtorch 2.11.1 at $T/own"
  expect_silent_about "warning"
  expect_no_file "$home"
}

case_own_torch_of_another_version() {
  make_own_torch 2.9.0
  bootstrap
  expect_rc 0
  expect_says "using libtorch 2.9.0"
  expect_says "warning: titan is built and tested with libtorch 2.11.0"
}

case_own_torch_is_none() {
  make_own_torch 2.11.0
  rm "$T/own/lib/libc10.so"
  bootstrap
  expect_rc 66
  expect_says "TITAN_TORCH_DIR is no libtorch: $T/own has no lib/libc10.so"
}

case_packages_for_a_user() {
  touch "$T/no-packages"
  bootstrap
  expect_rc 72
  expect_says "sudo apt-get update && sudo apt-get install -y --no-install-recommends"
  expect_says "libtoml11-dev"
  expect_no_file "$T/pip.log"
  expect_nothing_left
}

be_root() {
  touch "$T/no-packages"
  write_script "$T/bin/id" <<<$'#!/bin/sh\necho 0'
  write_script "$T/bin/dpkg" <<<$'#!/bin/sh\nexit 0'
}

case_packages_for_root() {
  be_root
  write_script "$T/bin/apt-get" <<P
#!/bin/sh
echo "\$*" >>"$T/apt.log"
case "\$*" in *install*) rm -f "$T/no-packages"; echo "Setting up libtoml11-dev" ;; esac
P
  bootstrap
  expect_rc 0
  expect_says "[bootstrap] Setting up libtoml11-dev"
  grep -q "install --no-install-recommends .*libpcre2-dev" "$T/apt.log" || fail "apt-get was called with: $(<"$T/apt.log")"
  expect_file "$home/.complete"
  rm "$T/apt.log"
  bootstrap
  expect_rc 0
  expect_no_file "$T/apt.log"
}

case_packages_without_network() {
  be_root
  write_script "$T/bin/apt-get" <<<$'#!/bin/sh\necho "E: Failed to fetch http://mirror: Could not resolve mirror"\nexit 100'
  bootstrap
  expect_rc 69
  expect_says "no network: apt-get cannot fetch the packages"
  expect_nothing_left
}

set_up
run_case "$@"
