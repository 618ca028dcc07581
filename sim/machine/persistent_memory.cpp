// SPDX-License-Identifier: BSD-3-Clause
#include "machine/persistent_memory.hpp"

#include <algorithm>

namespace scute::sim {

persistent_memory::persistent_memory(const settings& s)
    : lines_of_row_(s.pm_row / line_bytes),
      capacity_(s.pm_queue / line_bytes),
      read_(from_ns(s.pm_read)),
      write_(from_ns(s.pm_write)),
      accept_(from_ns(s.pm_accept)),
      link_(from_ns(s.pm_link)),
      burst_(from_ns(s.pm_burst)),
      burst_write_(from_ns(s.pm_burst_write)),
      merge_(s.pm_merge),
      running_(s.pm_banks),
      free_(s.pm_banks) {}

void persistent_memory::settle(ticks now) {
  const auto begun = [&](const entry& e) {
    if (e.issue > now) return false;
    running_[e.bank] = std::max(running_[e.bank], e.issue + write_);
    return true;
  };
  std::erase_if(queue_, begun);
}

ticks persistent_memory::accept(uint64_t line, ticks at) {
  // A call may ask first about a line that is sent later: the bus is held by the lines that it has
  // to carry, not by their times.
  if (burst_write_ != 0) at = bus_write_ = std::max(at, bus_write_ + burst_write_);
  settle(at);
  ++counts_.lines;
  const unsigned bank = bank_of(line);
  const entry* same_row = nullptr;
  for (const entry& e : queue_) {
    if (e.line == line) return std::max(at + accept_, e.accepted);
    if (merge_ && e.line / lines_of_row_ == line / lines_of_row_) same_row = &e;
  }
  ticks room = at;
  if (queue_.size() >= capacity_) {
    order_.clear();
    for (const entry& e : queue_) order_.push_back(e.issue);
    const auto nth = order_.begin() + static_cast<std::ptrdiff_t>(order_.size() - capacity_);
    std::ranges::nth_element(order_, nth);
    room = *nth;
    counts_.waited += room - at;
  }
  const ticks accepted = room + accept_;
  if (same_row != nullptr && same_row->issue >= accepted) {
    queue_.push_back({line, same_row->issue, accepted, bank});
    return accepted;
  }
  ++counts_.writes;
  const ticks issue = latest(accepted, free_[bank], running_[bank]);
  free_[bank] = issue + write_;
  queue_.push_back({line, issue, accepted, bank});
  return accepted;
}

ticks persistent_memory::write(uint64_t line, ticks at) {
  run_jobs(at);
  // PMEM-4: sent later, durable no earlier.
  return remember(line, std::max(accept(line, at + link_), on_the_way(line)));
}

void persistent_memory::plan(unsigned bank, ticks from) {
  ticks next = from, row_issue = 0;
  uint64_t row = UINT64_MAX;
  for (entry& e : queue_) {
    if (e.bank != bank) continue;
    const uint64_t own_row = e.line / lines_of_row_;
    if (merge_ && own_row == row) {
      e.issue = row_issue;
      continue;
    }
    e.issue = std::max(e.issue, next);
    next = e.issue + write_;
    row = own_row;
    row_issue = e.issue;
  }
  free_[bank] = next;
}

ticks persistent_memory::read(uint64_t line, ticks at) {
  run_jobs(at);
  at = std::max(at + link_, on_the_way(line));
  settle(at);
  ++counts_.reads;
  for (const entry& e : queue_)
    if (e.line == line) return at + accept_ + link_;
  const unsigned bank = bank_of(line);
  const ticks done = std::max(at, running_[bank]) + read_;
  running_[bank] = done;
  plan(bank, done);
  bus_ = std::max(bus_ + burst_, done);
  return bus_ + link_;
}

void persistent_memory::begin(const job& j, ticks at) {
  if (jobs_.empty()) job_next_ = std::max(job_next_, at);
  jobs_.push_back(j);
}

void persistent_memory::run_jobs(ticks until) {
  while (!jobs_.empty() && job_next_ <= until) {
    job& j = jobs_.front();
    if (j.reads) {
      // Reads run ahead of the writes, so only the bank's time is taken.
      ++counts_.reads;
      const unsigned bank = bank_of(j.read_from);
      running_[bank] = std::max(job_next_, running_[bank]) + read_;
      free_[bank] = std::max(free_[bank], running_[bank]);
      ++j.read_from;
    }
    const ticks accepted = accept(j.first, job_next_ + link_);
    job_last_ = std::max(job_last_, accepted);
    job_next_ = j.burst ? job_next_ + accept_ + 1 : accepted;
    ++j.first;
    if (--j.lines != 0) continue;
    if (j.done != nullptr) *j.done = accepted;
    jobs_.pop_front();
  }
}

ticks persistent_memory::finish_jobs(ticks at) {
  if (jobs_.empty()) return at;
  run_jobs(UINT64_MAX);
  return std::max(at, job_last_);
}

}  // namespace scute::sim
