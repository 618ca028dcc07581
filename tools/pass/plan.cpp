// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include "loops.hpp"
#include "told.hpp"

#include <algorithm>

namespace scute_pass {
namespace {

constexpr std::int64_t line_size = 64;

announcement announcement_of(const access& one) {
  announcement result;
  result.place = result.origin = one.at;
  result.is_store = one.is_store;
  result.base = one.dynamic_length ? one.address : one.base;
  result.low = one.low;
  result.high = one.high;
  result.dynamic_length = one.dynamic_length;
  return result;
}

// The announcements of a block, from its beginning to its end.
class block_groups {
 public:
  block_groups(std::vector<announcement>& result, const planted& bugs)
      : result_(result), over_barriers_(bugs.over_barriers), gap_(bugs.wide_gaps ? 16 * line_size : line_size) {}

  void add(const announcement& next) {
    if (!next.dynamic_length) {
      for (const auto index : open_) {
        auto& group = result_[index];
        if (group.base != next.base || group.is_store != next.is_store || next.low - group.high >= gap_ ||
            group.low - next.high >= gap_)
          continue;
        group.low = std::min(group.low, next.low);
        group.high = std::max(group.high, next.high);
        return;
      }
      open_.push_back(result_.size());
    }
    result_.push_back(next);
  }

  void close() {
    if (!over_barriers_) open_.clear();
  }

 private:
  std::vector<announcement>& result_;
  llvm::SmallVector<std::size_t, 8> open_;
  bool over_barriers_;
  std::int64_t gap_;
};

}  // namespace

std::vector<announcement> plan_of(llvm::Function& function, llvm::ArrayRef<access> found, bool merging,
                                  llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution, const planted& bugs) {
  std::vector<announcement> result;
  if (!merging) {
    for (const auto& one : found) result.push_back(announcement_of(one));
    return result;
  }
  accesses_by_instruction by_instruction;
  for (const auto& one : found) by_instruction[one.at].push_back(&one);
  const auto already = told_already(function, by_instruction, bugs.any_path);

  loop_hoist hoist(function, loops, evolution, bugs.over_barriers);
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<announcement, 2>> at;  // in a block, by place
  // Blocks in their order and instructions in theirs: the result does not depend on where things lie in memory.
  for (const auto& one : found) {
    if (already.contains(&one)) continue;
    const auto before = hoist.before_loop(one);
    const auto next = before ? *before : announcement_of(one);
    at[next.place].push_back(next);
  }
  for (auto& block : function) {
    block_groups groups(result, bugs);
    for (auto& instruction : block) {
      const bool barrier = is_barrier(instruction);
      if (barrier) groups.close();
      if (const auto here = at.find(&instruction); here != at.end())
        for (const auto& next : here->second) groups.add(next);
      if (barrier) groups.close();
    }
  }
  return result;
}

}  // namespace scute_pass
