"""Arrays and other objects that can share memory: a view is reduced to what it is a view of, so that it stays one.

Where that cannot be done each gets a copy. Every piece of memory that is copied is noted, so that objects which had
memory in common, and have not any more, can be named.
"""

from __future__ import annotations

import ctypes
import pickle
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .by_value_pickler import Aside

_HELD_BY_ONE = 2  # What `sys.getrefcount(holder.attribute)` says: the holder and the argument.


class Memory:
    """A piece of memory that was copied, and the object whose it is."""

    def __init__(self, holder: Any, start: int, end: int, *, written: bool) -> None:
        """`written`: whether the holder can write to it."""
        self.holder = holder
        self.start, self.end = start, end
        self.written = written

    def was_shared_with(self, other: Memory) -> bool:
        """Whether writing through one was to be seen through the other."""
        if self.holder is other.holder or not (self.written or other.written):
            return False
        return self.start < other.end and other.start < self.end


def torn(copied: Iterable[tuple[Memory, tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """Which variables had memory in common that each has a copy of now."""
    found: list[tuple[str, ...]] = []
    open_ones: list[tuple[Memory, tuple[str, ...]]] = []
    for memory, names in sorted(copied, key=lambda one: one[0].start):
        open_ones = [one for one in open_ones if one[0].end > memory.start]
        for other, others in open_ones:
            together = tuple(dict.fromkeys((*others, *names)))
            if memory.was_shared_with(other) and together not in found:
                found.append(together)
        open_ones.append((memory, names))
    return found


def reducer_for(kind: type) -> Callable[[Any, Aside], Any] | None:
    """What reduces the instances of a class that can share memory; None for all others."""
    if kind.__module__ == "pandas.core.internals.blocks" and hasattr(kind, "refs"):
        return _reduce_block
    for module, name, reducer in _BY_BASE:
        known = getattr(sys.modules.get(module), name, None)
        if known is not None and issubclass(kind, known):
            return reducer
    return None


def _reduce_c_object(value: Any, aside: Aside) -> Any:
    if getattr(value, "_b_base_", None) is not None or getattr(value, "_objects", None) is not None:
        raise pickle.PicklingError("its memory belongs to another object")
    return NotImplemented


# --- numpy ---


def _reduce_array(array: Any, aside: Aside) -> Any:
    numpy: Any = sys.modules["numpy"]
    kind = type(array)
    if kind is numpy.memmap and array.filename is not None:
        return _reduce_mapped_file(array, numpy)
    methods = ("__reduce__", "__reduce_ex__", "__setstate__")
    usual = all(getattr(kind, name) is getattr(numpy.ndarray, name) for name in methods)
    owner = _shared_owner(array, numpy)
    start = _start_of(owner, numpy)
    if usual and start is not None:
        place = (array.dtype, array.shape, array.strides, _address(array, numpy) - start)
        state = (None, vars(array) if hasattr(array, "__dict__") else None, array.flags.writeable)
        return _make_view, (kind, owner, *place), state, None, None, _fill_array
    aside.copied(Memory(array, *_bounds(array, numpy), written=array.flags.writeable))
    if not usual:
        return NotImplemented
    own = vars(array) if hasattr(array, "__dict__") else None
    function, arguments, *state = _reduce_plain(array, numpy) or array.__reduce_ex__(5)
    return function, arguments, (state[0] if state else None, own, array.flags.writeable), None, None, _fill_array


def _reduce_plain(array: Any, numpy: Any) -> Any:
    """An array whose memory can be written down as it is. Made again, it owns its memory, as it did."""
    if type(array) is not numpy.ndarray or not array.flags.forc or array.dtype.hasobject or not array.nbytes:
        return None
    order = "C" if array.flags.c_contiguous else "F"
    return _make_array, (array.dtype, array.shape, order, pickle.PickleBuffer(_as_bytes(array, numpy)))


def _make_array(dtype: Any, shape: Any, order: str, contents: Any) -> Any:
    import numpy

    made = numpy.empty(shape, dtype, order)
    _as_bytes(made, numpy)[:] = numpy.frombuffer(contents, numpy.uint8)
    return made


def _as_bytes(array: Any, numpy: Any) -> Any:
    flat = array.ravel("K")
    return numpy.ndarray(flat.nbytes, numpy.uint8, flat.view(numpy.uint8) if flat.nbytes else None)


def _fill_array(array: Any, state: tuple[Any, Any, bool]) -> None:
    rest, own, writeable = state
    if rest is not None:
        array.__setstate__(rest)
    if own:
        array.__dict__.update(own)
    if array.flags.writeable != writeable:
        array.flags.writeable = writeable


def _make_view(kind: Any, owner: Any, *place: Any) -> Any:
    import numpy

    dtype, shape, strides, offset = place

    if isinstance(owner, numpy.ndarray) and not owner.dtype.hasobject:
        owner = owner if type(owner) is numpy.ndarray and owner.dtype.kind not in "mM" else _as_bytes(owner, numpy)
    elif type(owner).__module__ == "torch.storage":
        owner = _bytes_of_storage(owner)
    return numpy.ndarray.__new__(kind, shape, dtype, owner, offset, strides)


def _shared_owner(array: Any, numpy: Any) -> Any:
    """What the memory of the array belongs to, if others can get at it too; None when it is the array's alone."""
    holder, attribute = array, "base"
    while getattr(holder, attribute, None) is not None:
        shared = sys.getrefcount(getattr(holder, attribute)) > _HELD_BY_ONE  # Nothing else here may hold it by now.
        holder = getattr(holder, attribute)
        if hasattr(type(holder), "untyped_storage"):  # A tensor's memory is a storage, which others may have too.
            return holder.untyped_storage() if holder.device.type == "cpu" else None
        attribute = "obj" if type(holder) is memoryview else "base"
        if shared and type(holder) is not memoryview and type(holder).__name__ != "DummyArray":
            return holder
    return None


def _start_of(owner: Any, numpy: Any) -> int | None:
    """The address of the memory of an owner that is in one piece."""
    if owner is None:
        return None
    if isinstance(owner, numpy.ndarray):
        return _address(owner, numpy) if owner.flags.forc else None
    if type(owner).__module__ == "torch.storage":
        return int(owner.data_ptr())
    try:
        return _address(numpy.frombuffer(owner, numpy.uint8), numpy)
    except (TypeError, ValueError):  # It gives no buffer, or an empty one.
        return None


def _address(array: Any, numpy: Any) -> int:
    return int(numpy.ndarray.__array_interface__.__get__(array)["data"][0])


def _bounds(array: Any, numpy: Any) -> tuple[int, int]:
    low = high = _address(array, numpy)
    if not array.size:
        return low, low
    for length, stride in zip(array.shape, array.strides):
        low += min(0, (length - 1) * stride)
        high += max(0, (length - 1) * stride)
    return low, high + array.dtype.itemsize


def _reduce_mapped_file(array: Any, numpy: Any) -> Any:
    if array.mode == "c" or not array.flags.forc or type(array.base).__name__ != "mmap":
        raise pickle.PicklingError("it is a part of a mapped file, or a changed copy of one")
    mode = "r" if array.mode == "r" else "r+"
    order = "C" if array.flags.c_contiguous else "F"
    return numpy.memmap, (array.filename, array.dtype, mode, array.offset, array.shape, order)


# --- pandas ---
# Frames, series and indexes that use the same memory copy it before one of them writes. What they know of each other is
# in an object that they share, and which no pickle tells of.


def _reduce_block(block: Any, aside: Aside) -> Any:
    return (*block.__reduce__(), block.refs, None, None, _join_block)


def _join_block(block: Any, sharers: Any) -> None:
    block.refs = sharers
    sharers.add_reference(block)


def _reduce_manager(manager: Any, aside: Aside) -> Any:
    """What a series consists of: it does not pickle its block."""
    if not hasattr(manager.blocks[0], "refs"):  # Before pandas 2.
        return NotImplemented
    reduced = manager.__reduce_ex__(5)
    state = reduced[2] if len(reduced) > 2 else None
    return (*reduced[:2], (state, manager.blocks[0].refs), None, None, _fill_manager)


def _fill_manager(manager: Any, state: tuple[Any, Any]) -> None:
    if state[0] is not None:
        manager.__setstate__(state[0])
    _join_block(manager.blocks[0], state[1])


def _reduce_index(index: Any, aside: Aside) -> Any:
    sharers = vars(index).get("_references")
    reduced = index.__reduce_ex__(5)
    if sharers is None or (len(reduced) > 2 and reduced[2] is not None):
        return reduced
    return (*reduced[:2], sharers, None, None, _join_index)


def _join_index(index: Any, sharers: Any) -> None:
    index._references = sharers
    sharers.add_index_reference(index)


def _reduce_sharers(sharers: Any, aside: Aside) -> Any:
    return type(sharers), ()


def _note_buffer(buffer: Any, aside: Aside) -> Any:
    """The memory of an arrow array, which cannot be written to by it, but by a numpy array whose it is."""
    aside.copied(Memory(buffer, buffer.address, buffer.address + buffer.size, written=False))
    return NotImplemented


# --- torch ---


def _reduce_tensor(tensor: Any, aside: Aside) -> Any:
    reduced = tensor.__reduce_ex__(5)
    if tensor.grad_fn is not None:
        aside.lost("how it was computed, which a gradient needs")
    if tensor.grad_fn is not None or tensor.grad is None or len(reduced) != 2:
        return reduced
    return (*reduced, {"grad": tensor.grad}, None, None, _fill_tensor)


def _fill_tensor(tensor: Any, state: dict[str, Any]) -> None:
    tensor.grad = state["grad"]


def _reduce_typed_storage(storage: Any, aside: Aside) -> Any:
    return _make_typed_storage, (storage._untyped_storage, storage.dtype)


def _make_typed_storage(storage: Any, dtype: Any) -> Any:
    import torch  # type: ignore[import-not-found,unused-ignore]

    return torch.storage.TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def _reduce_storage(storage: Any, aside: Aside) -> Any:
    if storage.device.type != "cpu":
        return NotImplemented
    address, size = storage.data_ptr(), storage.nbytes()
    aside.copied(Memory(storage, address, address + size, written=True))
    contents = (ctypes.c_char * size).from_address(address) if size else b""
    return _make_storage, (pickle.PickleBuffer(contents),)


def _make_storage(contents: Any) -> Any:
    import torch

    if not contents:
        return torch.UntypedStorage(0)
    return torch.frombuffer(contents, dtype=torch.uint8).clone().untyped_storage()


def _bytes_of_storage(storage: Any) -> Any:
    import torch

    return torch.empty(0, dtype=torch.uint8).set_(storage).numpy()


_BY_BASE: list[tuple[str, str, Callable[[Any, Aside], Any]]] = [
    ("numpy", "ndarray", _reduce_array),
    ("pandas._libs.internals", "BlockValuesRefs", _reduce_sharers),
    ("pandas.core.internals.managers", "SingleBlockManager", _reduce_manager),
    ("pandas", "Index", _reduce_index),
    ("pyarrow", "Buffer", _note_buffer),
    ("torch", "Tensor", _reduce_tensor),
    ("torch.storage", "TypedStorage", _reduce_typed_storage),
    ("torch", "UntypedStorage", _reduce_storage),
    ("_ctypes", "_SimpleCData", _reduce_c_object),
    ("_ctypes", "Structure", _reduce_c_object),
    ("_ctypes", "Union", _reduce_c_object),
    ("_ctypes", "Array", _reduce_c_object),
]
