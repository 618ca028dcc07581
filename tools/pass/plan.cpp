// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include "loops.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SparseBitVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <map>

namespace scute_pass {
namespace {

constexpr int64_t line_bytes = 64;

// The pointer that an address was computed from.
llvm::Value* object_of(llvm::Value* address) {
  for (;;) {
    auto* step = llvm::dyn_cast<llvm::GEPOperator>(address);
    if (!step || !(step->isInBounds() || step->hasAllConstantIndices())) return address;
    address = step->getPointerOperand();
  }
}

placed_range range_of(const access& one) {
  placed_range result;
  result.place = one.at;
  result.is_store = one.is_store;
  result.object = object_of(one.address);
  result.range.origin = one.at;
  result.range.base = one.dynamic_length ? one.address : one.base;
  result.range.low = one.low;
  result.range.high = one.high;
  result.range.dynamic_length = one.dynamic_length;
  return result;
}

// Goes through the blocks, and knows of each place which announcements hold there: made on every
// path to it, with no barrier since.
class planner {
 public:
  planner(llvm::Function& function, const function_analyses& analyses, loop_hoist& hoist,
          const planted& bugs)
      : function_(function), analyses_(analyses), hoist_(hoist), bugs_(bugs) {}

  std::vector<announcement> plan(
      const llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<placed_range, 2>>& at) {
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
    for (auto* block : order) {
      holding_ = at_begin(*block);
      for (auto& instruction : *block) {
        const bool barrier = !bugs_.over_barriers && is_barrier(instruction);
        if (barrier) holding_.clear();
        if (const auto here = at.find(&instruction); here != at.end())
          for (const auto& one : here->second) report(one);
        if (barrier) holding_.clear();
      }
      ends_[block] = holding_;
    }
    return std::move(result_);
  }

 private:
  using set = llvm::SparseBitVector<>;

  set at_begin(const llvm::BasicBlock& block) {
    set result;
    bool first = true, back = false;
    for (const auto* before : llvm::predecessors(&block)) {
      if (!analyses_.dominators.isReachableFromEntry(before)) continue;
      const auto end = ends_.find(before);
      if (end == ends_.end()) {
        back = true;
      } else if (first) {
        result = end->second;
        first = false;
      } else if (bugs_.any_path) {
        result |= end->second;
      } else {
        result &= end->second;
      }
    }
    // The way back into a loop: what held before it still does if nothing in it ends that.
    if (back) {
      const auto* loop = analyses_.loops.getLoopFor(&block);
      if (!loop || loop->getHeader() != &block || !hoist_.is_quiet(loop)) result.clear();
    }
    return result;
  }

  void report(const placed_range& one) {
    auto& candidates = of_object_[{one.object, one.is_store}];
    for (const auto index : candidates)
      if (holding_.test(index) && add(result_[index], one)) return;
    announcement next;
    next.place = one.place;
    next.is_store = one.is_store;
    next.object = one.object;
    next.ranges.push_back(one.range);
    holding_.set(static_cast<unsigned>(result_.size()));
    candidates.push_back(static_cast<unsigned>(result_.size()));
    result_.push_back(std::move(next));
  }

  bool add(announcement& to, const placed_range& one) {
    const int64_t gap = bugs_.wide_gaps ? 16 * line_bytes : line_bytes;
    reported_range range = one.range;
    if (!range.dynamic_length) {
      for (auto& known : to.ranges) {
        if (known.dynamic_length || known.base != range.base || range.low - known.high >= gap ||
            known.low - range.high >= gap)
          continue;
        known.low = std::min(known.low, range.low);
        known.high = std::max(known.high, range.high);
        return true;
      }
    }
    // In another block it may not come to it: then little may be reported in vain.
    if (one.place->getParent() != to.place->getParent() &&
        (range.dynamic_length || range.high - range.low > line_bytes))
      return false;
    if (!range.remade.empty() && range.dynamic_length) {
      // Made for its place.
      if (one.place != to.place) return false;
    } else {
      range.remade.clear();
      if (!add_remade(range.base, to.place, analyses_.dominators, range.remade)) return false;
      if (range.dynamic_length &&
          !add_remade(range.dynamic_length, to.place, analyses_.dominators, range.remade))
        return false;
    }
    to.ranges.push_back(std::move(range));
    return true;
  }

  llvm::Function& function_;
  const function_analyses& analyses_;
  loop_hoist& hoist_;
  const planted& bugs_;
  std::vector<announcement> result_;
  std::map<std::pair<const llvm::Value*, bool>, llvm::SmallVector<unsigned, 2>> of_object_;
  llvm::DenseMap<const llvm::BasicBlock*, set> ends_;
  set holding_;
};

}  // namespace

std::vector<announcement> plan_of(llvm::Function& function, llvm::ArrayRef<access> found,
                                  bool merging, const function_analyses& analyses,
                                  const planted& bugs) {
  if (!merging) {
    std::vector<announcement> result;
    for (const auto& one : found) {
      const auto range = range_of(one);
      // By its address and not by its object: an access that leaves its object is reported as well.
      result.push_back({range.place, range.is_store, one.address, {range.range}});
    }
    return result;
  }
  loop_hoist hoist(function, analyses, bugs.over_barriers);
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<placed_range, 2>> at;
  for (const auto& one : found) {
    if (!analyses.dominators.isReachableFromEntry(one.at->getParent())) continue;
    const auto own = range_of(one);
    const auto before = hoist.before_loop(own, one);
    const auto& chosen = before ? *before : own;
    at[chosen.place].push_back(chosen);
  }
  return planner(function, analyses, hoist, bugs).plan(at);
}

}  // namespace scute_pass
