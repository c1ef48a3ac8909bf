#!/usr/bin/env bash
# Cases of run_train.sh, with a build and a host binary that only tell how they were called.
. "$(dirname "${BASH_SOURCE[0]}")/harness.sh"

set_up() {
  mkdir -p "$T/tree" "$T/elsewhere"
  cp "$repo/run_train.sh" "$T/tree"
  write_script "$T/tree/tools/build.sh" <<<$'#!/bin/sh\necho "build: $*"\nexit "${BUILD_RC:-0}"'
  write_script "$T/tree/build/release/bin/titan" <<<$'#!/bin/sh\necho "titan in $(pwd -P), LOG_RANK=$LOG_RANK:"; echo "rank $RANK of $WORLD_SIZE"; printf "<%s>" "$@"; exit "${TITAN_RC:-0}"'
  cd "$T/tree" || exit 1
}

expect_refused() {
  expect_rc 78
  expect_says "[run_train] $1"
  expect_silent_about "build:"
}

case_defaults() {
  run ./run_train.sh
  expect_rc 0
  expect_says "build: titan_runtime"
  expect_says "titan in $(pwd -P), LOG_RANK=:"
  expect_says "<train><--module><llama3><--config><llama3_debugmodel>"
}

case_passes_on() {
  MODULE=other CONFIG="my run.toml" NGPU=1 LOG_RANK=0 COMM_MODE="" run ./run_train.sh --training.steps 3 --note "a b" ""
  expect_rc 0
  expect_says "<train><--module><other><--config><my run.toml><--training.steps><3><--note><a b><>"
}

case_exit_code_of_titan() {
  TITAN_RC=80 run ./run_train.sh
  expect_rc 80
}

case_exit_code_of_the_build() {
  BUILD_RC=69 run ./run_train.sh
  expect_rc 69
  expect_silent_about "titan in"
}

case_runs_in_the_checkout() {
  local root
  root=$(pwd -P)
  cd "$T/elsewhere" || exit 1
  run ../tree/run_train.sh
  expect_rc 0
  expect_says "[run_train] running in $T/tree: relative paths start there"
  expect_says "titan in $root,"
}

case_more_ranks() {
  NGPU=4 LOG_RANK=0,3 MODULE=other CONFIG=small run ./run_train.sh --training.steps 3 --note "a b"
  expect_rc 0
  expect_says "LOG_RANK=0,3:"
  expect_says "<launch><--nproc-per-node><4><--role><rank><--tee><3><--><train><--module><other><--config><small><--training.steps><3><--note><a b>"
}

case_more_ranks_show_the_first() {
  NGPU=02 run ./run_train.sh
  expect_says "LOG_RANK=0:"
  expect_says "<--nproc-per-node><2>"
}

case_exit_code_of_more_ranks() {
  NGPU=2 TITAN_RC=69 run ./run_train.sh
  expect_rc 69
}

case_no_ranks() {
  NGPU=0 run ./run_train.sh
  expect_refused "NGPU must be at least 1: 0"
}

case_no_number_of_ranks() {
  local value
  for value in four 1.0 -1 "1 1" 0x1 99999999999999999999; do
    NGPU=$value run ./run_train.sh
    expect_refused "NGPU must be a number of ranks: $value"
  done
}

case_fake_backend() {
  NGPU=128 RANK=16 COMM_MODE=fake_backend run ./run_train.sh --training.steps 3
  expect_rc 0
  expect_says "rank 16 of 128"
  expect_says "<train><--module><llama3><--config><llama3_debugmodel><--training.steps><3><--comm.mode><fake_backend>"
}

case_fake_backend_shows_the_first() {
  NGPU=08 COMM_MODE=fake_backend run ./run_train.sh
  expect_says "rank 0 of 8"
}

case_fake_backend_of_a_rank_that_there_is_not() {
  local value
  for value in 8 x -1; do
    NGPU=8 RANK=$value COMM_MODE=fake_backend run ./run_train.sh
    expect_refused "RANK "
  done
}

case_unknown_comm_mode() {
  local value
  for value in local_tensor torchcomms default; do
    COMM_MODE=$value run ./run_train.sh
    expect_refused "COMM_MODE must be empty or fake_backend: $value"
  done
}

case_log_rank() {
  NGPU=4 LOG_RANK=4 run ./run_train.sh
  expect_refused "LOG_RANK names a rank that does not exist: 4, ranks 0 to 3"
  LOG_RANK=1 run ./run_train.sh
  expect_refused "LOG_RANK names a rank that does not exist: 1"
  LOG_RANK=0,x run ./run_train.sh
  expect_refused "LOG_RANK must be rank numbers separated by commas: 0,x"
}

set_up
run_case "$@"
