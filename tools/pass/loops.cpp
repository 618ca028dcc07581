// SPDX-License-Identifier: BSD-3-Clause
#include "loops.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace scute_pass {
namespace {

constexpr std::uint64_t line_size = 64;
// A loop whose end is not known before it begins: what it would store at most, if that is little.
constexpr std::uint64_t bound_max = 4096;

}  // namespace

loop_hoist::loop_hoist(llvm::Function& function, llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
                       bool over_barriers)
    : function_(function), loops_(loops), evolution_(evolution), over_barriers_(over_barriers) {}

// No barrier (PASS-1), and a block before it that leads nowhere else.
bool loop_hoist::is_quiet(const llvm::Loop* loop) {
  if (const auto known = quiet_.find(loop); known != quiet_.end()) return known->second;
  bool quiet = loop->getLoopPreheader() && !is_barrier(*loop->getLoopPreheader()->getTerminator());
  for (const auto* block : loop->blocks())
    for (const auto& instruction : *block) quiet = quiet && (over_barriers_ || !is_barrier(instruction));
  return quiet_[loop] = quiet;
}

std::optional<announcement> loop_hoist::before_loop(const access& one) {
  auto* loop = loops_.getLoopFor(one.at->getParent());
  if (!loop || one.dynamic_length || !is_quiet(loop)) return std::nullopt;
  if (!loop->isLoopInvariant(one.base)) return in_steps(one, loop);
  while (auto* outer = loop->getParentLoop()) {
    if (!is_quiet(outer) || !outer->isLoopInvariant(one.base)) break;
    loop = outer;
  }
  announcement result;
  result.place = loop->getLoopPreheader()->getTerminator();
  result.origin = one.at;
  result.is_store = one.is_store;
  result.base = one.base;
  result.low = one.low;
  result.high = one.high;
  return result;
}

std::optional<announcement> loop_hoist::in_steps(const access& one, llvm::Loop* loop) {
  const auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(one.address));
  if (!walk || walk->getLoop() != loop || !walk->isAffine()) return std::nullopt;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(evolution_));
  if (!step) return std::nullopt;
  const std::int64_t bytes = step->getAPInt().getSExtValue();
  if (bytes == 0 || bytes > static_cast<std::int64_t>(line_size) || bytes < -static_cast<std::int64_t>(line_size)) return std::nullopt;

  auto* word = llvm::Type::getInt64Ty(function_.getContext());
  const auto* turns = evolution_.getBackedgeTakenCount(loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(turns)) {
    turns = evolution_.getSymbolicMaxBackedgeTakenCount(loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(turns)) return std::nullopt;
    const auto most = evolution_.getUnsignedRangeMax(turns);
    if (most.getActiveBits() > 32 || most.getZExtValue() * line_size > bound_max) return std::nullopt;
  }
  turns = evolution_.getTruncateOrZeroExtend(turns, word);
  const auto magnitude = static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes);
  const auto* walked = evolution_.getMulExpr(turns, evolution_.getConstant(word, magnitude));
  const auto* length = evolution_.getAddExpr(walked, evolution_.getConstant(word, one.length));
  const auto* first = walk->getStart();
  const auto* lowest = bytes > 0 ? first : evolution_.getMinusSCEV(first, walked);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(lowest)) return std::nullopt;

  auto* place = loop->getLoopPreheader()->getTerminator();
  llvm::SCEVExpander expander(evolution_, function_.getParent()->getDataLayout(), "scute.loop");
  if (!expander.isSafeToExpandAt(lowest, place) || !expander.isSafeToExpandAt(length, place)) return std::nullopt;
  announcement result;
  result.place = place;
  result.origin = one.at;
  result.is_store = one.is_store;
  result.base = expander.expandCodeFor(lowest, llvm::PointerType::get(function_.getContext(), 0), place);
  result.dynamic_length = expander.expandCodeFor(length, word, place);
  return result;
}

}  // namespace scute_pass
