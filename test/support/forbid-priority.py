"""forbid-priority.py PROGRAM ARGUMENT...: becomes the program, to which the kernel refuses any change of priority, as systemd units do."""
import ctypes
import os
import platform
import struct
import sys

SETPRIORITY = {"x86_64": 141, "aarch64": 140}[platform.machine()]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW, EPERM = 0x00050000, 0x7FFF0000, 1

steps = [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, SETPRIORITY), (RETURN, 0, 0, REFUSE | EPERM), (RETURN, 0, 0, ALLOW)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


program = Program(len(steps), b"".join(struct.pack("HBBI", *step) for step in steps))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
