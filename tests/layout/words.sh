#!/usr/bin/env bash
# words.sh SOURCE_DIR
# Holds the names of the core to the glossary of docs/internals/architecture.md, and prints every
# violation as "where: what":
#   1. a word of tests/layout/words.txt is an entry of the glossary
#   2. a type of src/ or include/, or a function that a header there declares, has the word as a
#      part of its name only in the files that words.txt lists; each of these declares such a name.
#      So a word gets no second meaning unnoticed
#      A word with a minus before it is a former name, with the term that stands for it now: no such
#      name has it as a part, except in the files that follow, which use it in its everyday meaning
#   3. the rooms of the core declare nothing outside of namespace scute::core
#   4. integer types have one spelling everywhere, the one that C has as well: uint64_t, size_t
# Parts of a name are what underscores divide; "settled", "settles" and "settling" count as
# "settle".
set -euo pipefail
export LC_ALL=C

root=$1

rooms="base codec core pow shield/sidecar c_api"
list=tests/layout/words.txt
glossary=docs/internals/architecture.md

cd "$root"
temp=$(mktemp -d "${TMPDIR:-/tmp}/scute-words.XXXXXX")
trap 'rm -rf "$temp"' EXIT
violations=$temp/violations
: >"$violations"

[ -f "$list" ] || { echo "$list is missing"; exit 1; }
[ -f "$glossary" ] || { echo "$glossary is missing"; exit 1; }
present=()
for room in $rooms; do [ ! -d "src/$room" ] || present+=("src/$room"); done
[ ${#present[@]} -gt 0 ] || { echo "no rooms in $root/src"; exit 1; }
roots=(src)
[ ! -d include ] || roots+=(include)
find "${roots[@]}" -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.cpp' \) | sort >"$temp/files"
[ -s "$temp/files" ] || { echo "no sources in $root/src"; exit 1; }

# The declared names: "file name". A variable that is made with parentheses looks like a function,
# so that guards of locks are left out by their types.
xargs -d '\n' awk '
  {
    line = $0
    sub(/\/\/.*/, "", line)
    sub(/^[ \t]*([A-Z_]+ |\[\[[^\]]*\]\] )+/, "", line)
    if (match(line, /(^|[ \t])(struct|class|enum class|enum) +(alignas\([0-9]+\) +)?[a-z_][a-z0-9_]*( final)? *(\{|:[^:])/)) {
      name = substr(line, RSTART, RLENGTH)
      sub(/( final)? *(\{|:.)$/, "", name)
      sub(/.*[ \t]/, "", name)
      print FILENAME, name
    }
    if (FILENAME !~ /cpp$/ && line !~ /lock_guard|unique_lock|scoped_lock|locked|return|[=<] *$/ &&
        match(line, /^[ \t]*[a-z_][a-z0-9_:<>,&* \t]*[ \t&*]~?[a-z_][a-z0-9_]*\(/)) {
      name = substr(line, RSTART, RLENGTH - 1)
      sub(/.*[ \t&*~]/, "", name)
      print FILENAME, name
    }
  }' <"$temp/files" | sed 's|^src/||' | sort -u >"$temp/names"

# 1 and 2.
words=0
while read -r word files; do
  [[ -n $word && $word != \#* ]] || continue
  word=${word%:}
  former=
  [[ $word != -* ]] || { read -r former files <<<"$files"; word=${word#-}; }
  if [ -z "$former" ]; then
    words=$((words + 1))
    grep -Eq "^\| ([a-z -]+, )*$word(,| \|)" "$glossary" ||
      echo "$glossary: no entry for \"$word\", which $list lists" >>"$violations"
  fi
  stem=${word%e}
  awk -v word="$word" -v stem="$stem" '
    {
      n = split($2, part, "_")
      for (i = 1; i <= n; ++i)
        if (part[i] == word || part[i] == word "s" || part[i] == stem "ed" || part[i] == stem "ing") {
          print $1, $2
          break
        }
    }' "$temp/names" >"$temp/uses"
  for file in $files; do
    grep -q "^$file " "$temp/uses" ||
      echo "$list: $file declares no name with \"$word\"" >>"$violations"
  done
  while read -r file name; do
    place=src/$file
    [[ $file != include/* ]] || place=$file
    [[ " $files " != *" $file "* ]] || continue
    if [ -n "$former" ]; then
      echo "$place: \"$name\" uses \"$word\", a former name: say $former"
    else
      echo "$place: \"$name\" uses \"$word\" in another meaning than the glossary's, or $list lacks the file"
    fi >>"$violations"
  done <"$temp/uses"
done <"$list"
[ "$words" -gt 0 ] || echo "$list: no words" >>"$violations"

# 3.
grep -rnE '^namespace scute\b' "${present[@]}" | grep -vE 'namespace scute::core\b' |
  sed -E 's|^([^:]+):([0-9]+):.*|\1:\2: opens a namespace outside of scute::core|' >>"$violations" || true

# 4.
all=()
for dir in include src tools tests fuzz bench examples workloads; do [ ! -d "$dir" ] || all+=("$dir"); done
grep -rnoE '\bstd::(u?int(_fast|_least)?(8|16|32|64)|u?intptr|size|ptrdiff)_t\b' "${all[@]}" \
  --include='*.hpp' --include='*.cpp' --include='*.h' --include='*.inc' |
  sed -E 's|^([^:]+:[0-9]+):(.*)$|\1: \2; without std:: everywhere else|' >>"$violations" || true

if [ -s "$violations" ]; then
  sort "$violations"
  exit 1
fi
echo "words: $words of the glossary are used in one meaning"
