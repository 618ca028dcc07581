# SPDX-License-Identifier: BSD-3-Clause
"""model.py BEFORE OPERATIONS ANSWERS FOUND [--workers N]: is FOUND what a program may have left?

BEFORE and FOUND are lines "KEY VALUE", in any order. OPERATIONS has the requests to the program
(put or set, get, del). ANSWERS has its answers until it ended: they must be right, and answer
the first operations of each worker. FOUND must then be the state after these, or after one more
of each worker. A program without --workers is one worker, and does not number its answers.
"""
import argparse
import sys


def lines_of(name):
    with open(name, encoding="ascii") as file:
        return file.read().splitlines()


def state_of(name):
    return dict(line.split(" ", 1) for line in lines_of(name))


def hash_of(key):
    h = 0xCBF29CE484222325
    for byte in key.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def apply(state, operation):
    """Returns the answer that the program has to give; changes the state."""
    word, key, *value = operation.split(" ", 2)
    if word in ("put", "set"):
        state[key] = value[0]
        return word if word == "put" else "stored"
    if word == "del":
        return "none" if state.pop(key, None) is None else "deleted"
    numbered = "is " if arguments.workers else ""
    return numbered + state[key] if key in state else "none"


def differences(a, b):
    keys = sorted(key for key in {**a, **b} if a.get(key) != b.get(key))
    return ", ".join(f"{k}: {a.get(k)!r} and not {b.get(k)!r}" for k in keys[:4])


parser = argparse.ArgumentParser()
for name in ("before", "operations", "answers", "found"):
    parser.add_argument(name)
parser.add_argument("--workers", type=int, default=0)
arguments = parser.parse_args()

workers = max(arguments.workers, 1)


def worker_of(key):
    return (hash_of(key) >> 32) % workers


def part_of(state, worker):
    return {key: value for key, value in state.items() if worker_of(key) == worker}


before, found = state_of(arguments.before), state_of(arguments.found)
operations = [o for o in lines_of(arguments.operations) if o not in ("list", "check")]
answers = lines_of(arguments.answers)
if arguments.workers:
    answered = {int(number): text for number, text in (line.split(" ", 1) for line in answers)}
else:
    answered = dict(enumerate(answers, 1))

for worker in range(workers):
    mine = [(i, o) for i, o in enumerate(operations, 1) if worker_of(o.split(" ")[1]) == worker]
    reported = sum(i in answered for i, _ in mine)
    state = part_of(before, worker)
    for number, operation in mine[:reported]:
        right = apply(state, operation)
        if answered.get(number) != right:
            sys.exit(f"{operation!r}, number {number}: answered {answered.get(number)!r}, not {right!r}")
    next_state = dict(state)
    if reported < len(mine):
        apply(next_state, mine[reported][1])
    here = part_of(found, worker)
    if here not in (state, next_state):
        sys.exit(f"worker {worker}, {reported} answered: {differences(here, state)}")
print(f"{len(answered)} answered, {len(found)} keys")
