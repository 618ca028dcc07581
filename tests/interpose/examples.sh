#!/usr/bin/env bash
# The examples of Debian's libpmemobj-dev, unmodified, do on shielded files what they do on plain ones. Each file begins as the
# example makes it; a copy of it gets the shield; then all that follows is done to both.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bin=$PWD/bin
mkdir "$bin"
bash "$SCUTE_SOURCE_DIR/tests/interpose/examples/build.sh" "$bin" || fail "the examples do not build"
plain=$pools/plain guarded=$pools/guarded
runs=0

# begin PROGRAM ARGS...: makes $plain, and its twin.
begin() {
  rm -f "$pools"/plain* "$pools"/guarded*
  "$bin/$1" "${@:2}" <input >begin.out 2>begin.err || fail "$*: $(cat begin.err)"
  cp "$plain" "$guarded"
  "$scute" shield add "$guarded" >add.out || fail "shield add"
}

# both OPTIONS-OF-RUN... -- PROGRAM ARGS...: on $plain, and then on its twin under the shield.
both() {
  local options=() a=0 b=0
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  "$bin/$1" "${@:2}" <input >plain.out 2>plain.err || a=$?
  local words=("${@/#$plain/$guarded}")
  "$scute" shield run "${options[@]}" -- "$bin/$1" "${words[@]:1}" <input >out 2>err || b=$?
  equal "$b" "$a"
  [ "$a" -lt 128 ] || fail "$*: it crashes without the shield"
  sed "s|$guarded|$plain|g" out | diff plain.out - >&2 || fail "$*: other output"
  runs=$((runs + 1))
}

# (ctree takes no keys without values, which is what mapcli gives it.)
for map in btree rtree rbtree skiplist hashmap_tx hashmap_atomic hashmap_rp; do
  printf 'i 1000\nq\n' >input
  begin mapcli "$map" "$plain" 7
  for windows in pmemobj off; do
    awk -v seed="$map$windows" 'BEGIN {
      srand(length(seed) * 77 + 1)
      for (i = 0; i < 400; i++) {
        k = int(rand() * 150)
        d = rand()
        print (d < 0.55 ? "i " : d < 0.8 ? "r " : "c ") k
      }
      print "p"
    }' >input
    both --windows "$windows" -- mapcli "$map" "$plain"
  done
  "$scute" check "$guarded.scute" >check.out || fail "$(cat check.out)"
  "$scute" shield remove "$guarded" >remove.out || fail "shield remove"
  printf 'p\n' >input
  "$bin/mapcli" "$map" "$plain" <input >plain.out
  "$bin/mapcli" "$map" "$guarded" <input >out
  diff plain.out out || fail "$map: without the shield it holds something else"
done

: >input
begin btree "$plain" i 1 one
for k in 5 3 9 7 2; do both -- btree "$plain" i "$k" "value-$k"; done
both -- btree "$plain" p
both -- btree "$plain" f 9
both -- btree "$plain" f 10

begin lists "$plain" 1 foo 10
both -- lists "$plain" 1 foo 20
both -- lists "$plain" 2 bar 30
both -- lists "$plain" 1 foo print
both -- lists "$plain" 2 bar print

begin pi "$plain" c 2 100
both -- pi "$plain" f 2
both -- pi "$plain" c 2 2000
both -- pi "$plain" p

begin fifo "$plain" insert a
both -- fifo "$plain" insert b
both -- fifo "$plain" remove
both -- fifo "$plain" print

begin pmemblk c "$plain" 512 w:0:hello
both -- pmemblk o "$plain" 512 w:3:world r:0 r:3 z:0 r:0 n
begin pmemlog c "$plain" a:one
both -- pmemlog o "$plain" a:two v:three w n t
both -- pmemlog o "$plain" r a:four w

begin slab_allocator "$plain"
begin data_store ctree "$plain" 100
for kind in "" _tx _tx_type; do
  echo "something worth keeping" >input
  begin "string_store$kind-writer" "$plain"
  both -- "string_store$kind-reader" "$plain"
done
: >input
begin buffons_needle_problem "$plain" 1000
echo "$runs runs"
[ "$runs" -ge 38 ] || fail "only $runs runs"
