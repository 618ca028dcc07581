// SPDX-License-Identifier: BSD-3-Clause
// plan.hpp: where a function tells of its stores and loads: fewer places than it has stores and loads.
//
//   PASS-1  Between the place where an access is told of and the access lies no barrier (access.hpp), on any path.
//   PASS-2  Every access is told of on every path that leads to it since the last barrier.
//   PASS-3  What is told in one goes with gaps of less than a line, so that no line is told of that the code behind that
//           place may not store to.
//
// Accesses to one object are told of together, at the first of them, behind one test: whether the object's pointer is
// below the gate. (What is computed from a pointer stays in its object; a store that does not is a stray one.) Their
// addresses are computed behind the test. What a loop without barriers repeats is told of before the loop. Option trace
// does none of it.
#pragma once

#include "access.hpp"
#include "remake.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include <vector>

namespace scute_pass {

// [base + low, base + high), or dynamic_length bytes from base on.
struct reported_range {
  llvm::Instruction* origin = nullptr;
  llvm::Value* base = nullptr;
  int64_t low = 0, high = 0;
  llvm::Value* dynamic_length = nullptr;
  remake_list remade;  // what base and length need, and what is not there yet at the place
};

// Told of before `place`, if `object` is below the gate.
struct announcement {
  llvm::Instruction* place = nullptr;
  bool is_store = true;
  llvm::Value* object = nullptr;
  llvm::SmallVector<reported_range, 2> ranges;
};

// What is left of a protocol in test runs (-scute-shield-plant=): the tests must notice.
struct planted {
  bool over_barriers = false;  // PASS-1: announcements hold over barriers
  bool any_path = false;       // PASS-2: told of on one path is told of
  bool wide_gaps = false;      // PASS-3
  bool early_stream = false;   // HOOK-1: non-temporal stores are told of before
  bool late_fence = false;     // HOOK-2: fences are told of after
};

struct function_analyses {
  llvm::DominatorTree& dominators;
  llvm::LoopInfo& loops;
  llvm::ScalarEvolution& evolution;
};

// `found`: the accesses in the order of blocks and instructions. Does not change how control flows.
std::vector<announcement> plan_of(llvm::Function& function, llvm::ArrayRef<access> found,
                                  bool merging, const function_analyses& analyses,
                                  const planted& bugs);

}  // namespace scute_pass
