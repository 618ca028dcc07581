"""ask.py PORT: a client of kv_server. Sends the lines of standard input to it, in one connection,
prints all answers, and ends the server in another one."""

import socket
import sys

import waiting


def connected(port: int) -> socket.socket:
    """The server may not be there yet."""
    server = socket.socket()
    waiting.wait_until(lambda: server.connect_ex(("127.0.0.1", port)) == 0)
    server.settimeout(120)
    return server


def main() -> None:
    port = int(sys.argv[1])
    lines = sys.stdin.buffer.read()
    with connected(port) as server:
        for line in lines.splitlines(keepends=True):
            server.sendall(line)
            answer = b""
            while b"\n" not in answer:  # zeros may follow it: those of the value's length
                piece = server.recv(65536)
                if not piece:
                    sys.exit(f"no answer to {line!r}")
                answer += piece
            sys.stdout.buffer.write(line + answer.replace(b"\0", b""))
    with connected(port) as server:
        server.sendall(b"KILL\n")
        while server.recv(4096):
            pass


main()
