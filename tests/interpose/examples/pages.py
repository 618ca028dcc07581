"""pages.py FILE: the numbers of the pages of a pool that hold data, one per line. Its head is left
out: libpmemobj does not need every byte of it."""

import sys

zero = bytes(4096)
with open(sys.argv[1], "rb") as file:
    number = 0
    while page := file.read(4096):
        if page != zero and number > 1:
            print(number)
        number += 1
