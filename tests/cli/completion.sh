#!/usr/bin/env bash
# Completion scripts parse, and the one for bash completes.
. "${BASH_SOURCE[0]%/*}/lib.bash"
for shell in bash zsh fish; do
  "$scute" completion "$shell" >"scute.$shell"
  [ -s "scute.$shell" ] || fail "nothing for $shell"
  if command -v "$shell" >/dev/null; then
    "$shell" -n "scute.$shell" || fail "$shell cannot parse its script"
  fi
done

. ./scute.bash
complete_words() { # WORD...: what the last one can become
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _scute
  printf '%s ' "${COMPREPLY[@]}"
}
equal "$(complete_words scute ch)" "check "
equal "$(complete_words scute kv '')" "put get del scan load count "
equal "$(complete_words scute kv l)" "load "
equal "$(complete_words scute create x.pool --prot)" "--protection "
equal "$(complete_words scute create x.pool --medium f)" "file "
equal "$(complete_words scute kv scan x.pool --re)" "--reverse "
equal "$(complete_words scute completion '')" "bash zsh fish "
touch some.pool
equal "$(complete_words scute info some)" "some.pool "
