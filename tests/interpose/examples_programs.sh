#!/usr/bin/env bash
# The examples of Debian's libpmemobj-dev that are no maps, unmodified, do on shielded files what
# they do on plain ones, under random operations. (Not pmemobjfs: examples/build.sh.)
source "$SCUTE_SOURCE_DIR/tests/interpose/examples/lib.bash"

examples
steps=10
# below N: a random number, in $number. (A function in $( ) would have the same ones every time.)
below() { number=$((RANDOM % $1)); }

begin btree "$plain" i 50 fifty
for _ in $(seq $steps); do
  below 100
  case $((RANDOM % 4)) in
    0) both -- btree "$plain" p ;;
    1) both -- btree "$plain" f "$number" ;;
    *) both -- btree "$plain" i "$number" "value-$RANDOM" ;;
  esac
done
alike btree "$plain" p

begin lists "$plain" 1 foo 10
for _ in $(seq $steps); do
  below 3
  kind=foo
  [ $((RANDOM % 2)) = 0 ] || kind=bar
  if [ $((RANDOM % 4)) = 0 ]; then what=print; else what=$RANDOM; fi
  both -- lists "$plain" "$number" "$kind" "$what"
done
sound "$guarded"
for kind in foo bar; do
  for number in 0 1 2; do compared -- lists "$plain" "$number" "$kind" print; done
done

# Its threads may end in any order.
begin pi "$plain" c 2 100
for _ in $(seq $steps); do
  case $((RANDOM % 3)) in
    0) both -- pi "$plain" p ;;
    1) both -- pi "$plain" f ;;
    *) both -- pi "$plain" c $((RANDOM % 4 + 1)) $((RANDOM % 3000 + 4)) ;;
  esac
done
alike pi "$plain" p

begin fifo "$plain" insert a
for _ in $(seq $steps); do
  case $((RANDOM % 4)) in
    0) both -- fifo "$plain" remove ;;
    1) both -- fifo "$plain" print ;;
    *) both -- fifo "$plain" insert "$(printf "\\$(printf %o $((RANDOM % 26 + 97)))")" ;;
  esac
done
alike fifo "$plain" print

begin make_pool "$plain" queue
both -- queue "$plain" show
both -- queue "$plain" new 4
for _ in $(seq $steps); do
  case $((RANDOM % 5)) in
    0) both -- queue "$plain" show ;;
    1) both -- queue "$plain" dequeue ;;
    *) both -- queue "$plain" enqueue "entry-$RANDOM" ;;
  esac
done
alike queue "$plain" show

# key: one of 52, in $key. (The example's tree asserts when a node's fourth child is its last one.
# So the first keys come from the end of the alphabet, until their node has room for 48.)
letters=zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA
key() { key=${letters:RANDOM % 52:1}-key; }
for i in $(seq 0 19); do printf '%s\n%s\n' "${letters:i:1}-key" "value-$RANDOM"; done >input
begin arttree -m f -n 20 "$plain"
for _ in $(seq 30); do key; printf '%s\n%s\n' "$key" "value-$RANDOM"; done >input
both -- arttree -m f -n 30 "$plain"
: >input
for _ in $(seq $steps); do
  key
  case $((RANDOM % 4)) in
    0) both -- arttree -m s "$key" "$plain" ;;
    1) both -- arttree -m r "$key" "$plain" ;;
    *) both -- arttree -m i "$key:value-$RANDOM" "$plain" ;;
  esac
done
both -- arttree -m g "$plain"
node=$(sed -n 's/^N\([0-9a-f]*\) \[label="node.*/0x\1/p' out | head -n 1)
[ -n "$node" ] || fail "the tree has no node"
both -- examine_arttree "$plain" info
both -- examine_arttree "$plain" examine "$node" art_node_u
alike arttree -m d "$plain"

# words PROGRAM: some of its operations, in words=().
words() {
  words=()
  for _ in $(seq 20); do
    below 40
    case $1 in
      pmemblk)
        case $((RANDOM % 6)) in
          0 | 1) words+=("r:$number") ;;
          2) words+=("z:$number") ;;
          *) words+=("w:$number:block-$RANDOM") ;;
        esac ;;
      *)
        case $((RANDOM % 12)) in
          0) words+=(r) ;;
          1 | 2) words+=(w) ;;
          3) words+=(n t) ;;
          4 | 5) words+=("v:part-$RANDOM") ;;
          *) words+=("a:line-$RANDOM") ;;
        esac ;;
    esac
  done
}
for kind in "" _macros _minimal _simple; do
  begin "pmemlog$kind" c "$plain" a:one
  for _ in 1 2; do
    words pmemlog
    both -- "pmemlog$kind" o "$plain" "${words[@]}" w n t
  done
  alike "pmemlog$kind" o "$plain" w n t
done
begin pmemblk c "$plain" 512 w:0:hello
for _ in 1 2; do
  words pmemblk
  both -- pmemblk o "$plain" 512 "${words[@]}" n
done
both -- pmemblk o "$plain" 512 e:3 r:3 w:3:again r:3
read -ra words < <(seq -f r:%g -s " " 0 39)
alike pmemblk o "$plain" 512 "${words[@]}" n

begin slab_allocator "$plain"
both -- slab_allocator "$plain"
alike slab_allocator "$plain"

# A writer makes its pool, and does not find one.
for kind in "" _tx _tx_type; do
  echo "words-$RANDOM" >input
  begin "string_store$kind-writer" "$plain"
  both -- "string_store$kind-reader" "$plain"
  both -- "string_store$kind-writer" "$plain"
  alike "string_store$kind-reader" "$plain"
done
: >input

begin buffons_needle_problem "$plain" 100
both -- buffons_needle_problem "$plain" $((RANDOM % 1000 + 1))
alike buffons_needle_problem "$plain"

# Games. A file holds the typed keys, and the game's drawing goes to another one.
export TERM=xterm LINES=40 COLUMNS=80
for game in pminvaders pminvaders2; do
  echo " q" >input
  begin "$game" "$plain"
  for _ in 1 2; do
    awk -v seed=$RANDOM 'BEGIN {
      srand(seed)
      printf " "
      for (i = 0; i < 1500; i++) printf "%s", substr("oopp ....", int(rand() * 9) + 1, 1)
      printf "q"
    }' >input
    both -- "$game" "$plain"
  done
  alike "$game" "$plain"
done
: >input

# Two programs contain the name of their pool: the first creates it if it does not exist, the other
# one ends if it does. Under the shield, the pool is created as any file is, and then shielded. On
# the disk, since one has 1 GiB.
for program in setjmp manpage; do
  mkdir a b
  for time in first second; do
    a=0 b=0
    (cd a && "$bin/$program") >plain.out 2>plain.err || a=$?
    (cd b && "$scute" shield run -- "$bin/$program") >out 2>err || b=$?
    [ "$a" = "$b" ] && [ "$a" -lt 128 ] || fail "$program, the $time time: status $b instead of $a"
    diff plain.out out >&2 && diff plain.err err >&2 || fail "$program, the $time time: other output"
    [ "$time" = second ] || "$scute" shield add b/myfile -q >add.out || fail "shield add"
    runs=$((runs + 1))
  done
  equal "$(stat -c %s a/myfile)" "$(stat -c %s b/myfile)"
  "$scute" check b/myfile.scute >check.out || fail "$(cat check.out)"
  rm -r a b
done
echo "$runs runs"
[ "$runs" = 116 ] || fail "$runs runs"
