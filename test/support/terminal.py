"""Runs a program on a pseudo terminal of so many columns: passes on what is typed here, and prints what the screen gets."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, program = int(sys.argv[1]), sys.argv[2:]
pid, screen = pty.fork()
if pid == 0:
    os.execvp(program[0], program)
fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
keyboard = [sys.stdin.fileno()]
while True:
    ready, _, _ = select.select([screen, *keyboard], [], [])
    if screen in ready:
        try:
            shown = os.read(screen, 65536)
        except OSError:  # the end, on Linux
            shown = b""
        if not shown:
            break
        os.write(sys.stdout.fileno(), shown)
    elif keyboard:
        typed = os.read(keyboard[0], 1024)
        if typed:
            os.write(screen, typed)
        else:
            keyboard = []
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
