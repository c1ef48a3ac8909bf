#!/usr/bin/env bash
# Trains: fetches what is missing, builds, runs. ./run_train.sh [OPTION...], options as `titan --help` lists them.
#
# Environment (torchtitan's names)
#   NGPU       number of ranks (1); more than one: as `titan launch` runs them
#   MODULE     the model plugin (llama3)
#   CONFIG     one of its presets, or a .toml file (llama3_debugmodel)
#   LOG_RANK   ranks whose output is shown, separated by commas (0); files are written of all
#   COMM_MODE  empty, or fake_backend: no rank runs; one process rehearses the layout of NGPU ranks without data, needs
#              no GPU, and shows the view of one rank (docs/rehearsal.md)
#   RANK       with COMM_MODE=fake_backend: the rank whose view is shown (0)
#
# It runs in the checkout, wherever it is called from, as torchtitan's script does: relative paths in options and in
# configurations (./outputs, ./tests/assets/...) start there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly config_error=78

refuse() { printf '[run_train] %s\n' "$*" >&2; exit "$config_error"; }

ngpu="${NGPU:-1}" module="${MODULE:-llama3}" config="${CONFIG:-llama3_debugmodel}" log_rank="${LOG_RANK:-0}"

[[ $ngpu =~ ^[0-9]{1,6}$ ]] || refuse "NGPU must be a number of ranks: $ngpu"
((10#$ngpu >= 1)) || refuse "NGPU must be at least 1: $ngpu"
[[ $log_rank =~ ^[0-9]{1,6}(,[0-9]{1,6})*$ ]] || refuse "LOG_RANK must be rank numbers separated by commas: $log_rank"
for rank in ${log_rank//,/ }; do
  ((10#$rank < 10#$ngpu)) || refuse "LOG_RANK names a rank that does not exist: $rank, ranks 0 to $((10#$ngpu - 1))"
done
case "${COMM_MODE:-}" in
  "") ;;
  fake_backend)
    view="${RANK:-0}"
    [[ $view =~ ^[0-9]{1,6}$ ]] || refuse "RANK must be the number of a rank: $view"
    ((10#$view < 10#$ngpu)) || refuse "RANK names a rank that does not exist: $view, ranks 0 to $((10#$ngpu - 1))"
    ;;
  *) refuse "COMM_MODE must be empty or fake_backend: ${COMM_MODE}" ;;
esac

"$root/tools/build.sh" titan_runtime < /dev/null  # input is for a prompt
if [[ $(pwd -P) != "$(cd "$root" && pwd -P)" ]]; then
  printf '[run_train] running in %s: relative paths start there\n' "$root" >&2
fi
cd "$root"
titan="build/${TITAN_PRESET:-release}/bin/titan"
run=(train --module "$module" --config "$config" "$@")
if [[ -n ${COMM_MODE:-} ]]; then
  RANK=$((10#$view)) WORLD_SIZE=$((10#$ngpu)) exec "$titan" "${run[@]}" --comm.mode "$COMM_MODE"
fi
((10#$ngpu > 1)) || exec "$titan" "${run[@]}"
LOG_RANK=$log_rank exec "$titan" launch --nproc-per-node "$((10#$ngpu))" --role rank --tee 3 -- "${run[@]}"
