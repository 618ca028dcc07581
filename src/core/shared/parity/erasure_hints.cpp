// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/parity/erasure_hints.hpp"

namespace scute::core::pool {

std::vector<cell_set> erasure_hints::all(uint64_t zone, uint64_t block) const {
  const locked hold(mutex_);
  std::vector<cell_set> sets = latest_;
  const auto here = of_block_.find({zone, block});
  if (here != of_block_.end()) sets.insert(sets.begin(), here->second);
  return sets;
}

void erasure_hints::add(uint64_t zone, uint64_t block, const cell_set& set) {
  const locked hold(mutex_);
  bool news = latest_.empty() || !(latest_.front() == set);
  std::erase(latest_, set);
  latest_.insert(latest_.begin(), set);
  if (latest_.size() > latest_max) latest_.pop_back();
  if (of_block_.size() >= blocks_max) of_block_.clear();
  // Evidence accumulates, as far as one set has room.
  cell_set& here = of_block_[{zone, block}];
  cell_set both = here;
  for (uint32_t i = 0; i < set.count; ++i) {
    if (both.has(set.cells[i])) continue;
    if (both.count == pool::parities_max) {
      both = set;
      break;
    }
    both.add(set.cells[i]);
  }
  news = news || !(both == here);
  here = both;
  if (news) ++changes_;
}

uint64_t erasure_hints::changes() const {
  const locked hold(mutex_);
  return changes_;
}

bool erasure_hints::worth_learning(uint64_t zone, uint64_t block, uint64_t repairs) {
  const locked hold(mutex_);
  if (learned_.size() >= blocks_max) learned_.clear();
  const auto [at, fresh] = learned_.try_emplace({zone, block}, repairs);
  return fresh || std::exchange(at->second, repairs) != repairs;
}

}  // namespace scute::core::pool
