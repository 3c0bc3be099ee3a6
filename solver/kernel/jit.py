# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place where numba's flags and its cache folder are chosen.

`njit` compiles a kernel, `inner` a part of one. All release the GIL, so that Blender's window stays alive. `fastmath`
stays off (`fused` takes of it what keeps every number): it would blind the finite check and make results depend on the
compiler's mood.

A kernel makes no arrays but is given its scratch, so that references to arrays need not be counted: that costs two locked
instructions each time that an array in a tuple is handed on (a quarter of the guard against bodies), and two threads that
count the same arrays wait for each other each time. Kernels that do make some are `counted`.

Compiled code is kept on disk under `TAFFETA_CACHE_DIR` (Blender sets it to the extension's own folder) or the
user's cache folder. numba looks only at a function's own file, so a kernel that calls another file's function
would stay stale after an edit there: each module's folder is named by a hash of its source and of every solver
module that it imports, directly or not, and of the fields of all named tuples, which kernels are given by modules that
they need not import. Folders that no session has used for `KEPT_DAYS` are removed.
"""

import ast
import hashlib
import os
import pickle
import re
import shutil
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import numba
from numba.core.caching import IndexDataCacheFile

SOLVER = Path(__file__).parent.parent
KEPT_DAYS = 30  # without use, after which compiled kernels are removed
CHECKSUM_BYTES = 16  # in front of each file of compiled kernels


def cache_root() -> Path:
    """The folder that holds compiled kernels; it need not exist yet."""
    chosen = os.environ.get("TAFFETA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "taffeta"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "taffeta"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "taffeta"


def _imported(path: Path) -> list[Path]:
    """Solver files that `path` imports relatively, at its top level."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1]
            if node.module:
                base = base.joinpath(*node.module.split("."))
            for candidate in [base] + [base / name.name for name in node.names]:
                for file in (candidate.with_suffix(".py"), candidate / "__init__.py"):
                    if file.is_file() and SOLVER in file.parents:
                        found.append(file)
    return found


@cache
def _named_tuples() -> bytes:
    """Classes of the solver with their fields, in order."""
    pattern = re.compile(rb"^class \w+\(NamedTuple\)|^    \w+: [\w.\[\], |]*[\w\]]", re.MULTILINE)
    return b"\n".join(b"\n".join(pattern.findall(file.read_bytes())) for file in sorted(SOLVER.rglob("*.py")))


@cache
def source_key(path: Path) -> str:
    """Hash of a solver file, of all it imports, of the solver's named tuples, of numba's version, of the package's name, which numba writes into
    what it keeps and cannot load under another, and of its place, outside of which numba does not look: the name of the
    file's cache folder.
    """
    seen, waiting = set(), [path]
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting += _imported(file)
    digest = hashlib.sha256(f"{numba.__version__} {__package__} {SOLVER}".encode())
    for file in sorted(seen):
        digest.update(file.read_bytes())
    digest.update(_named_tuples())
    return digest.hexdigest()[:16]


@cache
def _folder(path: Path) -> str:
    """The cache folder of a solver file, marked as used now."""
    folder = cache_root() / source_key(path)
    with suppress(OSError):  # it need not exist yet, nor belong to this user
        os.utime(folder)
    return str(folder)


def is_compiled(path: Path) -> bool:
    """Whether kernels of this solver file are on the disk; some may still be missing.

    The folder alone tells nothing: importing the file makes it. Nor does what is older than the file: numba compiles
    a file anew that was written again, as by installing the same version once more.
    """
    kernels = (cache_root() / source_key(path)).rglob("*.nbc")
    return any(kernel.stat().st_mtime >= path.stat().st_mtime for kernel in kernels)


def prune() -> None:
    """Remove the kernels of other versions that no session has used for `KEPT_DAYS`: whole folders that are named by
    a hash and hold nothing but what numba writes. What cannot be read or removed stays.
    """
    oldest = time.time() - KEPT_DAYS * 86400
    with suppress(OSError):
        for folder in cache_root().iterdir():
            if not re.fullmatch("[0-9a-f]{16}", folder.name) or folder.is_symlink():
                continue
            files = [file for file in folder.rglob("*") if not file.is_dir()]
            if folder.stat().st_mtime < oldest and all(file.suffix in (".nbi", ".nbc") for file in files):
                shutil.rmtree(folder, ignore_errors=True)


class CheckedFiles(IndexDataCacheFile):
    """numba's files of one kernel, with a checksum in front of each; its methods are those that numba calls.

    numba takes what it finds for what it wrote: of a file that a full disk or a copy left half, a bake would die. Here such
    a file counts as missing, and the kernel is compiled anew. A checksum is no seal: what is there is run.
    """

    def _load_index(self):
        try:
            stamp, overloads = pickle.loads(_unsealed(self._index_path))
        except FileNotFoundError:
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads):
        with self._open_for_write(self._index_path) as file:
            file.write(_sealed(self._dump((self._source_stamp, overloads))))

    def _load_data(self, name):
        return pickle.loads(_unsealed(self._data_path(name)))

    def _save_data(self, name, data):
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_sealed(self._dump(data)))


def _check_files(dispatcher) -> None:
    """Let a compiled function, whose cache is chosen, keep its files so."""
    cache = dispatcher._cache
    implementation = cache._impl
    stamp = implementation.locator.get_source_stamp()
    cache._cache_file = CheckedFiles(cache.cache_path, implementation.filename_base, stamp)


def _sealed(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=CHECKSUM_BYTES).digest() + data


def _unsealed(path: str) -> bytes:
    """What was sealed; FileNotFoundError, which numba understands, where that is damaged or not there."""
    with open(path, "rb") as file:
        content = file.read()
    data = content[CHECKSUM_BYTES:]
    if _sealed(data) != content:
        raise FileNotFoundError(path)
    return data


def _compiled(function, **flags):
    path = Path(function.__code__.co_filename)
    before = numba.config.CACHE_DIR
    # Other add-ons share this numba: their cache folder is put back at once.
    numba.config.CACHE_DIR = _folder(path)
    try:
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy", **flags)(function)
    finally:
        numba.config.CACHE_DIR = before
    _check_files(compiled)
    return compiled


def _part(function, **flags):
    return numba.njit(
        nogil=True, error_model="numpy", inline="never", no_cpython_wrapper=True, no_cfunc_wrapper=True, **flags
    )(function)


def njit(function):
    """Compile a serial kernel that makes no arrays."""
    return _compiled(function, _nrt=False)


def fused(function):
    """`njit` in which a product and the sum it goes into are rounded once (fused multiply-add).

    A quarter faster where arithmetic is the cost, and as exact; not for code that wants a * b - b * a to be zero.
    """
    return _compiled(function, fastmath={"contract"}, _nrt=False)


def inner(function):
    """Compile a part of a kernel without an entry from Python, which costs more to compile than many a formula."""
    return _part(function, _nrt=False)


def fused_inner(function):
    """`inner` with products and sums rounded once, as in `fused`."""
    return _part(function, fastmath={"contract"}, _nrt=False)


def counted_njit(function):
    """Compile a serial kernel that makes arrays."""
    return _compiled(function)


def counted_fused(function):
    """`counted_njit` with products and sums rounded once, as in `fused`."""
    return _compiled(function, fastmath={"contract"})


def counted_inner(function):
    """`inner` for a part that makes arrays."""
    return _part(function)


def folded(function):
    """`inner` that becomes part of what calls it, for what is called for each of many items and reads many arrays: each
    array is nine numbers that go over the stack, so that a call with a few tuples of them takes as long as 200 products.
    """
    return _part(function, forceinline=True, _nrt=False)
