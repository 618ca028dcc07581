// SPDX-License-Identifier: BSD-3-Clause
#include "pow/inventory.hpp"

#include <algorithm>

namespace scute::core::pow {

void for_each_table(state& s, const std::function<void(const table_facts&)>& fn) {
  for (uint32_t number = 1; number < tables_max; ++number) {
    const table* const t = s.find_table(number);
    if (t == nullptr || t->name.empty()) continue;
    table_facts f{t->name, number, t->type, t->size, 0, 0};
    for (uint64_t i = 0; i < t->high(); ++i) {
      entry* const e = t->find(i);
      if (e == nullptr || (e->state.load(std::memory_order_relaxed) & entry_live) == 0) continue;
      const entry_guard guard(*e);
      ++f.objects;
      f.bytes += e->bytes();
    }
    fn(f);
  }
}

void for_each_segment(state& s, const std::function<void(const segment_facts&)>& fn) {
  for (uint32_t i = 0; i < s.space->count(); ++i) {
    const segment_note& n = s.space->note(i);
    const use what = n.what.load(std::memory_order_acquire);
    const auto live = static_cast<uint64_t>(std::max<int64_t>(0, n.live.load()));
    segment_facts f{i, what, s.space->place(i).at[0], 0, 0, 0, 0, nowhere};
    if (what == use::full)
      f = {i, what, f.offset, n.lane, n.session, n.generation, live, n.seal.load()};
    fn(f);
  }
}

}  // namespace scute::core::pow
