// SPDX-License-Identifier: BSD-3-Clause
// What a view observes about its program at no extra cost: see file_view::counters(). With a
// line_watch that remembers the contents of lines (flushed_contents.hpp) the view also notices
// bytes that became part of the file although the program never made them durable:
//
// AUDIT-6 A line counts as never fenced if it was flushed, no thread has fenced since, and it
//    differs from the file when it is unmapped or the program ends. A fence of any thread that
//    waited for something counts, since a commit set takes what all threads have flushed; so does a
//    sync. A fence that a window defers counts when it is made, not when the window ends.
// AUDIT-7 A line was flushed too early if its contents at unmapping or at the program's end differ
//    from those at its last flush, and it was not synced since. It counts as never flushed. The
//    comparison is made then, not at the commit: a thread that stores next to another thread's
//    flush may still flush later itself.
// AUDIT-8 If a program is killed, or replaces itself by exec, the lines that it leaves count like
//    those that it leaves at a regular end.
#pragma once

#include <cstdint>

namespace scute::core::view {

struct audit_counters {
  uint64_t flushed = 0;          // lines that flush() was called for
  uint64_t flushed_twice = 0;    // of them, flushed already and not committed since
  uint64_t unchanged = 0;        // lines of commit sets that equalled the medium
  uint64_t fences = 0;           // fence(), the ends of outermost windows included
  uint64_t fences_idle = 0;      // of them, with nothing of the thread's pending
  uint64_t fences_deferred = 0;  // of them, in windows, or in handlers that interrupted the view
  uint64_t never_flushed = 0;    // lines that unmapping or the end had to write (SHIELD-4)
  uint64_t synced = 0;           // lines that msync and its kind had to write, which is legitimate
  uint64_t commit_sets = 0;      // decided
  uint64_t lines = 0;            // committed
  uint64_t rounds = 0;           // passes in which the lists of a commit set had grown
  uint64_t gates = 0;            // commit sets that had to keep flushes waiting (VIEW-5)
  uint64_t lists_full = 0;       // commit sets that a full list made
  uint64_t damaged = 0;          // lines that did not match their digest (VIEW-6)
  uint64_t masked = 0;           // of never_flushed: left unflushed by design, says the sink
  uint64_t never_fenced = 0;     // AUDIT-6; in no other counter
  uint64_t flushed_early = 0;    // AUDIT-7: of never_flushed, and not of masked
};

// How the program has left a line.
enum class left_as : uint8_t { never_flushed, flushed_early, never_fenced };

// Receives the lines that count as never_flushed or never_fenced, each kind in the order of
// offsets. The view calls it with the commit lock held: it must not call the view.
class audit_sink {
 public:
  audit_sink() = default;
  virtual ~audit_sink() = default;
  audit_sink(const audit_sink&) = delete;
  audit_sink& operator=(const audit_sink&) = delete;
  // Returns true if the line is left so by design, and not by a mistake.
  virtual bool left(uint64_t offset, uint32_t length, left_as how) noexcept = 0;
};

}  // namespace scute::core::view
