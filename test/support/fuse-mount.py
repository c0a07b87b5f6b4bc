"""A FUSE file system of a few files: prints "mounted", then the name of each request. Given: where, and the files as JSON; reading a
file whose text is null is never answered, and none between SIGUSR1 and SIGUSR2."""
import ctypes
import errno
import json
import os
import signal
import stat
import struct
import sys

mount_point, files = sys.argv[1], json.loads(sys.argv[2])
names = list(files)
ROOT, TIME = 1, 1700000000
NAMES = {1: "lookup", 3: "getattr", 14: "open", 15: "read", 17: "statfs", 18: "release", 25: "flush", 26: "init"}
NAMES |= {27: "opendir", 28: "readdir", 29: "releasedir", 36: "interrupt"}

device = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other"
if libc.mount(b"shelfd-test", mount_point.encode(), b"fuse", 0, options.encode()):
    sys.exit(f"cannot mount: {os.strerror(ctypes.get_errno())}")


def content(node):
    return (files[names[node - 2]] or "held").encode()


def attributes(node):
    kind, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else (stat.S_IFREG | 0o644, len(content(node)))
    return struct.pack("<6Q10I", node, size, 1, TIME, TIME, TIME, 0, 0, 0, kind, 1, 0, 0, 0, 4096, 0)


def entries(offset):
    data = b""
    nodes = [(".", ROOT), ("..", ROOT)] + [(name, index + 2) for index, name in enumerate(names)]
    for index, (name, node) in list(enumerate(nodes))[offset:]:
        entry = struct.pack("<QQII", node, index + 1, len(name), 0) + name.encode()
        data += entry + b"\0" * (-len(entry) % 8)
    return data


# Nothing is kept by the kernel: each call of a program asks here.
def answer(operation, node, body):
    if operation == "init":
        return struct.pack("<IIIIHHIIHHI", 7, 31, 0, 0, 12, 10, 4096, 1, 32, 0, 0) + b"\0" * 28
    if operation == "lookup":
        name = body[:-1].decode()
        if name not in names:
            return None
        node = names.index(name) + 2
        return struct.pack("<4QII", node, 0, 0, 0, 0, 0) + attributes(node)
    if operation == "getattr":
        return struct.pack("<QII", 0, 0, 0) + attributes(node)
    if operation in ("open", "opendir"):
        return struct.pack("<QII", 0, 0, 0)
    if operation == "readdir":
        return entries(struct.unpack("<QQ", body[:16])[1])
    if operation == "read":
        _, offset, size = struct.unpack("<QQI", body[:20])
        return content(node)[offset : offset + size]
    if operation == "statfs":
        return struct.pack("<5Q4I", 1000, 500, 500, 100, 50, 4096, 255, 4096, 0) + b"\0" * 24
    return b""


def reply(unique, operation, node, body):
    if operation == "interrupt":
        # What asks here is a thread that is to end: its own request is answered, as servers do.
        unique = struct.unpack("<Q", body[:8])[0]
        if unique not in unending:
            return
        unending.remove(unique)
    data, failure = (b"", errno.ENOSYS) if operation is None else (answer(operation, node, body), 0)
    if operation == "interrupt":
        failure = errno.EINTR
    elif data is None:
        data, failure = b"", errno.ENOENT
    try:
        os.write(device, struct.pack("<IiQ", 16 + len(data), -failure, unique) + data)
    except OSError:
        # Who asked is gone.
        pass


waiting = []
# The reads that do not end by themselves.
unending = set()
is_frozen = False


def freeze(*_):
    global is_frozen
    is_frozen = True


def thaw(*_):
    global is_frozen
    is_frozen = False
    while waiting:
        reply(*waiting.pop(0))


signal.signal(signal.SIGUSR1, freeze)
signal.signal(signal.SIGUSR2, thaw)
print("mounted", flush=True)
while True:
    try:
        request = os.read(device, 1 << 17)
    except OSError as error:
        if error.errno == errno.ENODEV:
            break
        continue
    _, code, unique, node = struct.unpack("<IIQQ", request[:24])
    # Forgotten inodes expect no answer.
    if code in (2, 42):
        continue
    operation = NAMES.get(code)
    if operation not in (None, "init", "interrupt"):
        print(operation, flush=True)
    if operation == "read" and files[names[node - 2]] is None:
        unending.add(unique)
        continue
    if is_frozen:
        waiting.append((unique, operation, node, request[40:]))
    else:
        reply(unique, operation, node, request[40:])
