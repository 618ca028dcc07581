// SPDX-License-Identifier: BSD-3-Clause
// The full check of an open pool: every structure, object and column. No transaction may run.
//
// CHECK-1 Objects are checked (and repaired) before columns. A column is recomputed only when every
//    byte that a checksum vouches for is known to be right, so damaged data is never made
//    consistent. Without checksums of payloads that is never known, so such columns are reported
//    and left.
// CHECK-2 Data that was found sound may be damaged before its columns are examined. So before a
//    parity is recomputed everything with bytes in its columns is examined again. Nothing is
//    written unless the columns add up to the same as before that.
//
// On CHECK-2, found by an attack from outside: one flipped bit while a check ran, and the object
// was lost permanently.
#pragma once

#include "core/heap/heap.hpp"
#include "core/shared/state.hpp"
#include "core/tx/engine.hpp"
#include "scute/scute.h"

namespace scute::core::scrub {

struct check_options {
  bool repair = false;
  scute_finding_fn finding = nullptr;
  scute_progress_fn progress = nullptr;
  void* arg = nullptr;
  tx::engine* engine = nullptr;  // whose log is examined
};

void check(pool::state& s, heap::heap& h, const check_options& options, scute_report& report);

}  // namespace scute::core::scrub
