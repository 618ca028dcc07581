# SPDX-License-Identifier: BSD-3-Clause
"""clients.py talk SOCKET BEFORE SEED RESULT: clients of item_server, each with its own keys, talk
until each has sent all its commands or is cut off. RESULT.begun exists when each has had an answer.
clients.py verify RESULT FOUND: is FOUND what the server may have left?

BEFORE and FOUND are lines "KEY VALUE". RESULT has, for each client, its keys' values after all
operations that were answered, and after the one that may not have been answered.
"""
import json
import random
import socket
import sys
import threading

import waiting

CLIENTS, OPERATIONS, KEYS = 6, 4000, 120
begun = threading.Barrier(CLIENTS, lambda: open(sys.argv[5] + ".begun", "w").close(), timeout=120)


def state_of(name):
    with open(name, encoding="ascii") as file:
        return dict(line.split(" ", 1) for line in file.read().splitlines())


def of_client(state, client):
    return {key: value for key, value in state.items() if key.startswith(f"client{client}/")}


def connect(connection, name):
    """The socket has its name a moment before the server listens."""
    waiting.wait_until(lambda: connection.connect_ex(name) == 0)


def talk(name, client, state, seed, results):
    dice = random.Random(f"{seed}/{client}")
    after = dict(state)
    with socket.socket(socket.AF_UNIX) as connection:
        connect(connection, name)
        lines = connection.makefile("r", encoding="ascii")
        for number in range(1, OPERATIONS + 1):
            key = f"client{client}/{dice.randrange(KEYS)}"
            if dice.random() < 0.7:
                after[key] = f"{number} " + "words and " * dice.randrange(1, dice.randrange(2, 180)) + "."
                command, right = f"set {key} {after[key]}", "stored"
            else:
                right = "none" if after.pop(key, None) is None else "deleted"
                command = f"del {key}"
            try:
                connection.sendall(f"{command}\n".encode())
                answer = lines.readline()
            except OSError:
                break
            if not answer.endswith("\n"):
                break
            if answer != f"{number} {right}\n":
                results[client] = f"client {client}: {command!r} was answered {answer!r}"
                return
            state = dict(after)
            if number == 1:
                begun.wait()
    results[client] = [state, after]


def main():
    if sys.argv[1] == "talk":
        name, before, seed, result = sys.argv[2:]
        state, results = state_of(before), {}
        threads = [
            threading.Thread(target=talk, args=(name, c, of_client(state, c), seed, results))
            for c in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with open(result, "w", encoding="ascii") as file:
            json.dump([results.get(c, f"client {c} has failed") for c in range(CLIENTS)], file)
        return
    with open(sys.argv[2], encoding="ascii") as file:
        results = json.load(file)
    found = state_of(sys.argv[3])
    for client, result in enumerate(results):
        if isinstance(result, str):
            sys.exit(result)
        if of_client(found, client) not in result:
            sys.exit(f"client {client}: its items are neither those of its answered operations, nor of one more")
    if any(not key.startswith("client") for key in found):
        sys.exit("there is an item that no client has set")


main()
