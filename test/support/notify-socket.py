"""The listening end of sd_notify: prints each message as one line of JSON. Node has no datagram Unix sockets."""
import array
import json
import os
import socket
import sys

receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print(json.dumps("listening"), flush=True)
while True:
    message, ancillary, _, _ = receiver.recvmsg(65536, socket.CMSG_SPACE(64))
    for level, kind, data in ancillary:
        # Who sends a barrier waits until its descriptor is closed here.
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            for descriptor in array.array("i", data[: len(data) // 4 * 4]):
                os.close(descriptor)
    if message != b"BARRIER=1":
        print(json.dumps(message.decode()), flush=True)
