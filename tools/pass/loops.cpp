// SPDX-License-Identifier: BSD-3-Clause
#include "loops.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace scute_pass {
namespace {

constexpr uint64_t line_size = 64;
// A loop whose end is not known before it begins: what it would store at most, if that is little.
constexpr uint64_t bound_max = 4096;

}  // namespace

loop_hoist::loop_hoist(llvm::Function& function, const function_analyses& analyses,
                       bool over_barriers)
    : function_(function), analyses_(analyses), over_barriers_(over_barriers) {}

bool loop_hoist::is_quiet(const llvm::Loop* loop) {
  if (const auto known = quiet_.find(loop); known != quiet_.end()) return known->second;
  bool quiet = true;
  for (const auto* block : loop->blocks())
    for (const auto& instruction : *block)
      quiet = quiet && (over_barriers_ || !is_barrier(instruction));
  return quiet_[loop] = quiet;
}

std::optional<placed_range> loop_hoist::before_loop(const placed_range& one, const access& of) {
  auto* loop = analyses_.loops.getLoopFor(one.place->getParent());
  if (!loop || one.range.dynamic_length || !is_quiet(loop) || !loop->getLoopPreheader())
    return std::nullopt;
  auto best = at_one_address(one, loop);
  if (!best) return in_steps(one, of, loop);
  while ((loop = loop->getParentLoop()) && is_quiet(loop) && loop->getLoopPreheader()) {
    const auto next = at_one_address(one, loop);
    if (!next) break;
    best = next;
  }
  return best;
}

std::optional<placed_range> loop_hoist::at_one_address(const placed_range& one,
                                                       const llvm::Loop* loop) {
  placed_range result = one;
  result.place = loop->getLoopPreheader()->getTerminator();
  remake_list object;  // the object is on the fast path: it must be there
  if (!add_remade(one.object, result.place, analyses_.dominators, object) || !object.empty())
    return std::nullopt;
  result.range.remade.clear();
  if (!add_remade(one.range.base, result.place, analyses_.dominators, result.range.remade))
    return std::nullopt;
  return result;
}

std::optional<placed_range> loop_hoist::in_steps(const placed_range& one, const access& of,
                                                 llvm::Loop* loop) {
  auto& evolution = analyses_.evolution;
  const auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(of.address));
  if (!walk || walk->getLoop() != loop || !walk->isAffine()) return std::nullopt;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(evolution));
  if (!step) return std::nullopt;
  const int64_t bytes = step->getAPInt().getSExtValue();
  const auto magnitude = static_cast<uint64_t>(bytes < 0 ? -bytes : bytes);
  if (magnitude == 0 || magnitude > line_size) return std::nullopt;
  const auto* object =
      llvm::dyn_cast<llvm::SCEVUnknown>(evolution.getPointerBase(walk->getStart()));
  if (!object) return std::nullopt;

  auto* word = llvm::Type::getInt64Ty(function_.getContext());
  const auto* turns = evolution.getBackedgeTakenCount(loop);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(turns)) {
    turns = evolution.getSymbolicMaxBackedgeTakenCount(loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(turns)) return std::nullopt;
    const auto most = evolution.getUnsignedRangeMax(turns);
    if (most.getActiveBits() > 32 || most.getZExtValue() * line_size > bound_max)
      return std::nullopt;
  }
  turns = evolution.getTruncateOrZeroExtend(turns, word);
  const auto* walked = evolution.getMulExpr(turns, evolution.getConstant(word, magnitude));
  const auto* length = evolution.getAddExpr(walked, evolution.getConstant(word, of.length));
  const auto* first = walk->getStart();
  const auto* lowest = bytes > 0 ? first : evolution.getMinusSCEV(first, walked);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(lowest)) return std::nullopt;

  placed_range result = one;
  result.place = loop->getLoopPreheader()->getTerminator();
  result.object = object->getValue();
  remake_list needed;
  if (!add_remade(result.object, result.place, analyses_.dominators, needed) || !needed.empty())
    return std::nullopt;
  llvm::SCEVExpander expander(evolution, function_.getParent()->getDataLayout(), "scute.loop");
  if (!expander.isSafeToExpandAt(lowest, result.place) ||
      !expander.isSafeToExpandAt(length, result.place))
    return std::nullopt;
  auto& range = result.range;
  range.low = range.high = 0;
  range.base = expander.expandCodeFor(lowest, llvm::PointerType::get(function_.getContext(), 0),
                                      result.place);
  range.dynamic_length = expander.expandCodeFor(length, word, result.place);
  const auto made = expander.getAllInsertedInstructions();
  range.remade.clear();
  add_made(range.base, made, range.remade);
  add_made(range.dynamic_length, made, range.remade);
  return result;
}

}  // namespace scute_pass
