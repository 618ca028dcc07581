# SPDX-License-Identifier: BSD-3-Clause
"""One run of a program, and what it has spent on opening, on its operations and on closing.

The program is asked a question, and has opened its file when it answers. It then gets all
operations and another question at once. While it waits for more, its clock of processor time
stands, so that reading it from outside is exact. The input fits into the pipe, as far as a pipe
may be that large; so do the answers, of which the last one counts.

A server is asked by clients of a Unix socket. Each waits for an answer before its next request."""
from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from interruption import uninterrupted

PIPE_BYTES = 1 << 20
KILLED_S = 10.0  # how long a killed process may take to be gone
STARTED_S = 60.0  # and a server until it listens


class Failed(Exception):
    """A command that should have worked, with what it said."""


@dataclass(frozen=True)
class Spent:
    """Milliseconds. cpu: of the program, and of its supervisor if it has one."""
    cpu: float
    wall: float
    open_cpu: float
    open_wall: float
    close_cpu: float


def environment() -> dict[str, str]:
    """libpmemobj flushes with instructions, as Scute does, wherever the file is; and no option of
    the user's counts."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SCUTE_")}
    return {**kept, "PMEM_IS_PMEM_FORCE": "1", "LC_ALL": "C"}


def _clock_ms(process: int) -> float:
    """Processor time of all threads of a process, by its clock (clock_getcpuclockid)."""
    return time.clock_gettime_ns((~process << 3) | 2) / 1e6


def _children(process: int) -> list[int]:
    """By the fourth field of /proc/PID/stat, which follows a name that may hold anything."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(stat.parent.name))
        except (OSError, IndexError, ValueError):
            continue  # it has ended meanwhile
    return found


def _group_lives(group: int) -> bool:
    """Whether any process of the group still runs. A zombie (state Z) does not: it has ended, and
    its parent has not asked how."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        if int(its_group) == group and state not in "ZX":
            return True
    return False


def _end_group(process: int) -> None:
    """Ends the processes that are left of a process and those that it has started. An interruption
    may come when it has just ended. Returns when they are gone: until then they may write to the
    folder that is removed next."""
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        return
    until = time.monotonic() + KILLED_S
    while _group_lives(process) and time.monotonic() < until:
        time.sleep(0.01)


class _Run:
    def __init__(self, command: Sequence[str], held: bool, errors: Path) -> None:
        self._errors, self._command = errors, command
        with errors.open("wb") as complaints:
            self._first = subprocess.Popen(["stdbuf", "-oL", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=complaints, env=environment(), start_new_session=True)
        for stream in (self._first.stdin, self._first.stdout):
            try:
                # type: ignore[union-attr]
                fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            except OSError:
                pass  # a smaller pipe is filled while the program reads
        self._held = held
        self._processes = [self._first.pid]

    def cpu(self) -> float:
        return sum(_clock_ms(p) for p in self._processes)

    def ask(self, text: str, answers: int = 1) -> None:
        """Writes, and waits for so many lines."""
        try:
            # type: ignore[union-attr]
            self._first.stdin.write(text.encode())  # type: ignore[union-attr]
            self._first.stdin.flush()  # type: ignore[union-attr]
            if all(self._first.stdout.readline() for _ in range(answers)):
                return
        except BrokenPipeError:
            pass
        self.fail("it ended too early")

    def fail_if_ended(self) -> None:
        if self._first.poll() is not None:
            self.fail(f"exit status {self._first.returncode}")

    def find_program(self) -> None:
        """The supervisor's one child, if there is a supervisor."""
        if self._held:
            children = _children(self._first.pid)
            if len(children) != 1:
                self.fail(f"the supervisor has {len(children)} children")
            self._processes = [self._first.pid, *children]

    def end(self) -> float:
        """Processor time of the whole run, in milliseconds."""
        self._first.stdin.close()  # type: ignore[union-attr]
        _, status, usage = os.wait4(self._first.pid, 0)
        self._first.returncode = os.waitstatus_to_exitcode(status)
        if self._first.returncode != 0:
            self.fail(f"exit status {self._first.returncode}")
        return (usage.ru_utime + usage.ru_stime) * 1e3

    def fail(self, why: str) -> None:
        said = self._errors.read_text(errors="replace").strip()[-1000:]
        raise Failed(f"{' '.join(self._command)}: {why}: {said}")

    def leave(self) -> None:
        """Nothing of it is left, however it ended."""
        if self._first.returncode is None:
            _end_group(self._first.pid)
            self._first.wait()
        for stream in (self._first.stdin, self._first.stdout):
            try:
                stream.close()  # type: ignore[union-attr]
            except BrokenPipeError:
                pass


def spend(command: Sequence[str], held: bool, question: str, operations: str, errors: Path, answers: int = 0) -> Spent:
    """held: the command is a supervisor, which starts the program. answers: lines that the
    operations are answered by. An interruption ends the program, too."""
    begin = time.monotonic()
    run = None
    try:
        with uninterrupted():
            run = _Run(command, held, errors)
        run.ask(question)
        opened = time.monotonic()
        run.find_program()
        before = run.cpu()
        start = time.monotonic()
        run.ask(operations + question, answers + 1)
        stop = time.monotonic()
        after = run.cpu()
        together = run.end()
    finally:
        if run is not None:
            with uninterrupted():
                run.leave()
    return Spent(after - before, (stop - start) * 1e3, before, (opened - begin) * 1e3, max(together - after, 0.0))


def _connected(run: _Run, name: Path) -> socket.socket:
    """Connects as soon as the server listens."""
    until = time.monotonic() + STARTED_S
    while True:
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(str(name))
            return client
        except OSError:
            client.close()
            run.fail_if_ended()
            if time.monotonic() > until:
                run.fail("the server does not listen")
            time.sleep(0.002)


def _talk(client: socket.socket, commands: Sequence[str], answered: list[int]) -> None:
    lines = client.makefile("rb")
    done = 0
    for command in commands:
        client.sendall(command.encode())
        if not lines.readline().endswith(b"\n"):
            break
        done += 1
    answered.append(done)


def converse(command: Sequence[str], held: bool, name: Path, scripts: Sequence[Sequence[str]], errors: Path) -> Spent:
    """The command is a server, or its supervisor. It listens at `name`, and ends when a client asks
    it to shut down. Each script is a client's."""
    begin = time.monotonic()
    run = None
    clients: list[socket.socket] = []
    try:
        with uninterrupted():
            run = _Run(command, held, errors)
        clients = [_connected(run, name) for _ in scripts]
        opened = time.monotonic()
        run.find_program()
        answered: list[int] = []
        threads = [threading.Thread(target=_talk, args=(c, s, answered)) for c, s in zip(clients, scripts)]
        before = run.cpu()
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stop = time.monotonic()
        after = run.cpu()
        if sum(answered) != sum(len(s) for s in scripts):
            run.fail("it ended too early")
        clients[0].sendall(b"shutdown\n")
        for client in clients:  # the server waits for them
            client.close()
        together = run.end()
    finally:
        for client in clients:
            client.close()
        if run is not None:
            with uninterrupted():
                run.leave()
    return Spent(after - before, (stop - start) * 1e3, before, (opened - begin) * 1e3, max(together - after, 0.0))


def output(command: Sequence[str], text: str = "", allowed: Sequence[int] = (0,)) -> str:
    """Returns the output of a command that is not measured. An interruption ends the command, and
    the processes that it has started."""
    running = None
    try:
        with uninterrupted():
            running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, env=environment(), start_new_session=True)
        printed, said = running.communicate(text)
    except BaseException:
        if running is not None:
            with uninterrupted():
                _end_group(running.pid)
                running.communicate()
        raise
    if running.returncode not in allowed:
        raise Failed(f"{' '.join(command)}: exit status {running.returncode}: {said.strip()[-1000:]}")
    return printed
