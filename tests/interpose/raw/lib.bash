# lib.bash: helpers that the tests of the programs in this folder share. Sourced. Each program is
# compiled twice: by scute-cc ($raw), and by the project's compiler ($plain), which records nothing
# of its flushes.
# shellcheck source=tests/interpose/lib.bash
source "$SCUTE_SOURCE_DIR/tests/interpose/lib.bash"

here=$SCUTE_SOURCE_DIR/tests/interpose/raw
raw=$PWD/raw plain=$programs
pass=$SCUTE_BINARY_DIR/tools/pass/bin
mkdir "$raw"
bash "$here/build.sh" "$raw" "$pass/scute-cc" "$pass/scute-c++" || fail "the programs do not build with scute-cc"

# plain_of PROGRAM: as the build tree has it.
plain_of() { echo "$plain/scute-raw-$1"; }

# make_file PROGRAM FILE: an empty one, made without the shield.
make_file() {
  rm -f "$2"*
  "$(plain_of "$1")" "$2" </dev/null || fail "$1 cannot make its file"
}

# under_shield FILE: with room to grow, and two rows of parity.
under_shield() { "$scute" shield add "$1" --capacity 8M --parity 2 >add.out 2>&1 || fail "$(cat add.out)"; }

# operations PROGRAM SEED COUNT KEYS: prints the requests to the program.
operations() {
  awk -v program="$1" -v seed="$2" -v count="$3" -v keys="$4" 'BEGIN {
    srand(seed)
    sets = program == "item_server" ? "set" : "put"
    prefix = program == "sorted_tree" ? "" : "key-"
    for (i = 0; i < 30; i++) filler = filler "as much as there is to say, and not a word more than that, "
    for (i = 1; i <= count; i++) {
      key = prefix int(rand() * keys)
      value = int(rand() * 1000000000)
      if (program == "item_server") value = value " " substr(filler, 1, 1 + int(rand() ^ 4 * 1700)) "."
      d = rand()
      print (d < 0.6 ? sets " " key " " value : d < 0.85 ? "del " key : "get " key)
    }
  }'
}

# state_of FILE COMMAND...: the structure is sound, and its keys and values go to FILE, sorted.
state_of() {
  local to=$1 status=0
  shift
  printf 'check\nlist\n' | "$@" >state.out 2>err || status=$?
  [ "$status" = 0 ] || fail "$*: status $status: $(head -n 3 state.out)"
  head -n 1 state.out | grep -q '^sound, ' || fail "$*: $(head -n 1 state.out)"
  sed 1d state.out | sort >"$to"
  equal "$(head -n 1 state.out | tr -dc 0-9)" "$(wc -l <"$to")"
}

# shielded_state FILE PROGRAM SHIELDED-FILE
shielded_state() { state_of "$1" "$scute" shield run -- "$raw/$2" "$3"; }

# whole FILE: the file is sound, or its damage is repaired.
whole() {
  checked "0 2" "$1" --repair
  checked 0 "$1"
}

# model WORKERS: `before`, `operations` and `answers` permit `found`. 0: a program that is one
# worker.
model() {
  local more=()
  [ "$1" = 0 ] || more=(--workers "$1")
  python3 "$here/model.py" before operations answers found "${more[@]}" >model.out 2>&1 || fail "$(cat model.out)"
}
