// SPDX-License-Identifier: BSD-3-Clause
// What a view notices about the program, for nothing: see file_view::counters(). With a line_watch
// that remembers what lines held (flushed_contents.hpp) it notices as well what became part of the
// file without having been made durable by the program:
//
// AUDIT-6 A line that was flushed, and differs from the file when it is unmapped or the program has
//    ended, was never fenced if nobody has fenced since: a commit set takes what any thread has
//    flushed, so a fence of any thread that waited for something is one, and so is a sync. A fence
//    that a window has put off counts when it is made, not when the window ends.
// AUDIT-7 A line was flushed too early if it holds something else, when it is unmapped or the
//    program has ended, than at its last flush, and was not synced since. It is compared then and
//    not when it is committed: whoever stores beside another one's flush may flush later himself.
//    It counts as never flushed.
// AUDIT-8 What a program has left behind when it was killed, or became another one, counts as what
//         it leaves at an end of its own.
#pragma once

#include <cstdint>

namespace scute::core::view {

struct audit_counters {
  uint64_t flushed = 0;          // lines that flush() was called for
  uint64_t flushed_twice = 0;    // of them, flushed already and not committed since
  uint64_t unchanged = 0;        // lines of commit sets that were on the medium as they were
  uint64_t fences = 0;           // fence(), the ends of outermost windows included
  uint64_t fences_idle = 0;      // of them, with nothing of the thread's pending
  uint64_t fences_deferred = 0;  // of them, in windows, or in handlers that interrupted the view
  uint64_t never_flushed = 0;    // lines that unmapping or the end had to write (SHIELD-4)
  uint64_t synced = 0;           // the same by msync and its kind, which is how one may do it
  uint64_t commit_sets = 0;      // decided
  uint64_t lines = 0;            // committed
  uint64_t rounds = 0;           // in which the lists of a commit set had grown
  uint64_t gates = 0;            // commit sets that had to keep flushes waiting (VIEW-5)
  uint64_t lists_full = 0;       // commit sets that a full list made
  uint64_t damaged = 0;          // lines that were not what their digest says (VIEW-6)
  uint64_t masked = 0;         // of never_flushed, what the sink says that nobody flushes by design
  uint64_t never_fenced = 0;   // AUDIT-6; in no other of these
  uint64_t flushed_early = 0;  // AUDIT-7: of never_flushed, and not of masked
};

// What a line is left as.
enum class left_as : uint8_t { never_flushed, flushed_early, never_fenced };

// Told of lines that count as never_flushed or never_fenced, in the order of their offsets for each
// kind. Called with the commit lock held: it may not call the view.
class audit_sink {
 public:
  audit_sink() = default;
  virtual ~audit_sink() = default;
  audit_sink(const audit_sink&) = delete;
  audit_sink& operator=(const audit_sink&) = delete;
  // True: so it is by design, and nobody's mistake.
  virtual bool left(uint64_t offset, uint32_t length, left_as how) noexcept = 0;
};

}  // namespace scute::core::view
