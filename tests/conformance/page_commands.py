#!/usr/bin/env python3
"""Runs the commands of a page of the documentation as a reader would, and checks what the page says of them.

A command is a block of code after a comment that says what is to come of it:

    <!-- run NAME exit=80 says="first non-finite" with="--optimizer.lr 1e30" needs=OTHER before="..." input="quit\\n" -->
    ```sh
    titan --module llama3 --config llama3_debugmodel --debug.detect_anomaly
    ```

exit (0 if left out) and says (a regular expression; several may be given) are what is checked; `with` are options that
break the reader's run or make it small, `before` is a command that runs first, `needs` names commands that run first in
the same folder, and `input` is what is typed. llama3_debugmodel is made small for every command.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

COMMAND = re.compile(r"<!-- run (\w+)(.*?)-->\s*\n```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMIT_SECONDS = 150
SMALL = (
    "--training.max_context_length 128 --training.num_tokens_per_microbatch_per_dp_rank 128 --training.steps 4"
    " --training.num_threads 1 --model.n_layers 2 --metrics.log_freq 1"
)

# Puts the options that make a run small after the name of its configuration: what the page says comes later and wins.
WRAPPER = """#!/usr/bin/env bash
words=()
for word in "$@"; do
  words+=("$word")
  if [[ "$before" == --config && "$word" =~ ^llama3_(debugmodel|parity)$ ]]; then words+=($TITAN_PAGE_SMALL $TITAN_PAGE_WITH); fi
  before="$word"
done
exec "$TITAN_PAGE_PROGRAM" "${words[@]}"
"""


# What a command's `before` and `after` may use.
HELPERS = r"""
trains() { [[ -s outputs/metrics.jsonl ]]; }
await_training() { for ((i = 0; i < 600; i++)); do trains && return; sleep 0.1; done; echo "no step in time"; exit 1; }
# The process of a rank of this folder's run.
rank_process() {
  local entry
  for entry in /proc/[0-9]*; do
    [[ "$(readlink "$entry/cwd")" == "$PWD" ]] || continue
    { tr '\0' '\n' < "$entry/environ" | grep -qx "RANK=$1"; } 2> /dev/null && echo "${entry#/proc/}"
  done
}
stop_rank() { await_training && kill -STOP $(rank_process "$1"); }
# A run of so many ranks behind the command, whose launcher is $LAUNCHER.
start_run() {
  titan launch --nproc-per-node "$1" -- --module llama3 --config llama3_debugmodel --training.steps 100000 &
  LAUNCHER=$!
  await_training
}
end_run() { sleep 3; kill -TERM "$LAUNCHER"; wait "$LAUNCHER"; [[ $? == 143 ]]; }
# Changes a byte in the middle of the largest file.
damage_checkpoint() {
  local file size
  file=$(find "$1" -type f -printf '%s %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
  size=$(stat -c %s "$file")
  printf '\xff' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
}
"""


class Command:
    def __init__(self, name, facts, text):
        self.name, self.text = name, text
        self.exit, self.says, self.needs = 0, [], []
        self.options, self.before, self.after, self.input = "", "", "", None
        for word in shlex.split(facts):
            key, _, value = word.partition("=")
            if key == "exit":
                self.exit = int(value)
            elif key == "says":
                self.says.append(value)
            elif key == "needs":
                self.needs += value.split(",")
            elif key == "with":
                self.options = value
            elif key == "before":
                self.before = value
            elif key == "after":
                self.after = value
            elif key == "input":
                self.input = value.replace("\\n", "\n")
            else:
                sys.exit(f"unknown fact of command {name}: {word}")


def commands_of(page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    found = {match[0]: Command(*match) for match in COMMAND.findall(text)}
    blocks = len(re.findall(r"^```(?:sh|console)$", text, re.MULTILINE))
    if blocks != len(found):
        sys.exit(f"{page}: {blocks} blocks of commands, of which {len(found)} say what is to come of them")
    return found


def environment(folder, options):
    small = f"{SMALL} --hf_assets_path {options.source}/tests/assets/tokenizer"
    small += f" --dataloader.dataset_path {options.source}/tests/assets/corpus"
    made = {key: value for key, value in os.environ.items() if not key.startswith("TITAN_")}
    made.update(
        PATH=f"{folder}/bin:{made['PATH']}",
        TITAN_PAGE_SMALL=small,
        TITAN_PAGE_PROGRAM=os.path.abspath(options.titan),
        PAGE_SOURCE=os.path.abspath(options.source),
    )
    return made


def execute(command, folder, env):
    env = dict(env, TITAN_PAGE_WITH=command.options)
    script = f"{HELPERS}\n{command.before}\n{command.text}\n{command.after}"
    process = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=env,
        input=command.input,
        stdin=subprocess.DEVNULL if command.input is None else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=LIMIT_SECONDS,
        check=False,
    )
    print(f"$ {command.text.strip()}\n{process.stdout}[exit {process.returncode}]\n")
    if process.returncode != command.exit:
        sys.exit(f"{command.name}: the page says exit code {command.exit}, it was {process.returncode}")
    for text in command.says:
        if not re.search(text, process.stdout):
            sys.exit(f"{command.name}: the page promises output like: {text}")


def run(name, commands, folder, env, done):
    if name in done:
        return
    done.add(name)
    for needed in commands[name].needs:
        run(needed, commands, folder, env, done)
    execute(commands[name], folder, env)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("names", nargs="*", help="commands to run; all, one folder each, where none is named")
    parser.add_argument("--titan", required=True)
    parser.add_argument("--source", required=True)
    options = parser.parse_args()
    commands = commands_of(options.page)
    for name in options.names or commands:
        with tempfile.TemporaryDirectory(prefix="titan_page_") as folder:
            os.mkdir(f"{folder}/bin")
            with open(f"{folder}/bin/titan", "w", encoding="utf-8") as wrapper:
                wrapper.write(WRAPPER)
            os.chmod(f"{folder}/bin/titan", 0o755)
            run(name, commands, folder, environment(folder, options), set())


if __name__ == "__main__":
    main()
