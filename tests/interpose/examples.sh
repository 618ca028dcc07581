#!/usr/bin/env bash
# The maps of Debian's libpmemobj-dev, unmodified, do on shielded files what they do on plain ones,
# under random operations.
source "$SCUTE_SOURCE_DIR/tests/interpose/examples/lib.bash"

examples mapcli data_store kv_server

# Maps for mapcli. (ctree takes no keys without values, and mapcli gives it such keys: at the second
# one it crashes, without the shield as well. The server below and data_store try it.)
for map in btree rtree rbtree skiplist hashmap_tx hashmap_atomic hashmap_rp; do
  printf 'i 1000\nq\n' >input
  begin mapcli "$map" "$plain" 7
  for windows in pmemobj off; do
    awk -v seed=$((RANDOM * 32768 + RANDOM)) 'BEGIN {
      srand(seed)
      for (i = 0; i < 400; i++) {
        k = int(rand() * 150)
        d = rand()
        print (d < 0.55 ? "i " : d < 0.8 ? "r " : "c ") k
      }
      print "p"
    }' >input
    both --windows "$windows" -- mapcli "$map" "$plain"
  done
  printf 'p\n' >input
  alike mapcli "$map" "$plain"
done

# A map is filled, emptied and thrown away, and the next run makes a new one.
: >input
for map in ctree btree rbtree skiplist hashmap_tx hashmap_atomic hashmap_rp; do
  begin data_store "$map" "$plain" 20
  both --windows pmemobj -- data_store "$map" "$plain" $((RANDOM % 300 + 1))
  both --windows off -- data_store "$map" "$plain" $((RANDOM % 300 + 1))
  alike data_store "$map" "$plain" 10
done

# serve FILE [COMMAND...]: runs the server on FILE. It gets the requests in `asked`; its answers go
# to `answered`. Its port was free a moment ago.
serve() {
  local port server status=0
  port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
  "${@:2}" "$bin/kv_server" "$map" "$1" "$port" >served 2>err &
  server=$!
  python3 "$SCUTE_SOURCE_DIR/tests/interpose/examples/ask.py" "$port" <asked >answered 2>ask.err ||
    { kill "$server" || true; fail "kv_server $map: $(cat ask.err)"; }
  wait "$server" || status=$?
  [ "$status" = 0 ] || fail "kv_server $map: status $status"
}

# (From a hash map the server cannot remove anything: it says so, and ends.)
for map in ctree btree rtree rbtree skiplist hashmap_tx hashmap_atomic hashmap_rp; do
  rm -f "$pools"/plain* "$pools"/guarded*
  echo "INSERT first one" >asked
  serve "$plain"
  twin
  awk -v seed=$((RANDOM * 32768 + RANDOM)) -v map="$map" 'BEGIN {
    srand(seed)
    for (i = 0; i < 300; i++) {
      k = "key-" int(rand() * 60)
      d = rand()
      if (d < 0.5) print "INSERT " k " value-" int(rand() * 1000000)
      else if (d < 0.7 && map !~ /^hashmap/) print "REMOVE " k
      else print "GET " k
    }
  }' >asked
  for by in "$scute shield run --" ""; do
    serve "$plain"
    mv answered answered.plain
    read -ra words <<<"$by"
    serve "$guarded" "${words[@]}"
    cmp answered answered.plain || fail "kv_server $map: other answers"
    runs=$((runs + 1))
    # Then asks for their final contents, without the shield.
    [ -z "$by" ] || sound "$guarded"
    seq -f 'GET key-%g' 0 59 >asked
  done
done
echo "$runs runs"
[ "$runs" = 58 ] || fail "$runs runs"
