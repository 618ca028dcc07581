// SPDX-License-Identifier: BSD-3-Clause
#include "told.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstrTypes.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace scute_pass {
namespace {

using key = std::pair<const llvm::Value*, bool>;
using range = std::pair<std::int64_t, std::int64_t>;
using told_set = std::map<key, llvm::SmallVector<range, 2>>;

bool covers(const told_set& told, const access& wanted) {
  const auto ranges = told.find({wanted.base, wanted.is_store});
  if (ranges == told.end()) return false;
  return std::any_of(ranges->second.begin(), ranges->second.end(),
                     [&](const range& r) { return r.first <= wanted.low && wanted.high <= r.second; });
}

// What both have.
told_set common(const told_set& a, const told_set& b) {
  told_set result;
  for (const auto& [name, ranges] : a) {
    const auto others = b.find(name);
    if (others == b.end()) continue;
    for (const auto& mine : ranges)
      for (const auto& other : others->second) {
        const range both{std::max(mine.first, other.first), std::min(mine.second, other.second)};
        auto& kept = result[name];
        if (both.first < both.second && std::find(kept.begin(), kept.end(), both) == kept.end()) kept.push_back(both);
      }
  }
  return result;
}

class flow {
 public:
  explicit flow(const accesses_by_instruction& found) : found_(found) {}

  void through(const llvm::Instruction& instruction, told_set& told, llvm::DenseSet<const access*>* already) const {
    // In a loop a value is computed anew under the same name. There nothing is known of it: on the path from the entry it had
    // not been told of.
    const bool barrier = is_barrier(instruction);
    if (barrier) told.clear();
    if (const auto mine = found_.find(&instruction); mine != found_.end()) {
      for (const auto* one : mine->second) {
        if (one->dynamic_length) continue;
        if (covers(told, *one)) {
          if (already) already->insert(one);
        } else {
          told[{one->base, one->is_store}].push_back({one->low, one->high});
        }
      }
    }
    if (barrier && llvm::isa<llvm::CallBase>(instruction)) told.clear();
  }

 private:
  const accesses_by_instruction& found_;
};

}  // namespace

llvm::DenseSet<const access*> told_already(llvm::Function& function, const accesses_by_instruction& found,
                                           bool any_path) {
  const flow rules(found);
  llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  // Nothing yet: everything is told of at the block's end, until a path is seen on which it is not.
  llvm::DenseMap<const llvm::BasicBlock*, std::optional<told_set>> ends;
  const auto begin_of = [&](const llvm::BasicBlock* block) {
    std::optional<told_set> result;
    if (block == &function.getEntryBlock()) return told_set{};
    for (const auto* before : llvm::predecessors(block)) {
      const auto end = ends.find(before);
      if (end == ends.end() || !end->second) continue;
      if (result && any_path) {
        for (const auto& [name, ranges] : *end->second)
          for (const auto& one : ranges)
            if (auto& kept = (*result)[name]; std::find(kept.begin(), kept.end(), one) == kept.end()) kept.push_back(one);
        continue;
      }
      result = result ? common(*result, *end->second) : *end->second;
    }
    return result.value_or(told_set{});
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto* block : order) {
      auto told = begin_of(block);
      for (const auto& instruction : *block) rules.through(instruction, told, nullptr);
      auto& end = ends[block];
      if (end && *end == told) continue;
      end = std::move(told);
      changed = true;
    }
  }
  llvm::DenseSet<const access*> already;
  for (const auto* block : order) {
    auto told = begin_of(block);
    for (const auto& instruction : *block) rules.through(instruction, told, &already);
  }
  return already;
}

}  // namespace scute_pass
