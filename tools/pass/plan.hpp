// SPDX-License-Identifier: BSD-3-Clause
// plan.hpp: where a function tells of its stores and loads: fewer places than it has stores and loads.
//
//   PASS-1  Between the place where an access is told of and the access lies no barrier (access.hpp), on any path.
//   PASS-2  Every access is told of on every path that leads to it since the last barrier.
//   PASS-3  What is told in one goes with gaps of less than a line, so that no line is told of that the code at that
//           place may not store to.
//
// In this order: what is told of already is dropped; what a loop without barriers repeats is told of before the loop, at
// once; what a block does to one object is told of in one. Option trace does none of it.
#pragma once

#include "access.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>

#include <vector>

namespace scute_pass {

// Told of before `place`: [base + low, base + high), or dynamic_length bytes from base on.
struct announcement {
  llvm::Instruction* place = nullptr;
  llvm::Instruction* origin = nullptr;
  bool is_store = true;
  llvm::Value* base = nullptr;
  std::int64_t low = 0, high = 0;
  llvm::Value* dynamic_length = nullptr;
};

// What is left of a protocol in test runs (-scute-shield-plant=): the tests must notice.
struct planted {
  bool over_barriers = false;  // PASS-1: groups and loops go over barriers
  bool any_path = false;       // PASS-2: told of on one path is told of
  bool wide_gaps = false;      // PASS-3
  bool early_stream = false;   // HOOK-1: non-temporal stores are told of before
  bool late_fence = false;     // HOOK-2: fences are told of after
};

// `found`: of each block, the accesses of its instructions in order. May compute addresses before loops; changes no
// block's end.
std::vector<announcement> plan_of(llvm::Function& function, llvm::ArrayRef<access> found, bool merging,
                                  llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution, const planted& bugs);

}  // namespace scute_pass
