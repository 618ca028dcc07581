// SPDX-License-Identifier: BSD-3-Clause
// Exceptions through instrumented functions, and a header with inline assembly. The hooks have no
// red zone below them and no frame of their own to unwind.
//
// options: detect,trace
// log: store +0 8 _ZN12_GLOBAL__N_16ledger3addEl
// log: flush clwb +0 _ZN2pm10flush_lineEPKv
// log: fence sfence _ZN2pm5fenceEv
// log: store +0 8 _ZN12_GLOBAL__N_16ledger3addEl
// log: store +0 8 _ZN12_GLOBAL__N_18rollbackD2Ev
// log: flush clwb +0 _ZN2pm10flush_lineEPKv
// log: fence sfence _ZN2pm5fenceEv
// log: store +8 8 main
#include <stdexcept>

#include "persist.hpp"
#include "view.h"

namespace {

struct ledger {
  long total;

  __attribute__((noinline)) void add(long amount) {
    total += amount;  // store
    if (amount < 0) throw std::runtime_error("negative");
  }
};

class rollback {
 public:
  explicit rollback(ledger& of) : ledger_(of), before_(of.total) {}
  ~rollback() {
    if (kept_) return;
    ledger_.total = before_;  // store
    pm::persist(&ledger_);
  }
  rollback(const rollback&) = delete;
  rollback& operator=(const rollback&) = delete;
  void keep() { kept_ = true; }

 private:
  ledger& ledger_;
  long before_;
  bool kept_ = false;
};

__attribute__((noinline)) void post(ledger& to, long amount) {
  rollback undo(to);
  to.add(amount);
  pm::persist(&to);
  undo.keep();
}

}  // namespace

int main() {
  auto* book = reinterpret_cast<ledger*>(view_map());
  int caught = 0;
  post(*book, 10);
  try {
    post(*book, -3);
  } catch (const std::runtime_error&) {
    caught = 1;
  }
  *(volatile long*)(view_map() + 8) = caught;  // store
  return book->total == 10 && caught == 1 ? 0 : 1;
}
