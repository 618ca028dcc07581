# shown.bash: what the tests of the examples in docs/ share, which any page may show. Sourced.
# shellcheck source=tests/interpose/lib.bash
source "$SCUTE_SOURCE_DIR/tests/interpose/lib.bash"
PATH=$SCUTE_SOURCE_DIR/tests/support/bin:${scute%/*}:$SCUTE_BINARY_DIR/tools/pass/bin:$PATH

# The fenced block after a mark.
block() {
  local page
  page=$(grep -rlFx --include='*.md' -e "<!-- $1 -->" "$SCUTE_SOURCE_DIR/docs" | sort | head -n 1 || true)
  [ -n "$page" ] || fail "no page shows: $1"
  awk -v mark="<!-- $1 -->" '
    $0 == mark { found = 1; next }
    found && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$page"
}

# follow SOURCE NOUN WORD: runs in $pools the commands that the page shows; each does what the
# comment next to it says. Then `found` has two NOUNs, and as many WORDs as were reported, or one
# more. $last is the last command's last line.
follow() {
  local source=$1 noun=$2 word=$3 work=$PWD said=0 line command comment status there reported
  block "commands: $source" >commands
  block "example: $source" >"$pools/$source"
  [ "$(wc -l <commands)" -ge 10 ] || fail "no page shows commands of $source"
  last=
  while IFS= read -r line; do
    command=${line%%  # *} comment=
    [ "$command" = "$line" ] || comment=${line##*  # }
    status=0
    (cd "$pools" && bash -c "$command" >"$work/out" 2>"$work/err" </dev/null) || status=$?
    last=$(tail -n 1 out | tr -s " ")
    case $comment in
      "status "*) equal "$status" "${comment#status }"; said=$((said + 1)) ;;
      *) [ "$status" = 0 ] || fail "status $status: $command" ;;
    esac
    case $comment in
      [0-9]*" $noun" | "result"*) equal "$last" "$comment"; said=$((said + 1)) ;;
    esac
  done <commands
  [ "$said" -ge 5 ] || fail "the comments say little: $said"
  there=$(sed -n "s/ $noun\$//p" "$pools/found")
  reported=$(grep -c "^[0-9]* $word\$" "$pools/printed" || true)
  [ "$there" -eq $((reported + 2)) ] || [ "$there" -eq $((reported + 3)) ] || fail "$there $noun, and after the first two $reported were reported"
  equal "$last" "$((there + 1)) $noun"
}
