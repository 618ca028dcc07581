#!/usr/bin/env bash
# tools/plant: changes find their places by tokens, and each one that has none is named. A copy
# that was edited can be recorded.
set -euo pipefail
export LC_ALL=C

failures=0
complain() { echo "FAILED at: $1"; failures=$((failures + 1)); }
plant() { python3 -B "$SCUTE_SOURCE_DIR/tools/plant" src sites copies "$@"; }
# refused TEXT: plant fails and says this.
refused() {
  if plant >out 2>&1; then complain "accepted, but expected: $1"; fi
  grep -qF "$1" out || complain "expected \"$1\", got: $(cat out)"
}

mkdir -p src/room sites
cat >src/room/file.cpp <<'EOF'
// Comment.
void f(int n) {
  store(n);  // a comment
  flush(n);
  if (n > 1)
    fence();
  flush(n + 1);
}
EOF
cat >sites/room.txt <<'EOF'
# What is planted here.

== room/file.cpp
-   store(n); flush( n );
+   store(n);
+   if (!SCUTE_PLANTED(flush)) flush(n);

== room/file.cpp
-   if (n > 1) fence();
+   if (n > 1 && !SCUTE_PLANTED(fence)) fence();

== room/file.cpp
    flush(n + 1);
+   again();
EOF
plant
cat >expected <<'EOF'
#include "planted/planted.hpp"
// Comment.
void f(int n) {
  store(n);
  if (!SCUTE_PLANTED(flush)) flush(n);
  if (n > 1 && !SCUTE_PLANTED(fence)) fence();
  flush(n + 1);
  again();
}
EOF
diff -Bb expected copies/room/file.cpp || complain "the copy"

# A copy that does not change stays as old as it is.
touch -d '2001-01-01' copies/room/file.cpp
plant
[ "$(date -r copies/room/file.cpp +%Y)" = 2001 ] || complain "an equal copy was written again"

cp src/room/file.cpp kept
sed -i 's/n > 1/n > 2/' src/room/file.cpp
refused 'sites/room.txt:8: the lines of room/file.cpp that this change is about occur 0 times there, not once'
cp kept src/room/file.cpp
echo 'void g(int n) { flush(n + 1); }' >>src/room/file.cpp
refused 'sites/room.txt:12: the lines of room/file.cpp that this change is about occur 2 times there, not once'
[ -n "$(cat copies/room/file.cpp)" ] && [ "$(date -r copies/room/file.cpp +%Y)" = 2001 ] || complain "a copy was written all the same"
cp kept src/room/file.cpp

cp sites/room.txt sites.kept
printf '\n== room/file.cpp\n- flush(n);\n+ ;\n' >>sites/room.txt
refused 'changes the same place as'
cp sites.kept sites/room.txt
printf '\n== room/other.cpp\n- flush(n);\n+ ;\n' >>sites/room.txt
refused 'there is no src/room/other.cpp'
printf 'x\n' >sites/room.txt
refused 'sites/room.txt:1: a line of a change begins with'
cp sites.kept sites/room.txt

# A source that nothing is planted in any more has no copy. Other files stay.
mkdir copies/gone
printf '#include "planted/planted.hpp"\nint x;\n' | tee copies/gone/old.cpp >copies/room/old.hpp
echo 'int x;' >copies/room/mine.cpp
printf '\377' >copies/room/bytes
plant
[ ! -e copies/gone/old.cpp ] && [ ! -e copies/room/old.hpp ] || complain "a stale copy is there"
[ -e copies/room/mine.cpp ] && [ -e copies/room/bytes ] && [ -e copies/room/file.cpp ] || complain "another file is gone"

# Recorded: a change of the source, and one of the copy.
plant
sed -i 's/n > 1/n > 2/' src/room/file.cpp
sed -i 's/n > 1/n > 2/; s/again();/again(), SCUTE_PLANTED(more);/' copies/room/file.cpp
cp copies/room/file.cpp edited
plant --record room/file.cpp
plant
diff -Bb <(sed 's|  // a comment||' edited) <(sed 's|  // a comment||' copies/room/file.cpp) || complain "the recorded copy"
grep -q '^# What is planted here' sites/room.txt || complain "the head of the text is lost"
grep -qF 'SCUTE_PLANTED(more)' sites/room.txt || complain "the recorded change"

[ "$failures" -eq 0 ]
