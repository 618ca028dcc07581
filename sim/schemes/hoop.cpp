// SPDX-License-Identifier: BSD-3-Clause
#include "schemes/hoop.hpp"

#include <algorithm>

namespace scute::sim {

hoop_like::hoop_like(machine& m) : scheme(m), slices_(m.cores.size()) {}

ticks hoop_like::storing(unsigned core, uint64_t address, unsigned bytes, l1_line&, tlb_page&,
                         ticks at) {
  per_core& c = cores_[core];
  if (!c.open) return at;
  touch(c, line_of(address));
  const uint64_t last = (address + bytes - 1) / 8;
  for (uint64_t w = address / 8; w <= last; ++w) {
    if (++slices_[core].words < slice_words) continue;
    slices_[core].words = 0;
    since_collection_ += slice_bytes;
    c.log.append(slice_bytes, at);
  }
  table_[line_of(address)] = {
      line_of(log_base) + core * (log_area::bytes_max / line_bytes) + c.log.position() / line_bytes,
      c.transaction, 0};
  return at;
}

bool hoop_like::leaving_caches(uint64_t line, ticks at) {
  if (plant_dirty_home) return true;
  // The words are elsewhere, or were at that time: then the collection has brought them home.
  const auto brought = collected_.find(line);
  return table_.find(line) == table_.end() && (brought == collected_.end() || brought->second < at);
}

ticks hoop_like::missing(unsigned core, uint64_t line, ticks asked, ticks there) {
  // As the SpecPMT paper has it (7.3): a miss in a transaction makes a record, too.
  if (cores_[core].open) {
    cores_[core].log.append(slice_bytes, asked);
    since_collection_ += slice_bytes;
  }
  const auto at = table_.find(line);
  if (at == table_.end()) return there;
  return std::max(there, machine_.mem.pm.read(at->second.last_slice, asked));
}

ticks hoop_like::committing(unsigned core, ticks at) {
  per_core& c = cores_[core];
  if (c.touched.empty()) return at;
  if (slices_[core].words != 0) {
    slices_[core].words = 0;
    since_collection_ += slice_bytes;
    c.log.append(slice_bytes, at);
  }
  const size_t number = c.log.appended() == 0 ? 0 : c.log.appended() - 1;
  const ticks durable = c.log.flush(at);
  for (const uint64_t line : c.touched)
    if (const auto h = table_.find(line); h != table_.end()) h->second.ended = durable;
  if (contents_ != nullptr) {
    // The stores of the transaction, as a whole: the last values of the lines' words.
    for (const uint64_t line : c.touched)
      for (unsigned i = 0; i < slice_words; ++i)
        words_.push_back({c.transaction, core, number, line * line_bytes + i * 8,
                          contents_->line(line)[i], log_area::never});
    ended_.push_back({c.transaction, core, number});
  }
  if (static_cast<double>(since_collection_) >= machine_.numbers.hoop_collect * 1024)
    collect(c.transaction, durable);
  return plant_early_end ? at : durable;
}

void hoop_like::collect(uint32_t ending, ticks at) {
  since_collection_ = 0;
  ++counts_.epochs_cleared;
  std::vector<uint64_t> lines;
  for (const auto& [line, h] : table_) {
    const bool open = std::ranges::any_of(
        cores_, [&](const per_core& c) { return c.open && c.transaction == h.transaction; });
    if ((!open || h.transaction == ending) && h.ended <= at) lines.push_back(line);
  }
  std::ranges::sort(lines);  // the table's order is arbitrary
  for (const uint64_t line : lines) {
    machine_.mem.pm.begin({line, 1, true, table_[line].last_slice, true, nullptr}, at);
    table_.erase(line);
    collected_[line] = at;
    ++counts_.data_lines;
  }
  if (contents_ == nullptr) return;
  // For crash tests the engine is done at once: what matters is the order.
  const ticks written = machine_.mem.pm.finish_jobs(at);
  for (const uint64_t line : lines) collected_[line] = written;
  for (const uint64_t line : lines) {
    line_bytes_of bytes{};
    bool any = false;
    for (word& w : words_) {
      if (line_of(w.address) != line) continue;
      bytes[w.address / 8 % 8] = w.value;
      w.collected = std::min(w.collected, plant_early_drop ? at : written);
      any = true;
    }
    if (any) contents_->write(line, bytes, written);
  }
}

scheme::recovered hoop_like::recover(ticks crash) const {
  recovered r{contents_->durable_at(crash), {}};
  for (const ended& e : ended_)
    if (cores_[e.core].log.durable(e.number) <= crash) r.committed.push_back(e.transaction);
  std::ranges::sort(r.committed);
  for (const word& w : words_)
    if (w.collected > crash && std::ranges::binary_search(r.committed, w.transaction))
      r.memory[line_of(w.address)][w.address / 8 % 8] = w.value;
  return r;
}

}  // namespace scute::sim
