"""What PyTorch's own readers make of a memory snapshot: memory_viz_peer.py FILE."""

import copy
import pickle
import pickletools
import sys

from torch.cuda import _memory_viz as viz

# What MemoryViz.js, the viewer in the browser, can read.
OPCODES = set(
    "PROTO APPEND APPENDS LIST TUPLE NEWFALSE NEWTRUE NONE BINGET BININT BININT1 BININT2 EMPTY_DICT EMPTY_LIST FRAME "
    "LONG1 LONG_BINGET MARK MEMOIZE BINPUT LONG_BINPUT SETITEMS SETITEM DICT SHORT_BINUNICODE BINUNICODE STOP "
    "EMPTY_TUPLE TUPLE1 TUPLE2 TUPLE3 BINFLOAT".split()
)


def as_text(lines, *_):
    return lines


def main(path):
    raw = open(path, "rb").read()
    unknown = {op.name for op, _, _ in pickletools.genops(raw)} - OPCODES
    assert not unknown, f"opcodes that the viewer does not know: {unknown}"
    data = pickle.loads(raw)
    read = {
        "segsum": lambda d: viz.segsum(d),
        "trace": lambda d: viz.trace(d),
        "segments": lambda d: viz.segments(d, format_flamegraph=as_text),
        "memory": lambda d: viz.memory(d, format_flamegraph=as_text),
        "trace_plot": lambda d: viz.trace_plot(d),
        "segment_plot": lambda d: viz.segment_plot(d),
    }
    for name, reader in read.items():
        text = reader(copy.deepcopy(data))
        assert text, f"{name} gave nothing"
        print(name, len(text))
    sites = {event["frames"][0]["filename"] for event in data["device_traces"][0]}
    print("modules", "layers.0.attention.wq" in sites)


main(sys.argv[1])
