// SPDX-License-Identifier: BSD-3-Clause
// Persistent memory with a write queue in front that a power failure does not lose (ADR). A line is
// durable when the queue has accepted it.
//
// PMEM-1 The queue accepts in the order of arrival. A full queue makes the next line wait until a
//    line of it begins to be written to its bank.
// PMEM-2 A line that is in the queue and not being written takes a newer version of itself without
//        another write.
// PMEM-3 A bank does one thing at a time. A read goes before the writes that have not begun.
// PMEM-4 Versions of a line become durable in the order in which they were sent, and a read of it
//        comes after them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "machine/settings.hpp"
#include "machine/ticks.hpp"

namespace scute::sim {

class persistent_memory {
 public:
  explicit persistent_memory(const settings& s);

  // A line sent at that time, from the last cache on; when it is durable.
  ticks write(uint64_t line, ticks at);
  // When the line is at the last cache.
  ticks read(uint64_t line, ticks at);

  // When the line's last version is durable, if it is one of the last that were sent; otherwise 0:
  // it has been for long.
  ticks on_the_way(uint64_t line) const noexcept {
    ticks last = 0;
    for (const sent& l : last_)
      if (l.line == line) last = latest(last, l.accepted);
    return last;
  }

  // Work of an engine that runs concurrently with the cores. It writes lines one after the other,
  // each when the one before has been accepted, so that it shares the queue with all other writers.
  // In a burst, it writes as fast as the queue accepts when it is empty.
  struct job {
    uint64_t first;          // line
    unsigned lines;          // left
    bool reads = false;      // each from elsewhere first: one more read of the bank of that line
    uint64_t read_from = 0;  // line
    bool burst = false;      // does not wait for one line before it sends the next
    // Where to put the time at which the last line was accepted, if anywhere.
    ticks* done = nullptr;
  };
  // Not before that time. done must stay until it is set.
  void begin(const job& j, ticks at);
  // Does what jobs do up to that time.
  void run_jobs(ticks until);
  // Does all of them now; when the last line was accepted.
  ticks finish_jobs(ticks at);

  struct counts {
    uint64_t lines = 0;   // accepted
    uint64_t writes = 0;  // of banks: less than lines where the queue joins them
    uint64_t reads = 0;
    ticks waited = 0;  // of all lines, for room in the queue
  };
  const counts& counted() const noexcept { return counts_; }

 private:
  struct entry {
    uint64_t line;
    ticks issue;  // to the bank
    ticks accepted;
    unsigned bank;
  };

  struct sent {
    uint64_t line = UINT64_MAX;
    ticks accepted = 0;
  };

  ticks remember(uint64_t line, ticks accepted) noexcept {
    last_[next_last_++ % last_.size()] = {line, accepted};
    return accepted;
  }
  unsigned bank_of(uint64_t line) const noexcept {
    return static_cast<unsigned>(line / lines_of_row_ % running_.size());
  }
  void settle(ticks now);
  ticks accept(uint64_t line, ticks at);
  // Recomputes the times of a bank's waiting writes.
  void plan(unsigned bank, ticks from);

  uint64_t lines_of_row_;
  size_t capacity_;
  ticks read_, write_, accept_, link_, burst_, burst_write_;
  ticks bus_ = 0, bus_write_ = 0;  // free from then on
  bool merge_;
  std::vector<entry> queue_;    // in the order of arrival
  std::vector<ticks> running_;  // by bank: until when what has begun takes
  std::vector<ticks> free_;     // by bank: until when all that is planned takes
  std::vector<ticks> order_;    // scratch
  std::array<sent, 64> last_;
  size_t next_last_ = 0;
  std::deque<job> jobs_;
  ticks job_next_ = 0, job_last_ = 0;
  counts counts_;
};

}  // namespace scute::sim
