#!/usr/bin/env bash
# docs/reference/scute.1.md and the command agree: what --help lists is in the manual, and what the
# manual lists exists.
. "${BASH_SOURCE[0]%/*}/lib.bash"
manual=$SCUTE_SOURCE_DIR/docs/reference/scute.1.md

commands_of() { # COMMAND...: its subcommands
  "$scute" "$@" --help | awk '/^Subcommands:/ { on = 1; next } /^[^ ]/ { on = 0 } on && NF { print $1 }'
}
commands=()
add_commands() { # NAME...: those below it, or itself
  local below name
  mapfile -t below < <(commands_of "$@")
  if [ ${#below[@]} = 0 ]; then commands+=("$*"); return; fi
  for name in "${below[@]}"; do add_commands "$@" "$name"; done
}
add_commands
[ ${#commands[@]} -ge 27 ] || fail "only ${#commands[@]} commands: ${commands[*]}"

# Each command is in the synopsis and has a section; nothing else has.
sed -n '/^## SYNOPSIS/,/^## DESCRIPTION/p' "$manual" >synopsis
for command in "${commands[@]}"; do
  grep -q "^scute $command\( \|$\)" synopsis || fail "the synopsis lacks '$command'"
  grep -q "^### scute $command\( \|$\)" "$manual" || fail "no section about '$command'"
done
while read -r _ name more last _; do
  [ "$name" != kv ] && [ "$name" != shield ] || name="$name $more"
  if [ "$name" = pow ]; then name="pow $more"; [ "$more" != kv ] || name="pow kv $last"; fi
  [[ " ${commands[*]/%/,}" == *" $name,"* ]] || fail "the manual has '$name', the command has not"
done < <(sed -n 's/^### \(scute \)/\1/p' "$manual"; grep '^scute ' synopsis)

# Each option is in the manual with the values that it takes, and each of the manual's exists.
for command in "${commands[@]}"; do
  # shellcheck disable=SC2086
  "$scute" $command --help | sed -n '/^Options:/,/^[A-Z][a-z]*:$/p; /^Pool options:/,/^$/p; /^File options:/,/^$/p' |
    sed -n 's/^  \(-q,\)\{0,1\}\(--[a-z-]*\)\( [^ ]*|[^ ]*\)\{0,1\}.*/\2\3/p' |
    while read -r option values; do
      grep -q -e "$option\b" "$manual" || fail "the manual lacks '$option' of '$command'"
      [ -z "$values" ] || [[ $option == --region || $option == --kind || $option == --format ]] ||
        grep -q -F -e "$option $values" "$manual" || fail "the manual lacks '$option $values' of '$command'"
      echo "$option"
    done
done | sort -u >options
[ "$(wc -l <options)" -gt 35 ] || fail "only $(wc -l <options) options"
echo --help >>options
while read -r option; do
  grep -qx -e "$option" options || fail "the manual has '$option', no command has"
done < <(sed 's/<[^>]*>//g' "$manual" | grep -o -e '--[a-z][a-z-]*' | sort -u)

# Statuses, and the limits that it states.
for code in $("$scute" --help | sed -n '/^Exit status:/,/^$/s/^ *\([0-9][0-9]*\)  .*/\1/p'); do
  sed -n '/^## EXIT STATUS/,/^## ENV/p' "$manual" | grep -q "^| \(130, \)\{0,1\}$code[ ,]" ||
    fail "the manual lacks status $code"
done
smallest=$(sed -n 's/^: Size of the file (default 64M, at least \([0-9A-Z]*\))\./\1/p' "$manual")
expect 0 "$scute" create "$pools/smallest.pool" --size "$smallest"
expect 1 "$scute" create "$pools/smaller.pool" --size "$((${smallest%K} - 4))K"
[ ! -e "$pools/smaller.pool" ] || fail "there is a file"
for engine in auto redo logfree spec; do
  expect 0 "$scute" create "$pools/$engine.pool" --size 1M --engine $engine
done
