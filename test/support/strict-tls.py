"""Terminates TLS and demands a client certificate, as a strict server does: OpenSSL refuses others with an alert. (Node's own
server closes the connection without one.) Usage: strict-tls.py UPSTREAM_PORT CERTIFICATE KEY AUTHORITY; prints one line of JSON
with a port for any TLS and one for TLS 1.2. Ends with its stdin."""
import json
import select
import socket
import ssl
import sys
import threading

upstream, certificate, key, authority = int(sys.argv[1]), *sys.argv[2:]


def listen(newest):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = newest
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(authority)
    context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, args=(listener, context), daemon=True).start()
    return listener.getsockname()[1]


def accept(listener, context):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, context), daemon=True).start()


def serve(client, context):
    try:
        with context.wrap_socket(client, server_side=True, do_handshake_on_connect=False) as secure:
            try:
                secure.do_handshake()
            except ssl.SSLError:
                drain(secure)
                return
            with socket.create_connection(("127.0.0.1", upstream)) as far:
                relay(secure, far)
    except OSError:
        # The client went away.
        pass


def drain(secure):
    # Closing with unread bytes would reset the connection, and the alert might be lost with it.
    with socket.socket(fileno=secure.detach()) as plain:
        plain.shutdown(socket.SHUT_WR)
        while plain.recv(65536):
            pass


def relay(secure, far):
    while True:
        ready = [secure] if secure.pending() else select.select([secure, far], [], [])[0]
        for one in ready:
            data = one.recv(65536)
            if not data:
                return
            (far if one is secure else secure).sendall(data)


print(json.dumps({"port": listen(ssl.TLSVersion.MAXIMUM_SUPPORTED), "port12": listen(ssl.TLSVersion.TLSv1_2)}), flush=True)
sys.stdin.read()
