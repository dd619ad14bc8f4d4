"""The shared library, its errors, and the lifetime of what it makes.

C objects must go in a certain order: a rollout before its sim, a sim before its scene, everything
before its context. A Handle holds on to the handles it was made from, so that closing and garbage
collection may come in any order; the C object goes when nobody holds its handle any more.
"""

from __future__ import annotations

import ctypes
import logging
import operator
import os
import threading
import weakref
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _api

Array = NDArray[np.float64]
PathLike = Union[str, "os.PathLike[str]"]


def _waiting_is_chosen() -> bool:
    return not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}.isdisjoint(os.environ)


def _openmp_is_loaded() -> bool:
    """By somebody else, such as PyTorch: for a variable it is too late."""
    try:
        ctypes.CDLL("libgomp.so.1", mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def _shorten_waiting(library: ctypes.CDLL) -> None:
    """The same by a call: OpenMP hardly spins when it has more threads than the machine has processors.

    So it gets a team of threads that never do anything, for a thread that never ends.
    """
    ready, never = threading.Event(), threading.Event()

    def hold_a_team() -> None:
        nothing = ctypes.cast(library.pl_version, ctypes.c_void_p)
        library.GOMP_parallel(nothing, None, library.omp_get_num_procs(), 0)
        ready.set()
        never.wait()

    threading.Thread(target=hold_a_team, name="pliant-waiting", daemon=True).start()
    ready.wait()


@contextmanager
def _passive_waiting() -> Iterator[None]:
    """OpenMP's threads would spin while they wait, which costs small scenes and busy machines dearly.

    Its library reads the variable as it is loaded. A user's choice stands; other programs see no change.
    """
    chosen = _waiting_is_chosen()
    if not chosen:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        if not chosen:
            del os.environ["OMP_WAIT_POLICY"]


def _load() -> ctypes.CDLL:
    chosen = os.environ.get("PLIANT_LIBRARY")
    path = Path(chosen) if chosen else Path(__file__).with_name("libpliant.so")
    if not path.exists():
        raise ImportError(f"{path} is missing: install the package with `pip install .`, or let the "
                          "environment variable PLIANT_LIBRARY name the library")
    try:
        late = _openmp_is_loaded() and not _waiting_is_chosen()
        with _passive_waiting():
            library = _api.declare(ctypes.CDLL(str(path)))
        if late and hasattr(library, "GOMP_parallel"):
            _shorten_waiting(library)
    except (OSError, AttributeError) as error:  # not a library, one it needs is missing, or another version
        raise ImportError(f"{path} cannot be used: {error}. `pip install .` builds it anew and names the "
                          "packages it needs") from error
    ours = f"{_api.PL_VERSION_MAJOR}.{_api.PL_VERSION_MINOR}.{_api.PL_VERSION_PATCH}"
    theirs = library.pl_version().decode()
    if theirs != ours:
        raise ImportError(f"{path} has version {theirs}, this package expects {ours}")
    return library


lib = _load()
version: str = lib.pl_version().decode()

# ------------------------------------------------------------------------------- errors


class Error(Exception):
    """What the library says is wrong. Every error has a subclass, which is a built-in one too."""


class ArgumentError(Error, ValueError):
    """A value is impossible; the message names it."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class ParseError(Error, ValueError):
    """A file's content is not what its format says; the message has file and line."""


class MeshError(Error, ValueError):
    """A mesh has inverted, degenerate, duplicate or unreferenced pieces."""


class ConvergenceError(Error, ArithmeticError):
    """A step or an adjoint solve did not reach its tolerance."""


class NumericError(Error, ArithmeticError):
    """A number overflowed or a matrix could not be factorised."""


class StoppedError(Error):
    """A callback returned False."""


class ClosedError(Error, ValueError):
    """The object was closed."""


ERRORS: dict[int, type[Error]] = {
    _api.PL_ERROR_ARGUMENT: ArgumentError,
    _api.PL_ERROR_MEMORY: OutOfMemoryError,
    _api.PL_ERROR_FILE: FileError,
    _api.PL_ERROR_PARSE: ParseError,
    _api.PL_ERROR_MESH: MeshError,
    _api.PL_ERROR_CONVERGENCE: ConvergenceError,
    _api.PL_ERROR_NUMERIC: NumericError,
    _api.PL_ERROR_INTERRUPTED: StoppedError,
}

# ------------------------------------------------------------------------------- lifetime


_cores: weakref.WeakSet[Core] = weakref.WeakSet()


class Core:
    """One context: its lock, and the C objects waiting to be destroyed.

    `with core:` is one thread's turn; calls release the GIL, so the lock is what keeps threads apart.
    Garbage collection may strike anywhere, also inside such a turn: destruction then waits for its end.

    lost: another thread's turn was on when the process forked. Here, in the child, that thread is gone and
    what it worked on is half done.
    """

    def __init__(self) -> None:
        self.lost = False
        self._lock = threading.RLock()
        self._depth = 0
        self._trash: deque[Handle] = deque()
        self.pointer: Any = None
        _cores.add(self)

    def __enter__(self) -> Core:
        if self.lost:
            raise ClosedError("another thread used this context when the process forked: use a context (and "
                              "scenes) of its own in the child, or start it by the method \"spawn\"")
        self._lock.acquire()
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        self._lock.release()
        if self._trash:
            self._sweep()

    @property
    def busy(self) -> bool:
        """Whether this turn is inside another one of the same thread: in a callback."""
        return self._depth > 1

    def discard(self, handle: Handle) -> None:
        self._trash.append(handle)
        self._sweep()

    def _sweep(self) -> None:
        # Whoever holds the lock sweeps after its release, so giving up here loses nothing.
        while self._trash and not self.lost and self._lock.acquire(blocking=False):
            try:
                if self._depth:
                    return
                while self._trash:
                    self._trash.popleft().destroy()
            finally:
                self._lock.release()

    def after_fork(self) -> None:
        """In the child: whether the forking thread, the only one left, may use it."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self.lost = True

    def check(self, status: int) -> None:
        """Raises the library's message unless the status is PL_OK."""
        if status != _api.PL_OK:
            text = lib.pl_context_error(self.pointer).decode("utf-8", "replace")
            raise ERRORS.get(status, Error)(text)


class Handle:
    """A C object, what destroys it, and who holds it. List operations are atomic: no lock is needed."""

    __slots__ = ("core", "pointer", "_destroy", "_parents", "_holders", "_once")

    def __init__(self, core: Core, pointer: Any, destroy: Callable[[Any], None],
                 parents: Sequence[Handle] = ()) -> None:
        self.core, self.pointer, self._destroy, self._parents = core, pointer, destroy, parents
        self._holders: list[None] = []
        self._once = [None]
        for parent in parents:
            parent.hold()

    def hold(self) -> None:
        self._holders.append(None)

    def drop(self) -> None:
        self._holders.pop()
        if not self._holders:
            try:
                self._once.pop()
            except IndexError:
                return
            self.core.discard(self)

    def destroy(self) -> None:
        self._destroy(self.pointer)
        for parent in self._parents:
            parent.drop()


class Owner:
    """Base of the classes that own a C object: `close()`, `with`, and safe garbage collection."""

    _what = "object"

    def _own(self, handle: Handle) -> None:
        handle.hold()
        self._handle = handle
        self._core = handle.core
        self._finalizer = weakref.finalize(self, handle.drop)

    def close(self) -> None:
        """Gives the memory back as soon as nothing else needs it. Later use raises ClosedError."""
        finalizer = getattr(self, "_finalizer", None)
        if finalizer is not None:
            finalizer()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._finalizer.alive

    @property
    def _pointer(self) -> Any:
        if not self._finalizer.alive:
            raise ClosedError(f"the {self._what} is closed")
        return self._handle.pointer

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {self._what} cannot be copied or pickled")


# ------------------------------------------------------------------------------- arrays


class _Memory:
    """Memory of a C object as NumPy sees it; an array made of it keeps the object alive."""

    __array_interface__: dict[str, Any]


def view(handle: Handle, pointer: Any, shape: tuple[int, ...], dtype: Any = np.float64,
         writeable: bool = True) -> NDArray[Any]:
    """An array over C memory, without a copy, that holds the handle as long as it lives."""
    if 0 in shape or not pointer:
        return np.empty(shape, dtype)
    memory = _Memory()
    memory.__array_interface__ = {
        "version": 3, "shape": shape, "typestr": np.dtype(dtype).str,
        "data": (ctypes.cast(pointer, ctypes.c_void_p).value, not writeable),
    }
    handle.hold()
    # Not at exit: arrays may outlive the interpreter's last orderly moment.
    weakref.finalize(memory, handle.drop).atexit = False
    return np.asarray(memory)


def fits(shape: Sequence[int], into: Sequence[int]) -> bool:
    """Whether an array of a shape can be broadcast into another; unlike NumPy, not into nothing."""
    missing = len(into) - len(shape)
    return (missing >= 0 and all(m in (1, n) for m, n in zip(shape, into[missing:]))
            and (0 not in into or 0 in shape))


def array_of(value: ArrayLike, name: str) -> NDArray[Any]:
    """value as an array, if its rows are of one length."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: expected rows of one length") from None


def doubles(value: ArrayLike, shape: Sequence[int], name: str) -> Array:
    """value as float64 of this shape: the same memory if it fits already, broadcast if it can be."""
    array = array_of(value, name)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected real numbers, got {array.dtype}")
    shape = tuple(shape)
    if array.shape != shape:
        if not fits(array.shape, shape):
            raise ValueError(f"{name}: expected shape {list(shape)}, got {list(array.shape)}")
        array = np.broadcast_to(array, shape)
    return np.asarray(array, np.float64, order="C")


def real(value: Any, name: str) -> float:
    """value as one number."""
    if isinstance(value, int):  # of any size
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{name}: too large a number") from None
    return float(doubles(value, (), name))


def integer(value: Any, name: str, kind: Any = ctypes.c_int) -> int:
    """value as an integer of a C type."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if kind(number).value != number:
        raise ValueError(f"{name}: {number} is out of range")
    return number


def instance(value: Any, kind: type, name: str) -> Any:
    """value, if it is of this class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected a {kind.__name__}, got {type(value).__name__}")
    return value


def function_or_none(value: Any, name: str) -> Any:
    """value, if it can be called, or None."""
    if value is not None and not callable(value):
        raise TypeError(f"{name}: expected a function, got {type(value).__name__}")
    return value


def rows(value: ArrayLike, width: int, name: str) -> Array:
    """value as float64 [any, width]."""
    array = array_of(value, name)
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{name}: expected shape [any, {width}], got {list(array.shape)}")
    return doubles(array, array.shape, name)


def integers(value: ArrayLike, shape: Sequence[int], name: str) -> NDArray[np.intc]:
    """value as C ints; -1 in the shape stands for any length."""
    array = array_of(value, name)
    if array.size == 0:
        array = array.astype(np.intc).reshape([max(n, 0) for n in shape])
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integers, got {array.dtype}")
    if array.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, array.shape)):
        text = ", ".join("any" if n == -1 else str(n) for n in shape)
        raise ValueError(f"{name}: expected shape [{text}], got {list(array.shape)}")
    limit = np.iinfo(np.intc)
    if array.size and (array.min() < limit.min or array.max() > limit.max):
        raise ValueError(f"{name}: a value does not fit in a C int")
    return np.ascontiguousarray(array, np.intc)


_DOUBLE_P, _INT_P = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int)


def double_p(array: Optional[Array]) -> Any:
    return None if array is None else ctypes.cast(array.ctypes.data, _DOUBLE_P)


def int_p(array: Optional[NDArray[np.intc]]) -> Any:
    return None if array is None else ctypes.cast(array.ctypes.data, _INT_P)


def text(value: Union[str, PathLike, None], name: str) -> Optional[bytes]:
    """value as UTF-8 (file names as the system encodes them)."""
    if value is None:
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: expected text, got {type(value).__name__}")
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError(f"{name}: contains a zero byte")
    return encoded


def choice(value: str, prefix: str, names: Sequence[str], name: str) -> int:
    """The enumerator of a word: choice("arap", "PL_", MODELS, "model") is PL_ARAP."""
    if value not in names:
        raise ValueError(f"{name}: expected one of {', '.join(names)}, got {value!r}")
    return getattr(_api, prefix + value.upper())


def vector(value: ArrayLike, length: int, name: str) -> Any:
    """value as a C array of doubles, for a struct's field."""
    return (ctypes.c_double * length)(*doubles(value, (length,), name))


Words = Mapping[str, tuple[str, Sequence[str]]]  # field: prefix of its enumerators, their words


def fill(definition: Any, words: Words, **given: Any) -> None:
    """Sets fields of a definition; those that are None keep the library's default."""
    kinds = dict(definition._fields_)
    for name, value in given.items():
        if value is None:
            continue
        kind = kinds[name]
        if name in words:
            value = choice(value, *words[name], name)
        elif kind is ctypes.c_double:
            value = real(value, name)
        elif kind is ctypes.c_char_p:
            value = text(value, name)
        elif kind in (ctypes.c_int, ctypes.c_uint, ctypes.c_size_t):
            value = integer(value, name, kind)
        elif issubclass(kind, ctypes.Array):
            value = vector(value, getattr(kind, "_length_"), name)
        setattr(definition, name, value)


# ------------------------------------------------------------------------------- context

LogFunction = Callable[[str, str], None]
LOG_LEVELS = ("error", "warning", "info", "debug")


class Context(Owner):
    """Threads and log of everything made with it. Most programs need none: there is a default one.

    Calls on one context wait for each other; threads that step at the same time need one each.

    threads: worker threads, 0 = one per core; results do not depend on it.
    log: called as log(level, text) with "error", "warning", "info" or "debug".
    log_level: messages beyond this level are not made.
    """

    _what = "context"

    def __init__(self, threads: int = 0, log: Optional[LogFunction] = None, log_level: str = "warning"):
        definition = lib.pl_context_def_default()
        definition.threads = integer(threads, "threads")
        function_or_none(log, "log")
        definition.log_level = choice(log_level, "PL_LOG_", LOG_LEVELS, "log_level")

        def forward(_: object, level: int, message: bytes) -> None:
            log(LOG_LEVELS[level], message.decode("utf-8", "replace"))  # type: ignore[misc]

        callback = _api.pl_log_fn(forward) if log is not None else _api.pl_log_fn()
        definition.log = callback
        core, pointer = Core(), ctypes.POINTER(_api.pl_context)()
        status = lib.pl_context_create(definition, pointer)
        if status != _api.PL_OK:
            raise ERRORS[status](f"threads = {threads}: {lib.pl_status_name(status).decode()}")
        core.pointer = pointer

        def destroy(context: Any, keep: Any = callback) -> None:
            lib.pl_context_destroy(context)

        self._own(Handle(core, pointer, destroy))

    @property
    def threads(self) -> int:
        """Worker threads in use."""
        with self._core:
            return lib.pl_context_threads(self._pointer)

    def _make(self, pointer: Any, destroy: Callable[[Any], None], *parents: Handle) -> Handle:
        return Handle(self._core, pointer, destroy, (self._handle, *parents))


def _tell(level: str, message: str) -> None:
    logging.getLogger("pliant").log(getattr(logging, level.upper()), message)


_default: Optional[Context] = None
_default_lock = threading.Lock()


def default_context() -> Context:
    """The context of everything made without one. It is made at first use, with a thread per core, and its
    warnings go to the logger "pliant" of Python's logging."""
    global _default
    with _default_lock:
        if _default is None or _default.closed or _default._core.lost:
            _default = Context(log=_tell)
        return _default


def _after_fork() -> None:
    global _default_lock
    _default_lock = threading.Lock()
    for core in _cores:
        core.after_fork()


os.register_at_fork(after_in_child=_after_fork)
