"""PyTorch's side of dcp_test: `read FOLDER` prints what a DCP checkpoint holds, `write FOLDER` makes one and prints it.

A line has the name, dtype, shape and bytes of a tensor, or the name and value of a counter.
"""

import sys
import tempfile

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save
from torch.distributed.checkpoint.metadata import TensorStorageMetadata

DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


def shown(value):
    if not isinstance(value, torch.Tensor):
        return str(value)
    shape = ",".join(str(size) for size in value.shape) or "-"
    elements = bytes(value.clone().untyped_storage()).hex() or "-"
    return f"{str(value.dtype).removeprefix('torch.')} {shape} {elements}"


def flatten(state, prefix=""):
    for name, value in state.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def read(folder):
    """Loads in both ways: into tensors of the caller's, and whole."""
    items = dcp.FileSystemReader(folder).read_metadata().state_dict_metadata
    state = {"optimizer": {}, "train_state": {}, "lr_scheduler": {}}
    for name, item in items.items():
        is_tensor = isinstance(item, TensorStorageMetadata)
        value = torch.empty(item.size, dtype=item.properties.dtype) if is_tensor else 0
        top, _, rest = name.partition(".")
        if top in state:
            state[top][rest] = value
        else:
            state[name] = value
    dcp.load(state, checkpoint_id=folder)
    with tempfile.NamedTemporaryFile() as whole:
        dcp_to_torch_save(folder, whole.name)
        converted = dict(flatten(torch.load(whole.name, weights_only=True)))
    for name, value in flatten(state):
        if shown(converted[name]) != shown(value):
            sys.exit(f"dcp.load() and dcp_to_torch_save() differ: {name}")
        print(name, shown(value))


def write(folder):
    torch.manual_seed(5)
    state = {"optimizer": {"state.w.step": torch.tensor(7.0)}, "train_state": {"step": 7, "ntokens_seen": 1 << 40}}
    state["lr_scheduler"] = {"last_epoch": 8, "_last_lr": [0.5]}
    state["dataloader"] = {"dp_rank_0": b"\xff\x00"}
    for dtype in DTYPES:
        state[f"layers.{dtype}.w"] = torch.randint(-9, 9, (5, 3)).to(getattr(torch, dtype))
    state["a part of a storage"] = torch.arange(12.0).reshape(4, 3)[1:3]
    dcp.save(state, checkpoint_id=folder)
    for name, value in flatten(state):
        print(name, shown(value))


if __name__ == "__main__":
    {"read": read, "write": write}[sys.argv[1]](sys.argv[2])
