// SPDX-License-Identifier: BSD-3-Clause
#include "pow/recovery/salvage_report.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "pow/sections/batch.hpp"

namespace scute::core::pow {

salvage_report::salvage_report(state& s, uint32_t segment, uint64_t from, uint64_t to) : s_(s) {
  const uint64_t base = s.space->place(segment).at[0];
  std::vector<std::byte> lines((to - from) * log::line_size);
  for (uint64_t i = from; i < to; ++i)
    // Unreadable lines stay zero, and match nothing.
    s.read_segment(base + s.layout.offset_of(i), lines.data() + (i - from) * log::line_size,
                   log::line_size);
  format::segment_head h;
  if (!s.read_segment(base, reinterpret_cast<std::byte*>(&h), sizeof h) ||
      h.magic != format::segment_magic)
    return;
  const uint32_t seed = log::seed_of(h);
  for (uint64_t i = 0; i < to - from;) {
    log::frame f{};
    const auto left = std::span(lines).subspan(i * log::line_size);
    std::memcpy(&f.head, left.data(), sizeof f.head);
    if (f.head.size < sizeof f.head || f.head.size > left.size() ||
        f.head.checksum != log::frame_head_checksum(seed, from + i, f.head)) {
      i += s.layout.step();
      continue;
    }
    f.position = from + i;
    f.lines = left.first((f.head.size + log::line_size - 1) / log::line_size * log::line_size);
    i += s.layout.lines_of(f.head.size);
    frame_view v;
    if (!parse(f, v) || v.kind > frame_kind::copies || v.kind == frame_kind::commit ||
        v.kind == frame_kind::abort)
      continue;
    for_each_record(v, [&](const record& r) {
      if (r.table >= tables_max || r.index() >= s.index_max()) return;
      range& x = of_[r.table];
      x.first = std::min(x.first, r.index());
      x.last = std::max(x.last, r.index());
      ++x.records;
    });
  }
}

// Works before the tables have their names.
std::string salvage_report::name_of(uint32_t number) const {
  if (number == catalogue_table) return "tables";
  const table* const catalogue = s_.find_table(catalogue_table);
  const entry* const e = catalogue == nullptr ? nullptr : catalogue->find(number);
  const uint64_t n = e == nullptr || e->is_tombstone() ? 0 : e->bytes();
  if (n > sizeof(catalogue_record) && catalogue->found != nullptr) try {
      std::string bytes(n, '\0');
      s_.read_record(*catalogue->found->find(number), reinterpret_cast<std::byte*>(bytes.data()),
                     n);
      return bytes.substr(sizeof(catalogue_record));
    } catch (const failure&) {  // NOLINT(bugprone-empty-catch): then it has its number
    }
  return {};
}

std::vector<damage_range> salvage_report::ranges() const {
  std::vector<damage_range> all;
  for (const auto& [table, x] : of_)
    all.push_back({table, name_of(table), x.first, x.last, x.records});
  return all;
}

std::string salvage_report::text() const {
  std::string s;
  for (const damage_range& x : ranges())
    s += (s.empty() ? "objects " : ", ") + std::to_string(x.first) + " to " +
         std::to_string(x.last) + " of table " +
         (x.name.empty() ? "number " + std::to_string(x.table) : x.name) + " (" +
         std::to_string(x.records) + (x.records == 1 ? " record)" : " records)");
  return s.empty() ? "of unknown objects" : s + ", as far as is known";
}

}  // namespace scute::core::pow
