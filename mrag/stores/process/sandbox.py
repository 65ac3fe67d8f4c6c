"""What a child process gives up before it reads or runs what others wrote.

The engine follows `SERVICE` over real HTTP and has no switch for it, so besides the read gate the
process itself must have no way out. Two means that fail independently of each other take the network
away: a network namespace of its own, which many containers refuse, and a filter of system calls
(seccomp), which needs no right at all. Both are Linux's.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_NEW_NET, _NEW_USER = 0x40000000, 0x10000000
_NO_NEW_PRIVS, _SET_FILTER, _ALL_THREADS = 38, 1, 1
_EPERM, _KILL, _ERRNO, _ALLOW = 1, 0x80000000, 0x00050000, 0x7FFF0000
_X32 = 0x40000000  # Bit of the call numbers of x86-64's second ABI, which would lead round the filter

# Calls that make or use a connection, that reach another process (its descriptors, its memory, its
# namespaces), that start a program, and io_uring, which carries out calls without making them; each
# with its numbers on x86-64 and on ARM64.
_CALLS = """
socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202,
accept4 288 242, sendto 44 206, sendmsg 46 211, sendmmsg 307 269, recvmsg 47 212, recvmmsg 299 243,
io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, ptrace 101 117,
process_vm_readv 310 270, process_vm_writev 311 271, pidfd_getfd 438 438, setns 308 268, bpf 321 280,
execve 59 221, execveat 322 281
"""


@dataclass(frozen=True)
class _Machine:
    """What the filter must know of a machine."""

    audit: int
    seccomp: int
    column: int

    def numbers(self) -> list[int]:
        return [int(call.split()[self.column]) for call in _CALLS.split(",")]


_MACHINES = {"x86_64": _Machine(0xC000003E, 317, 1), "aarch64": _Machine(0xC00000B7, 277, 2)}


@dataclass(frozen=True)
class Defences:
    """Which means hold in a child process, as it has found by trying them."""

    namespace: bool = False
    seccomp: bool = False
    memory: int = 0

    @property
    def offline(self) -> bool:
        """Return whether at least one means keeps it off the network."""
        return self.namespace or self.seccomp


def confine(memory: int = 0) -> Defences:
    """Take this process off the network and cap its memory, as far as the system lets it.

    Call it first, while the process has one thread: a thread that is there already keeps its network
    namespace, and a process of several may not leave its user namespace.
    """
    os.umask(0o077)
    namespace = _leave_network()
    return Defences(namespace, filter_calls(), _keep_to(memory))


def filter_calls(refused: Sequence[int] | None = None) -> bool:
    """Have the system refuse some calls to all threads of this process and to whatever it starts."""
    # A process of 32 bits on a kernel of 64 would be refused every call.
    machine = _MACHINES.get(os.uname().machine) if sys.platform == "linux" and sys.maxsize > 1 << 32 else None
    if machine is None:
        return False
    try:
        import ctypes
    except ImportError:
        return False

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    code = _program(machine, machine.numbers() if refused is None else refused)
    held = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.cast(held, ctypes.c_void_p))
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        zero, long = ctypes.c_ulong(0), ctypes.c_long
        if libc.prctl(_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) != 0:
            return False
        call = libc.syscall(
            long(machine.seccomp), long(_SET_FILTER), long(_ALL_THREADS), ctypes.byref(program)
        )
    except (OSError, AttributeError):
        return False
    return bool(call == 0) and (refused is not None or _is_refused(libc))


def _program(machine: _Machine, refused: Sequence[int]) -> bytes:
    """Return the filter in the kernel's bytecode: classic BPF over `struct seccomp_data`."""
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06

    def line(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("=HBBI", code, yes, no, value)

    # A jump counts the lines that it leaves out; all of these lead to the last line.
    lines = [
        line(load, 0, 0, 4),  # the machine that the call is made for
        line(equal, 1, 0, machine.audit),
        line(give, 0, 0, _KILL),
        line(load, 0, 0, 0),  # the number of the call
        line(at_least, len(refused) + 1, 0, _X32),
        *(line(equal, len(refused) - at, 0, number) for at, number in enumerate(refused)),
        line(give, 0, 0, _ALLOW),
        line(give, 0, 0, _ERRNO | _EPERM),
    ]
    return b"".join(lines)


def _is_refused(libc: Any) -> bool:
    """Return whether this process is refused sockets of every family that there is."""
    import ctypes

    for family in range(1, 46):
        made = libc.socket(family, 1, 0)
        if made >= 0:
            os.close(made)
            return False
        if ctypes.get_errno() != _EPERM:
            return False
    return True


def _leave_network() -> bool:
    """Move this process into a network namespace of its own, where the system lets it."""
    if sys.platform != "linux":
        return False
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        return any(libc.unshare(flags) == 0 for flags in (_NEW_NET, _NEW_USER | _NEW_NET))
    except (ImportError, OSError, AttributeError):
        return False


def _keep_to(memory: int) -> int:
    """Let this process die of its own hunger for memory, before others do; return the cap that holds."""
    if sys.platform == "win32":
        return 0
    import resource

    unlimited = resource.RLIM_INFINITY
    given, _ = resource.getrlimit(resource.RLIMIT_DATA)
    caps = [cap for cap in (memory, given) if cap not in (0, unlimited)]
    if caps:
        resource.setrlimit(resource.RLIMIT_DATA, (min(caps), min(caps)))
    return min(caps, default=0)
