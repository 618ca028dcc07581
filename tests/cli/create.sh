#!/usr/bin/env bash
# scute create, scute info.
. "${BASH_SOURCE[0]%/*}/lib.bash"
pool=$pools/a.pool

expect 0 "$scute" create "$pool" --size 8M --layout orders --mode 0640
in_out '^pool  *'
in_out '^layout  *orders'
in_out '^size  *8.0 MiB (8388608 bytes)'
in_out '^overhead .*%'
equal "$(stat -c %s "$pool")" 8388608
equal "$(stat -c %a "$pool")" 640

# Never over an existing file, except a pool with --overwrite.
expect 1 "$scute" create "$pool" --size 8M
one_error_line
expect 0 "$scute" create "$pool" --size 4M --overwrite
equal "$(stat -c %s "$pool")" 4194304
echo precious >"$pools/text"
expect 1 "$scute" create "$pools/text" --size 4M --overwrite
equal "$(cat "$pools/text")" precious

# Every option, and JSON.
expect 0 "$scute" create "$pools/b.pool" --size 16M --protection mlp --checksum adler32 --rows 8 \
  --lanes 3 --chunk-size 32K --engine redo --parity 1 --preallocate --json
valid_json
equal "$(json protection)" mlp
equal "$(json checksum)" adler32
equal "$(json rows)" 8
equal "$(json parity)" 1
equal "$(json lanes)" 3
equal "$(json chunk_size)" 32768

# The engine: chosen by the protection level, or by name where that is possible.
for level in none ml mlp mlpc; do
  expect 0 "$scute" create "$pools/g.pool" --size 1M --overwrite --protection $level --json
  equal "$(json engine)" "$([ $level = mlpc ] && echo logfree || echo redo)"
done
expect 0 "$scute" create "$pools/g.pool" --size 1M --overwrite --engine auto
in_out '^engine  *logfree (straight to its place; the parity is the undo log)'
expect 0 "$scute" create "$pools/g.pool" --size 1M --overwrite --engine redo
in_out '^engine  *redo (log, then in place)'
expect 0 "$scute" info "$pools/g.pool" --json
equal "$(json engine)" redo
equal "$(json unresolved)" 0
expect 0 "$scute" create "$pools/g.pool" --size 1M --overwrite --engine logfree --json
equal "$(json engine)" logfree
for level in none ml mlp; do
  expect 1 "$scute" create "$pools/h.pool" --size 1M --engine logfree --protection $level
  one_error_line
  in_err 'choose protection mlpc, or engine redo'
  [ ! -e "$pools/h.pool" ] || fail "a refused pool was left"
done
expect 0 env SCUTE_ENGINE=redo "$scute" create "$pools/h.pool" --size 1M --json
equal "$(json engine)" redo

# The environment has the same names; flags win.
expect 0 env SCUTE_SIZE=8M SCUTE_ROWS=4 "$scute" create "$pools/c.pool" --rows 5 --json
equal "$(json size)" 8388608
equal "$(json rows)" 5
expect 1 env SCUTE_ROWS=many "$scute" create "$pools/d.pool"
in_err '^scute: environment: '

for wrong in "--size 1K" "--size lots" "--protection all" "--rows 1001" "--lanes 0x" "--medium tape" \
  "--chunk-size 17K" "--parity 9" "--engine log-free"; do
  # shellcheck disable=SC2086
  expect 1 "$scute" create "$pools/e.pool" $wrong
  one_error_line
  [ ! -e "$pools/e.pool" ] || fail "$wrong left a file"
done
expect 1 "$scute" create "$pools/none/f.pool"
one_error_line

# An error about an empty path names the path.
for command in create info "kv count"; do
  # shellcheck disable=SC2086
  expect 1 "$scute" $command ""
  in_err 'PATH: the path is empty'
done

# Symbolic links (FILE-4): a creation replaces the pool that a link leads to. Each command
# reports a link that leads nowhere as one.
mkdir "$pools/elsewhere"
expect 0 "$scute" create "$pools/elsewhere/real.pool" --size 1M
ln -s elsewhere/real.pool "$pools/link"
ln -s "$pools/link" "$pools/link2"
expect 1 "$scute" create "$pools/link2" --size 1M
in_err 'this file exists already'
old=$(cksum <"$pools/elsewhere/real.pool")
expect 0 "$scute" create "$pools/link2" --size 2M --overwrite
[ -L "$pools/link" ] && [ -L "$pools/link2" ] || fail "a link was replaced"
[ ! -L "$pools/elsewhere/real.pool" ] || fail "the pool became a link"
equal "$(stat -c %s "$pools/elsewhere/real.pool")" 2097152
[ "$(cksum <"$pools/elsewhere/real.pool")" != "$old" ] || fail "the pool was not replaced"
expect 0 "$scute" info "$pools/link2"
echo text >"$pools/elsewhere/text"
ln -s elsewhere/text "$pools/to-text"
expect 1 "$scute" create "$pools/to-text" --size 1M --overwrite
equal "$(cat "$pools/elsewhere/text")" text
# A killed replacement leaves its file next to the pool itself.
: >"$pools/elsewhere/real.pool.scute-new"
expect 0 "$scute" kv put "$pools/link2" k v
[ ! -e "$pools/elsewhere/real.pool.scute-new" ] || fail "a leftover stayed"
ln -s gone/none.pool "$pools/dangling"
ln -s loop "$pools/loop"
for link in dangling loop; do
  for command in create "create --overwrite" info "kv count"; do
    # shellcheck disable=SC2086
    expect 1 "$scute" $command "$pools/$link"
    one_error_line
    in_err "^scute: $pools/$link: this file is a symbolic link to .*, where there is no file; correct or remove"
    [ -L "$pools/$link" ] || fail "the link is gone"
  done
done

# A limit on the size of files is no reason to die by a signal.
expect 6 bash -c 'ulimit -f 1024; exec "$0" "$@"' "$scute" create "$pools/limited.pool" --size 8M
one_error_line
in_err '1048576 bytes only; raise that limit'
[ ! -e "$pools/limited.pool" ] || fail "a file was left"

# info does not touch the file.
before=$(cksum <"$pools/b.pool")
expect 0 "$scute" info "$pools/b.pool"
in_out '^protection  *mlp '
in_out '^last session  *closed properly'
in_out '^repair  *any 1 damaged of 9 rows'
expect 0 "$scute" info "$pools/b.pool" --json
valid_json
equal "$(json clean)" true
equal "$(json repaired)" 0
equal "$(cksum <"$pools/b.pool")" "$before"
expect 7 "$scute" info "$pools/b.pool" --layout other
one_error_line

# Quiet is quiet, except for errors and JSON.
for flag in -q --quiet; do
  rm -f "$pools/quiet.pool"
  expect 0 "$scute" create "$pools/quiet.pool" --size 1M $flag
  silent
  [ ! -s out ] || fail "quiet, and prints: $(cat out)"
  expect 1 "$scute" create "$pools/quiet.pool" --size 1M $flag
  one_error_line
done
expect 0 "$scute" create "$pools/quiet.pool" --size 1M -q --overwrite --json
valid_json

# A pool that its file system has no room for is made, being sparse, and that is said.
room=$(($(stat -f -c '%a * %S' "$pools")))
expect 0 "$scute" create "$pools/large.pool" --size $((room / 4096 * 4096 + (64 << 20))) --engine redo
in_err 'the file system has .* free, which is less than this pool of .* may use'
equal "$(wc -l <err)" 1
rm "$pools/large.pool"
expect 0 "$scute" create "$pools/large.pool" --size 1M
silent
# Also by a load that makes it.
printf 'a\t1\n' >one.tsv
load=("$scute" kv load "$pools/loaded.pool" one.tsv --create --engine redo)
expect 0 "${load[@]}" --size $((room / 4096 * 4096 + (64 << 20)))
in_err 'the file system has .* free, which is less than this pool of .* may use'
rm "$pools/loaded.pool"
expect 0 "${load[@]}" --size 1M
! grep -q 'free, which' err || fail "it warns of too little room"

# Names of any length: it works, or the message says how long a name may be; nothing is left of what
# failed.
mkdir "$pools/names"
for length in 200 231 232 237 238 245 246 251 252 255 256; do
  name=$pools/names/$(head -c $length /dev/zero | tr '\0' n)
  for engine in redo spec; do
    for again in "" --overwrite; do
      status=0
      "$scute" create "$name" --size 1M --engine $engine --medium file -q $again >out 2>err || status=$?
      [ $status != 0 ] || { "$scute" check "$name" >/dev/null || fail "$length: not sound"; continue; }
      [ $length -gt 231 ] || fail "a name of $length bytes: $(cat err)"
      in_err 'choose a name of at most 231 bytes'
      [ -n "$again" ] || [ -z "$(ls "$pools/names")" ] || fail "$length, $engine: left: $(ls "$pools/names")"
    done
    rm -f "$pools/names"/*
  done
  [ $length -lt 256 ] || continue
  echo content >"$name"
  for command in add adopt remove; do
    status=0
    "$scute" shield $command "$name" $([ $command = remove ] || echo --engine spec --medium file) -q >out 2>err || status=$?
    [ $status = 0 ] || [ $length -gt 231 ] || fail "shield $command, a name of $length bytes: $(cat err)"
  done
  equal "$(ls "$pools/names" | wc -l)" 1
  rm -f "$pools/names"/*
done
