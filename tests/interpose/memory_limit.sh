#!/usr/bin/env bash
# A file whose view takes more memory than is allowed is not opened. Pages of zeros take none.
# Several files count together.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

file=$pools/file other=$pools/other
shielded "$file" 1200000
shielded "$other" 1200000
reads=(python3 -c 'import sys
for name in sys.argv[1:]:
    globals()["f" + str(len(globals()))] = f = open(name, "rb", buffering=0)
    print(len(f.read()))')

expect 0 "$scute" shield run --max-memory 4M -- "${reads[@]}" "$file" "$other"
in_out '^1200000$'
expect 1 "$scute" shield run --max-memory 1M -- "${reads[@]}" "$file"
in_err "$file: the first 1172 KiB of its 1172 KiB took 1172 KiB of memory, and 1024 KiB are allowed; .*--max-memory"
in_err 'Cannot allocate memory'
expect 1 "$scute" shield run --max-memory 2M -- "${reads[@]}" "$file" "$other"
in_err "$other: .*, other files have 1172 KiB, and 2048 KiB are allowed"
expect 0 "$scute" shield run --max-memory none -- "${reads[@]}" "$file" "$other"
expect 0 "$scute" shield run -- "${reads[@]}" "$file" "$other"
expect 1 "$scute" shield run --max-memory -5 -- "${reads[@]}" "$file"
expect 1 "$scute" shield run --max-memory much -- "${reads[@]}" "$file"

# The same if the limit on the length of the program's files is lower.
expect 1 bash -c 'ulimit -f 500; exec "$@"' - "$scute" shield run --max-memory none -- "${reads[@]}" "$file"
in_err 'File too large'

# Zeros are not stored anywhere.
truncate -s 8M "$pools/zeros"
"$scute" shield add "$pools/zeros" >add.out || fail "shield add"
expect 0 "$scute" shield run --max-memory 64K -- "${reads[@]}" "$pools/zeros"
sound "$file"
sound "$other"
