# How test programs in Python wait. tests/support/wait.bash puts this folder on the path of modules.
import time


def pause(seconds):
    """For a length that no assertion depends on: a turn of a loop, the moment of a signal."""
    time.sleep(seconds)


def wait_until(condition, seconds=120):
    """Until condition() is true. Raises TimeoutError if it is not after so long."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("this did not become true")
        pause(0.005)
