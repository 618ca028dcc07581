#!/usr/bin/env bash
# OWN-3: no object with several sources defines a function whose calls from inside the library are
# redirected.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

grep -oE 'SCUTE_(OWN|FORWARD)\([^,]+, [a-z0-9_]+|SCUTE_OWN_ALIAS\([^,]+, [a-z0-9_]+' \
  "$SCUTE_SOURCE_DIR/src/shield/interpose/calls/own_calls.cpp" | sed 's/.*, //' | sort -u >redirected
[ "$(wc -l <redirected)" -ge 60 ] || fail "only $(wc -l <redirected) functions are redirected"

# several OBJECT...: names those of several sources that define one of them, and counts all that do.
several() {
  local object
  for object in "$@"; do
    nm --defined-only "$object" | awk '$2 ~ /[TWi]/ { print $3 }' | sort -u | comm -12 - redirected >defined
    [ -s defined ] || continue
    definers=$((definers + 1))
    [[ $object != */unity_* ]] || echo "$object: $(tr '\n' ' ' <defined)"
  done
}
definers=0
mapfile -t objects < <(find "$SCUTE_BINARY_DIR"/src/CMakeFiles/scute_{core,interpose}.dir -name '*.o')
several "${objects[@]}" >violations
[ "$definers" -ge 10 ] || fail "only $definers objects define one of them, so this test sees nothing"
[ ! -s violations ] || fail "several sources: $(cat violations)"

# The check itself.
echo 'int fsync(int fd) { return fd; }' >one.c
cc -c one.c -o unity_0.o
definers=0
several ./unity_0.o >violations
equal "$(cat violations)" './unity_0.o: fsync '
