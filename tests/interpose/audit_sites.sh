#!/usr/bin/env bash
# scute shield audit of a program that scute-cc has compiled: it counts each mistake at its place in
# the source, and nothing else (AUDIT-3). `run` reports strays as well, and can stop the program
# (AUDIT-4, VIEW-9).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

source=$SCUTE_SOURCE_DIR/tests/interpose/sites/sites.c
compiler=$SCUTE_BINARY_DIR/tools/pass/bin/scute-cc
file=$pools/file
shielded "$file" 262144
for level in -O0 -O2; do
  "$compiler" -std=gnu11 $level -Wall -Wextra -Werror -mclwb -fscute=detect -o "sites$level" "$source" -lpthread
done
"$compiler" -std=gnu11 -O2 -mclwb -o flushing "$source" -lpthread

# line_of NAME: where its comment is.
line_of() { grep -n "/\* $1 \*/" "$source" | cut -d: -f1; }

# audited STATUS WAY: into out, and document.
audited() {
  expect "$1" "$scute" shield audit --json -- ./sites "$2" "$file"
  sed -n '/^{/,$p' out >document
  cp document out
  valid_json
}

# of_site NAME FIELD: the count at the line with that comment; 0 if there is no such place.
of_site() {
  python3 - "$(line_of "$1")" "$2" <<'PYTHON'
import json, sys
sites = json.load(open('document'))['views'][0]['sites']
print(sum(s[sys.argv[2]] for s in sites if s['line'] == int(sys.argv[1]) and s['source'].endswith('sites.c')))
PYTHON
}

# elsewhere NAME FIELD: at all other places together.
elsewhere() {
  python3 - "$(line_of "$1")" "$2" <<'PYTHON'
import json, sys
sites = json.load(open('document'))['views'][0]['sites']
print(sum(s[sys.argv[2]] for s in sites if s['line'] != int(sys.argv[1])))
PYTHON
}

total() { python3 -c "import json, sys; print(json.load(open('document'))['views'][0][sys.argv[1]])" "$1"; }

for level in -O0 -O2; do
  cp "sites$level" sites
  ways="clean library together clflushes late"
  ! grep -q -w avx2 /proc/cpuinfo || ways+=" processors"
  ! grep -q -w xsave /proc/cpuinfo || ways+=" saves"
  for way in $ways; do
    audited 0 "$way"
    equal "$(total stray_lines)" 0
    equal "$(total unflushed_lines)" 0
    equal "$(total unreported_objects)" ""
    equal "$(total unfenced_lines)" 0
    equal "$(total early_flushes)" 0
  done

  # AUDIT-6: where the line was flushed last. (`detect` reports this for streamed stores, too.)
  for way in unfenced streams:streamed unmaps:unmapped; do
    audited 2 "${way%:*}"
    equal "$(total unfenced_lines)" 1
    equal "$(of_site "${way#*:}" unfenced_lines)" 1
    equal "$(elsewhere "${way#*:}" unfenced_lines)" 0
    equal "$(total unflushed_lines)" 0
  done
  # AUDIT-7: where it was stored to last.
  audited 2 early
  equal "$(total early_flushes)" 1
  equal "$(total unflushed_lines)" 1
  equal "$(of_site 'after it' unflushed_lines)" 1
  equal "$(total unfenced_lines)" 0

  audited 2 forgets
  equal "$(total unflushed_lines)" 1
  equal "$(of_site forgotten unflushed_lines)" 1
  equal "$(elsewhere forgotten unflushed_lines)" 0
  equal "$(total stray_lines)" 0

  audited 0 twice
  equal "$(of_site again repeated_flushes)" 1
  equal "$(elsewhere again repeated_flushes)" 0
  expect 2 "$scute" shield audit --fail-on repeated ./sites twice "$file"

  audited 0 vain
  equal "$(of_site 'in vain' unchanged_flushes)" 1
  equal "$(elsewhere 'in vain' unchanged_flushes)" 0
  expect 2 "$scute" shield audit --fail-on unflushed,unchanged ./sites vain "$file"

  audited 0 idle
  equal "$(of_site idle empty_fences)" 1
  equal "$(elsewhere idle empty_fences)" 0
  expect 2 "$scute" shield audit --fail-on idle ./sites idle "$file"

  audited 2 stray
  equal "$(total stray_lines)" 1
  equal "$(of_site stray stray_lines)" 1
  equal "$(elsewhere stray stray_lines)" 0
  expect 0 "$scute" shield audit --fail-on none ./sites stray "$file"
done

# As text: the place, and the line of the file.
expect 2 "$scute" shield audit ./sites stray "$file"
in_out '^stray stores *1 lines$'
in_out "sites\.c:$(line_of stray) (stray) *1 "
in_out "line 0x5000: a stray store, flushed at .*sites\.c:$(line_of stray)$"
in_out '^result: there were stray stores$'
expect 2 "$scute" shield audit ./sites forgets "$file"
in_out "line 0x2000: never flushed, stored to last at .*sites\.c:$(line_of forgotten)$"
expect 2 "$scute" shield audit ./sites unfenced "$file"
in_out "line 0xc000: flushed and never fenced, stored to last at .*sites\.c:$(line_of 'reported last'), flushed at .*sites\.c:$(line_of unfenced)$"
in_out '^result: lines were flushed and never fenced$'
expect 0 "$scute" shield audit --all ./sites clean "$file"
in_out 'sites\.c:[0-9][0-9]* ('

# Without `detect` the audit does not know of stores and blames no code for them. Flushes and fences
# still have their places.
cp flushing sites
audited 0 stray
equal "$(total stray_lines)" 0
audited 0 twice
equal "$(of_site again repeated_flushes)" 1
audited 2 forgets
equal "$(of_site forgotten unflushed_lines)" 0
equal "$(total unflushed_lines)" 1

# `run` reports it and continues, or, by an option, does not.
cp sites-O2 sites
expect 0 "$scute" shield run ./sites stray "$file"
in_err "stray store: the 64 bytes at 0x5000 changed.*flushed at .*sites\.c:$(line_of stray) (stray)"
expect 0 "$scute" shield run --strays ignore ./sites stray "$file"
[ ! -s err ] || fail "it was to be ignored: $(cat err)"

# If the process contains code that does not report its stores, strays are advice and no failure.
printf 'void quiet(void) {}\n' >quiet.c
"$compiler" -shared -fPIC -o libquiet.so quiet.c
gcc -shared -fPIC -o libforeign.so quiet.c
"$compiler" -std=gnu11 -O2 -mclwb -fscute=detect -o sites "$source" -lpthread -Wl,--no-as-needed -L. -lforeign -Wl,-rpath,"$PWD"
expect 0 "$scute" shield audit ./sites stray "$file"
in_out '^stray stores *1 lines; it may have been libforeign.so'
in_out '^result: clean$'
expect 0 "$scute" shield run ./sites stray "$file"
[ ! -s err ] || fail "without being asked, advice is not given: $(cat err)"
expect 0 "$scute" shield run --strays report ./sites stray "$file"
in_err 'stray store'

# Stopped: the file has what was committed before, without the stray. Later stores are in
# $file.scute-unflushed.
cp sites-O2 sites
"$scute" check "$file.scute" >check.out || fail "$(cat check.out)"
cp "$file" before
expect 134 "$scute" shield run --strays stop ./sites stray "$file"
in_err 'the program is stopped before the stray store reaches the file'
cmp <(tail -c +20481 "$file" | head -c 64) <(tail -c +20481 before | head -c 64) || fail "the stray store has reached the file"
cmp -s <(head -c 6400 "$file") <(head -c 6400 before) && fail "what was committed before the stray is gone"
[ -s "$file.scute-unflushed" ] || fail "what was stored since is nowhere"
rm "$file.scute-unflushed"
for way in syncs:21505 leaves:22529; do
  cp "$file" before
  expect 2 "$scute" shield audit --strays report ./sites "${way%:*}" "$file"
  in_out '^stray stores *1 lines'
  cmp -s "$file" before && fail "${way%:*} has stored nothing"
  cp "$file" before
  expect 134 "$scute" shield run --strays stop ./sites "${way%:*}" "$file"
  cmp <(tail -c "+${way#*:}" "$file" | head -c 64) <(tail -c "+${way#*:}" before | head -c 64) || fail "${way%:*}: the stray store has reached the file"
  [ -s "$file.scute-unflushed" ] || fail "${way%:*}: what was stored since is nowhere"
  rm "$file.scute-unflushed"
done
# Killed after the flush: the supervisor examines the lines, since the program no longer can.
expect 137 "$scute" shield audit --json --strays report -- ./sites dies "$file"
sed -n '/^{/,$p' out >document
equal "$(total stray_lines)" 1
cp "$file" before
expect 137 "$scute" shield run --strays stop ./sites dies "$file"
cmp <(tail -c +23553 "$file" | head -c 64) <(tail -c +23553 before | head -c 64) || fail "dies: the stray store has reached the file"
[ -s "$file.scute-unflushed" ] || fail "dies: what was stored since is nowhere"
rm "$file.scute-unflushed"
# Loaded later: advice from then on.
expect 0 env LD_LIBRARY_PATH="$PWD" "$scute" shield audit ./sites plugs "$file"
in_out '^stray stores *1 lines; it may have been libforeign.so'
expect 0 env LD_LIBRARY_PATH="$PWD" "$scute" shield run ./sites plugs "$file"
[ ! -s err ] || fail "advice is not given unasked: $(cat err)"
# Two views of one file: each has its own places.
expect 2 "$scute" shield audit --json -- bash -c './sites forgets "$1"; ./sites twice "$1"' - "$file"
sed -n '/^{/,$p' out >document
python3 - <<'PYTHON' || fail "places of two views: $(cat document)"
import json
a, b = json.load(open('document'))['views']
assert [sum(s['unflushed_lines'] for s in v['sites']) for v in (a, b)] == [1, 0]
assert [sum(s['repeated_flushes'] for s in v['sites']) for v in (a, b)] == [0, 1]
assert len(a['lines']) == 1 and not b['lines']
PYTHON
expect 0 "$scute" shield run --strays stop ./sites clean "$file"

expect 1 "$scute" shield run --strays perhaps ./sites clean "$file"
expect 1 "$scute" shield audit --fail-on everything ./sites clean "$file"
sound "$file"
echo "every mistake stands at its place, and nothing else does"
