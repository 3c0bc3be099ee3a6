# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory there is, and how much a process has, by what each system offers."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

PROCESS_QUERY = 0x1000 | 0x0010  # PROCESS_QUERY_LIMITED_INFORMATION and PROCESS_VM_READ, of Windows


def available() -> int:
    """Bytes that processes can have now without others being written out; all of the machine's where nobody knows that."""
    if sys.platform == "win32":
        return _windows_available()
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def used_by(pid: int) -> int:
    """Bytes of memory that a process has; 0 if it is gone, or nobody tells."""
    if sys.platform == "win32":
        return _windows_used(pid)
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        pass
    try:  # macOS has no /proc
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, timeout=10)
        return int(told.stdout) * 1024
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


class _Memory(ctypes.Structure):
    """MEMORYSTATUSEX of Windows."""

    _fields_ = [
        ("length", ctypes.c_ulong),
        ("load", ctypes.c_ulong),
        *((f"n{k}", ctypes.c_ulonglong) for k in range(7)),
    ]


class _Used(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of Windows; the second size is the working set."""

    _fields_ = [("length", ctypes.c_ulong), ("faults", ctypes.c_ulong), *((f"n{k}", ctypes.c_size_t) for k in range(8))]


def _windows_available() -> int:
    memory = _Memory()
    memory.length = ctypes.sizeof(memory)
    ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(memory))
    return memory.n1


def _windows_used(pid: int) -> int:
    kernel, used = ctypes.windll.kernel32, _Used()
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(PROCESS_QUERY, False, pid)
    if not handle:
        return 0
    try:
        kernel.K32GetProcessMemoryInfo(ctypes.c_void_p(handle), ctypes.byref(used), ctypes.sizeof(used))
        return used.n1
    finally:
        kernel.CloseHandle(ctypes.c_void_p(handle))
