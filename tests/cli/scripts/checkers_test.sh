#!/usr/bin/env bash
# Each checker passes a small good tree and finds the one fault put into it.
. "$(dirname "${BASH_SOURCE[0]}")/harness.sh"

tree="$T/tree"
abi="$tree/sdk/include/titan/abi"

put() { # FILE LINE...
  mkdir -p "$(dirname "$tree/$1")"
  printf '%s\n' "${@:2}" >"$tree/$1"
}

set_up() {
  mkdir -p "$tree/tools"
  put sdk/include/titan/abi/x.h '#include "titan/abi/y.h"' '#include <stdint.h>'
  put sdk/include/titan/sdk/x.hpp '#include "titan/abi/x.h"'
  put plugins/one/model.cpp '#include "titan/sdk/x.hpp"' '#include "model.hpp"' '#include "plugins/one/model.hpp"'
  put plugins/one/model.hpp '#pragma once'
  put core/base/log.cpp '#include <spdlog/spdlog.h>' '#include "core/base/log.hpp"'
  put core/config/config.cpp '#include "core/base/log.hpp"'
  put core/nn/tree.cpp '#include <ATen/ATen.h>' '#include "core/tensor/t.hpp"' '// #include "core/train/t.hpp"'
  put core/comm/group.cpp '#include <ATen/ATen.h>' '#include "core/nn/tree.hpp"' '#include "core/config/mesh.hpp"'
  put core/launch/launcher.cpp '#include "core/base/log.hpp"' '#include "core/config/mesh.hpp"'
  put tests/unit/t.cpp '#include "core/train/t.hpp"' '#include "plugins/one/model.hpp"'
}

check() { run "$repo/tools/check_$1" "$tree"; }

# expect_finds CHECKER TEXT: after the good tree passed, the fault is found.
expect_finds() {
  check "$1"
  expect_rc 1
  expect_says "$2"
  expect_says "1 findings"
}

expect_good() {
  check "$1"
  expect_rc 0
}

expect_include_refused() { # FILE INCLUDE
  local before
  before=$(cat "$tree/$1" 2>/dev/null)
  put "$1" "$before" "#include $2"
  expect_finds deps "$1:"
  expect_says "may not include"
  put "$1" "$before"
}

case_deps() {
  expect_good deps
  expect_include_refused sdk/include/titan/abi/x.h '"titan/sdk/x.hpp"'
  expect_include_refused sdk/include/titan/sdk/x.hpp '<ATen/ATen.h>'
  expect_include_refused plugins/one/model.cpp '"core/base/log.hpp"'
  expect_include_refused plugins/one/model.cpp '"plugins/two/model.hpp"'
  expect_include_refused plugins/one/model.cpp '"../two/../../core/base/log.hpp"'
  expect_include_refused core/base/log.cpp '"core/config/config.hpp"'
  expect_include_refused core/config/config.cpp '<torch/torch.h>'
  expect_include_refused core/config/config.cpp '"core/nn/tree.hpp"'
  expect_include_refused core/nn/tree.cpp '"core/train/t.hpp"'
  expect_include_refused core/nn/tree.cpp '"core/comm/group.hpp"'
  expect_include_refused core/comm/group.cpp '"core/optim/adamw.hpp"'
  expect_include_refused core/launch/launcher.cpp '"core/comm/group.hpp"'
  expect_include_refused core/launch/launcher.cpp '"core/app/verbs.hpp"'
  expect_include_refused core/nn/tree.cpp '"core/plugin/loader.hpp"'
  expect_include_refused core/nn/tree.cpp '"plugins/one/model.hpp"'
}

case_deps_of_siblings() {
  put core/optim/adamw.cpp '#include "core/nn/tree.hpp"'
  expect_good deps
  expect_include_refused core/optim/adamw.cpp '"core/data/loader.hpp"'
  expect_include_refused core/data/loader.cpp '<ATen/ATen.h>'
}

case_deps_spdlog() {
  put core/nn/log.cpp '#include <spdlog/spdlog.h>'
  expect_finds deps "core/nn/log.cpp:1: spdlog belongs to core/base/log*.cpp alone"
}

case_deps_unknown_room() {
  put core/misc/x.cpp ''
  expect_finds deps "core/misc is no room of the table"
}

case_deps_of_nothing() {
  rm -r "$tree" && mkdir "$tree"
  expect_finds deps "found nothing to check"
}

numbered_lines() { seq -f '// %g' "$1"; }

write_sizes() {
  cat >"$tree/tools/sizes.toml" <<S
[limits]
file = 40
header = 20
function = 10
[files]
"core/app/main.cpp" = 15
[totals]
core = 100
S
}

case_sizes() {
  write_sizes
  put core/base/f.cpp 'int f(int a = {}, int b = 0)' '    noexcept {' '  if (a) {' '    return b;' '  }' '  return 1;' '}'
  expect_good sizes
}

case_sizes_of_a_file() {
  write_sizes
  put tests/big.cpp "$(numbered_lines 41)"
  expect_finds sizes "tests/big.cpp: 41 lines, limit 40"
}

case_sizes_of_a_header() {
  write_sizes
  put tests/big.hpp "$(numbered_lines 21)"
  expect_finds sizes "tests/big.hpp: 21 lines, limit 20"
}

case_sizes_of_a_named_file() {
  write_sizes
  put core/app/main.cpp "$(numbered_lines 16)"
  expect_finds sizes "core/app/main.cpp: 16 lines, limit 15"
}

case_sizes_of_a_folder() {
  write_sizes
  put core/base/a.cpp "$(numbered_lines 40)"
  put core/base/b.cpp "$(numbered_lines 40)"
  put core/base/c.cpp "$(numbered_lines 20)"
  expect_finds sizes "core/: 111 lines in all, limit 100"
}

case_sizes_of_a_function() {
  write_sizes
  put tests/t.cpp 'namespace a {' 'struct S {' '  S(int n = {}) : a_(n), b_{2} {' "$(numbered_lines 9)" '  }' '};' '}'
  expect_finds sizes "tests/t.cpp:3: S has 11 lines, limit 10"
  put tests/t.cpp 'TEST(Suite, Name) {' '  auto f = [] { return "}"; };' "$(numbered_lines 8)" '}'
  expect_finds sizes "tests/t.cpp:1: TEST has 11 lines, limit 10"
}

expect_prefix_missing() { # LINE NAME
  put sdk/include/titan/abi/x.h "$1"
  expect_finds abi_prefix "x.h:1: public name without titan_ or TITAN_: $2"
}

case_abi_prefix() {
  put sdk/include/titan/abi/x.h '#define TITAN_A 1' 'extern "C" {' 'enum { TITAN_B = 1, TITAN_C };' \
    'typedef struct titan_s { int free; struct { int x; } inner; } titan_s;' 'typedef int (*titan_fn)(int value);' \
    'struct titan_t;' 'int titan_call(int value);' 'static inline int titan_f(int a) { return a; }' '}'
  expect_good abi_prefix
  expect_prefix_missing '#define VALUE 1' VALUE
  expect_prefix_missing 'enum { TITAN_A, OTHER = 3 };' OTHER
  expect_prefix_missing 'typedef struct titan_s { int a; } other_s;' other_s
  expect_prefix_missing 'struct other { int a; };' other
  expect_prefix_missing 'typedef void (*callback)(int titan_a);' callback
  expect_prefix_missing 'int call(int titan_a);' call
  expect_prefix_missing 'static inline int f(int titan_a) { return titan_a; }' f
  expect_prefix_missing 'typedef int number;' number
}

case_format() {
  mkdir -p "$T/copy/tools"
  cp "$repo/tools/check_format" "$T/copy/tools"
  cp "$repo/.clang-format" "$T/copy"
  echo 'int a = 1;' >"$T/copy/good.cpp"
  echo 'int  a=1;' >"$T/copy/bad.cpp"
  run "$T/copy/tools/check_format" good.cpp
  if [[ $rc == 77 ]]; then echo "skipped: no clang-format 14"; exit 0; fi
  expect_rc 0
  run "$T/copy/tools/check_format" bad.cpp
  expect_rc 1
  expect_says "bad.cpp:1:"
}

build="$T/build"

compile() { # FILE FLAG...: a shared library or program from stdin
  mkdir -p "$(dirname "$1")"
  "${CXX:-c++}" -x c++ - -o "$@" || fail "cannot compile $1"
}

plugin_source() { # TIER [MORE]
  cat <<S
#include "titan/abi/plugin.h"
TITAN_PLUGIN_NOTE($1);
extern "C" __attribute__((visibility("default"))) const titan_plugin_info* titan_plugin_query_v1(void) { return nullptr; }
${2:-}
S
}

compile_plugin() { # NAME TIER [MORE]
  plugin_source "$2" "${3:-}" |
    compile "$build/lib/titan/plugins/$1.so" -shared -fPIC -fvisibility=hidden -I"$repo/sdk/include"
}

set_up_build() {
  echo 'int main() {}' | compile "$build/bin/titan"
  echo 'extern "C" void titan_engine_query_v1() {}' | compile "$build/lib/libtitan_engine.so" -shared -fPIC
  compile_plugin stable TITAN_TIER_STABLE
}

check_symbols() { run "$repo/tools/check_symbols" "$build"; }

expect_symbols_found() {
  check_symbols
  expect_rc 1
  expect_says "$1"
  expect_says "1 findings"
}

readonly needs_torch='namespace at { void ones(); } extern "C" __attribute__((visibility("hidden"))) void f() { at::ones(); }'

case_symbols() {
  set_up_build
  compile_plugin torch_tier TITAN_TIER_TORCH "$needs_torch"
  check_symbols
  expect_rc 0
  expect_says "0 findings in 4 files"
}

case_symbols_of_a_plugin() {
  set_up_build
  compile_plugin stable TITAN_TIER_STABLE 'extern "C" __attribute__((visibility("default"))) void more() {}'
  expect_symbols_found "stable.so: must export titan_plugin_query_v1 alone, exports: more titan_plugin_query_v1"
}

case_symbols_of_the_engine() {
  set_up_build
  echo 'extern "C" void another() {}' | compile "$build/lib/libtitan_engine.so" -shared -fPIC
  expect_symbols_found "libtitan_engine.so: must export titan_engine_query_v1 alone, exports: another"
}

case_symbols_of_cuda() {
  set_up_build
  echo 'extern "C" void titan_cuda_query_v1() {}' | compile "$build/lib/libtitan_cuda.so" -shared -fPIC
  check_symbols
  expect_rc 0
  expect_says "0 findings in 4 files"
  echo 'extern "C" void another() {}' | compile "$build/lib/libtitan_cuda.so" -shared -fPIC
  expect_symbols_found "libtitan_cuda.so: must export titan_cuda_query_v1 alone, exports: another"
}

case_symbols_of_an_instruction_set() {
  set_up_build
  mkdir -p "$build/core/nn/kernels"
  echo 'inline int shared() { return 1; } int mine() { return shared(); }' |
    compile "$build/core/nn/kernels/level_avx2.cpp.o" -c -O0
  expect_symbols_found "level_avx2.cpp.o: compiled for one instruction set, and shares with all files: shared()"
}

case_symbols_linked_cuda() {
  set_up_build
  echo | compile "$T/libnccl.so.2" -shared -fPIC -Wl,-soname,libnccl.so.2
  echo 'extern "C" void titan_engine_query_v1() {}' |
    compile "$build/lib/libtitan_engine.so" -shared -fPIC -Wl,--no-as-needed "-Wl,$T/libnccl.so.2"
  expect_symbols_found "libtitan_engine.so: links CUDA, which is for libtitan_cuda.so alone: libnccl.so.2"
}

case_symbols_of_libtorch() {
  set_up_build
  compile_plugin stable TITAN_TIER_STABLE "$needs_torch"
  expect_symbols_found "stable.so: needs symbols of libtorch: U at::ones()"
}

case_symbols_linked_libtorch() {
  set_up_build
  echo | compile "$T/libtorch_cpu.so" -shared -fPIC -Wl,-soname,libtorch_cpu.so
  echo 'int main() {}' | compile "$build/bin/titan" -Wl,--no-as-needed "-Wl,$T/libtorch_cpu.so"
  expect_symbols_found "bin/titan: links libtorch: libtorch_cpu.so"
}

case_symbols_without_note() {
  set_up_build
  echo 'extern "C" void titan_plugin_query_v1() {}' | compile "$build/lib/titan/plugins/stable.so" -shared -fPIC
  expect_symbols_found "stable.so: has no ABI note that names its tier"
}

case_symbols_of_nothing() {
  check_symbols
  expect_rc 1
  expect_says "no build folder"
}

# A valgrind that writes what callgrind writes: $T/count instructions in a kernel of ours, some in libtorch, and calls.
set_up_valgrind() {
  build="$T/build"
  mkdir -p "$build/benchmarks/instructions"
  touch "$build/benchmarks/instructions/steps"
  echo "CMAKE_CXX_COMPILER:FILEPATH=$(command -v c++)" >"$build/CMakeCache.txt"
  write_script "$T/bin/setarch" <<<$'#!/bin/sh\nshift\nexec "$@"'
  write_script "$T/bin/valgrind" <<EOF
#!/bin/sh
out=\$(printf '%s\\n' "\$@" | sed -n 's/--callgrind-out-file=//p')
cat >"\$out.1" <<END
version: 1
events: Ir

ob=(1) $build/benchmarks/instructions/steps
fl=(1) kernel.cpp
fn=(1) titan::kernel(float*)
10 \$(cat "$T/count")
+2 40
cob=(2) /x/libtorch_cpu.so
cfn=(2) at::add
calls=\$(cat "$T/calls") 5
12 900000

fn=(3) titan::other()
7 500

ob=(2)
fn=(2)
5 900000
END
cp "\$out.1" "\$out.2"
EOF
  echo 9460 >"$T/count"
  echo 100 >"$T/calls"
}

check_instructions() {
  PATH="$T/bin:$PATH" run "$repo/tools/check_instructions" "$build" --figures="$T/figures.json" "$@"
}

case_instructions() {
  grep -qw avx2 /proc/cpuinfo && grep -qw bmi2 /proc/cpuinfo || exit 0
  set_up_valgrind
  check_instructions --update
  expect_rc 0
  check_instructions
  expect_rc 0
  expect_says "bf16: 10,000 instructions of titan, 10,000 written down: +0.00 %"
  expect_says "fp32: 100 calls into libtorch, 100 written down: +0.00 %"
  echo 9760 >"$T/count"
  check_instructions
  expect_rc 1
  expect_says "fp32: 10,300 instructions of titan, 10,000 written down: +3.00 %, more than 2 % apart"
  expect_says "9,500 ->        9,800  titan::kernel(float*)"
  expect_silent_about "titan::other"
  expect_says "--update"
  echo 9460 >"$T/count"
  echo 103 >"$T/calls"
  check_instructions
  expect_rc 1
  expect_says "103 calls into libtorch, 100 written down: +3.00 %, more than 2 % apart"
}

case_instructions_skipped() {
  set_up_valgrind
  check_instructions
  expect_rc 77
  expect_says "skipped: no figures are written down yet"
  echo '{}' >"$T/figures.json"
  rm "$build/benchmarks/instructions/steps"
  check_instructions
  expect_rc 77
  expect_says "skipped: the benchmark is not built"
}

set_up
run_case "$@"
