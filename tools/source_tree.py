"""What the checkers share: the files of a tree, C++ text without comments and literals, and the way findings are told."""

import os
import re
import subprocess
import sys

SKIPPED_FOLDERS = {".git", ".deps", "build", "outputs"}


def files(root, suffixes):
    """Paths below root, relative to it, sorted: the tracked files, or all of them where root is not a checkout."""
    git = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "."]
    listed = subprocess.run(git, capture_output=True, check=False) if os.path.exists(os.path.join(root, ".git")) else None
    if listed and listed.returncode == 0:
        paths = listed.stdout.decode().split("\0")
    else:
        paths = []
        for folder, folders, names in os.walk(root):
            folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS]
            paths += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(p for p in set(paths) if p.endswith(suffixes) and os.path.isfile(os.path.join(root, p)))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


_IGNORED = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      |(?P<raw>R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)")
      |(?P<string>"(?:\\.|[^"\\\n])*")
      |(?P<char>(?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)


def blank(text, keep_strings=False):
    """The text with comments, strings and characters blanked out; lines keep their numbers."""

    def replace(match):
        found = match.group(0)
        if match.group("comment"):
            return "\n" * found.count("\n") or " "
        if keep_strings:
            return found
        return '""' + "\n" * found.count("\n") if match.group("raw") or match.group("string") else "' '"

    return _IGNORED.sub(replace, text)


def root_argument(usage):
    """The tree to check: the first argument, or this checkout."""
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
        sys.exit(f"usage: {usage}")
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    root = os.path.abspath(sys.argv[1] if len(sys.argv) == 2 else default)
    if not os.path.isdir(root):
        sys.exit(f"no such folder: {root}")
    return root


def report(name, findings, checked):
    """Prints the findings and exits: 0 without any, else 1. Nothing checked is a finding too."""
    if not checked:
        findings = [*findings, "found nothing to check"]
    for finding in findings:
        print(f"{name}: {finding}")
    print(f"{name}: {len(findings)} findings in {checked} files")
    sys.exit(1 if findings else 0)
