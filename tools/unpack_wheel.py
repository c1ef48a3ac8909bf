"""Unpacks the members of a wheel that match one of the patterns: unpack_wheel.py WHEEL FOLDER PATTERN..."""

import errno
import fnmatch
import sys
import zipfile

DISK_FULL = 71


def unpack(wheel, folder, patterns):
    with zipfile.ZipFile(wheel) as archive:
        chosen = [m for m in archive.infolist() if any(fnmatch.fnmatchcase(m.filename, p) for p in patterns)]
        if not chosen:
            sys.exit(f"no member of {wheel} matches {' '.join(patterns)}")
        total, done, shown = sum(m.file_size for m in chosen), 0, 0
        for member in chosen:
            archive.extract(member, folder)  # checks the CRC; keeps inside the folder
            done += member.file_size
            if done * 4 // max(total, 1) > shown and total > 100_000_000:
                shown = done * 4 // total
                print(f"[bootstrap] unpacked {shown * 25} %", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        unpack(sys.argv[1], sys.argv[2], sys.argv[3:])
    except (OSError, zipfile.BadZipFile) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(DISK_FULL if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) else 1)
