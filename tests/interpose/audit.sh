#!/usr/bin/env bash
# scute shield audit: what a program never made durable, as text and JSON, and by its exit status.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

actor=$programs/scute-actor
file=$pools/file
shielded "$file" 262144

# Two pages were stored to and never flushed, on either side of a munmap().
expect 2 "$scute" shield audit -- "$actor" two_mappings "$file"
in_out '^never flushed *1[0-9] lines'
equal "$(grep -c '^never flushed' out)" 1  # one view, and so one account (KEEPER-1)
in_out '^result: stores were never flushed'

# The same once more changes nothing, so there is nothing to flush.
expect 0 "$scute" shield audit --json -- "$actor" two_mappings "$file"
sed -n '/^{/,$p' out >document && mv document out
valid_json
equal "$(json result)" clean
equal "$(json unflushed_lines)" 0

# The program's status comes first, and a killed one is counted as well.
expect 3 "$scute" shield audit -- "$actor" exits "$file"
expect 137 "$scute" shield audit -- "$actor" is_killed "$file"
expect 1 "$scute" shield audit -- true
in_out 'no shielded file was opened'
sound "$file"
