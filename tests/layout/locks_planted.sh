#!/usr/bin/env bash
# locks_planted.sh LOCKS_SH SOURCE_DIR CLANG
# locks.sh can fail: each way to break a contract is found, and a file that breaks none is not
# blamed.
set -euo pipefail
mkdir -p tree/{include,src}
ln -s "$2/src/base" tree/include/base

# planted NAME EXPECTED BODY: a class with a lock of each kind, and one more member function.
planted() {
  cat >tree/src/a.cpp <<CODE
#include "base/locks/lock.hpp"
#include "base/locks/spin_lock.hpp"
#include "base/locks/waiting.hpp"
using namespace scute::core;
template <typename Lock>
class counter {
 public:
  int get() { const locked hold(lock_); return n_; }
  void add() SCUTE_REQUIRES(lock_) { ++n_; }
  void add_some() SCUTE_EXCLUDES(lock_) { const locked hold(lock_); add(); }
  void wrong() { $3 }

 private:
  Lock lock_;
  int n_ SCUTE_GUARDED_BY(lock_) = 0;
};
template class counter<plain_mutex>;
template class counter<waiting_mutex>;
template class counter<spin_lock>;
CODE
  local output status=0
  output=$(bash "$locks" tree "$clang" 2>&1) || status=$?
  if [ -z "$2" ]; then
    [ "$status" = 0 ] || { printf 'blamed for nothing: %s\n%s\n' "$1" "$output"; exit 1; }
  elif [ "$status" = 0 ]; then
    echo "not found: $1"
    exit 1
  else
    grep -Eq "$2" <<<"$output" || { printf 'not named: %s\n%s\n' "$1" "$output"; exit 1; }
  fi
}

locks=$1 clang=$3
planted "nothing wrong" "" "add_some();"
planted "data without its lock" "variable 'n_' requires holding" "++n_;"
planted "a function without its lock" "function 'add' requires holding" "add();"
planted "a lock that is taken twice" "while .* is held" "const locked hold(lock_); add_some();"
planted "a lock that is not given back" "still held at the end" "lock_.lock();"
planted "a lock that no thread has" "that was not held" "lock_.unlock();"
echo "layout: broken lock contracts are found"
