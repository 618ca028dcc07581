// SPDX-License-Identifier: BSD-3-Clause
// What a view notices about the program, for nothing: see file_view::counters().
#pragma once

#include <cstdint>

namespace scute::core::view {

struct audit_counters {
  uint64_t flushed = 0;          // lines that flush() was called for
  uint64_t flushed_twice = 0;    // of them, flushed already and not cut since
  uint64_t unchanged = 0;        // lines of cuts that were on the medium as they were
  uint64_t fences = 0;           // fence(), the ends of outermost windows included
  uint64_t fences_idle = 0;      // of them, with nothing of the thread's pending
  uint64_t fences_deferred = 0;  // of them, in windows, or in handlers that interrupted the view
  uint64_t never_flushed = 0;    // lines that unmapping or the end had to write (SHIELD-4)
  uint64_t synced = 0;           // the same by msync and its kind, which is how one may do it
  uint64_t cuts = 0;             // decided
  uint64_t lines = 0;            // committed
  uint64_t rounds = 0;           // in which the lists of a cut had grown
  uint64_t gates = 0;            // cuts that had to keep flushes waiting (VIEW-5)
  uint64_t lists_full = 0;       // cuts that a full list made
  uint64_t damaged = 0;          // lines that were not what their digest says (VIEW-6)
};

// Told of lines that count as never_flushed, in the order of their offsets. Called with the cut lock held: it may
// not call the view.
class audit_sink {
 public:
  audit_sink() = default;
  virtual ~audit_sink() = default;
  audit_sink(const audit_sink&) = delete;
  audit_sink& operator=(const audit_sink&) = delete;
  virtual void never_flushed(uint64_t offset, uint32_t length) noexcept = 0;
};

}  // namespace scute::core::view
