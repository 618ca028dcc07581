// SPDX-License-Identifier: BSD-3-Clause
#include "schemes/undo.hpp"

#include <algorithm>

namespace scute::sim {

ticks undo_logging::log_old(unsigned core, uint64_t line, unsigned bytes, ticks at) {
  per_core& c = cores_[core];
  ++counts_.undo_records;
  const size_t number = c.log.append(bytes, at);
  if (contents_ != nullptr)
    records_.push_back({c.transaction, false, core, number, line, contents_->line(line)});
  return c.log.flush(at);
}

ticks undo_logging::committing(unsigned core, ticks at) {
  per_core& c = cores_[core];
  if (c.touched.empty()) return at;
  const auto commit = [&](ticks from) {
    const size_t number = c.log.append(commit_bytes, from);
    if (contents_ != nullptr) records_.push_back({c.transaction, true, core, number, 0, {}});
    return c.log.flush(from);
  };
  if (plant_early_commit) {
    const ticks early = commit(at);
    return std::max(early, write_back_touched(core, early));
  }
  return commit(write_back_touched(core, at));
}

scheme::recovered undo_logging::recover(ticks crash) const {
  recovered r{contents_->durable_at(crash), {}};
  const auto is_durable = [&](const kept& k) {
    return cores_[k.core].log.durable(k.number) <= crash;
  };
  for (const kept& k : records_)
    if (k.commit && is_durable(k)) r.committed.push_back(k.transaction);
  std::ranges::sort(r.committed);
  for (const kept& k : records_) {
    if (k.commit || !is_durable(k)) continue;
    if (std::ranges::binary_search(r.committed, k.transaction) == plant_restore_new)
      r.memory[k.line] = k.old;
  }
  return r;
}

ticks ede_like::storing(unsigned core, uint64_t address, unsigned, l1_line& l, tlb_page&,
                        ticks at) {
  per_core& c = cores_[core];
  if (!c.open || !touch(c, line_of(address))) return at;
  const ticks durable = log_old(core, line_of(address), record_bytes, at);
  // The store sits in the write buffer until then; later stores pass it.
  if (!plant_no_wait) l.written = std::max(l.written, durable);
  return at;
}

ticks software_undo::storing(unsigned core, uint64_t address, unsigned, l1_line& l, tlb_page&,
                             ticks at) {
  per_core& c = cores_[core];
  if (!c.open || !touch(c, line_of(address))) return at;
  class core& on = machine_.cores[core];
  on.spend(machine_.numbers.undo_instructions / machine_.numbers.width);
  // A header of a line and the bytes.
  const ticks durable = log_old(core, line_of(address), 2 * line_bytes, std::max(at, on.drained()));
  if (plant_no_wait) return at;
  on.wait(durable);
  l.written = std::max(l.written, durable);
  return durable;
}

ticks software_undo::committing(unsigned core, ticks at) {
  const bool changed = !cores_[core].touched.empty();
  const ticks done = undo_logging::committing(core, at);
  if (!changed) return done;
  // The emptied log is fenced a second time.
  cores_[core].log.append(8, done);
  return cores_[core].log.flush(done);
}

}  // namespace scute::sim
