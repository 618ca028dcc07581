// SPDX-License-Identifier: BSD-3-Clause
// plan.hpp: where a function reports its stores and loads:
// fewer places than it has stores and loads.
//
//   PASS-1  Between the place where an access is reported and the access lies no barrier
//           (access.hpp), on any path.
//   PASS-2  Every access is reported on every path that leads to it since the last barrier.
//   PASS-3  The ranges of one report have gaps of less than a line, so that no line is reported
//           that the code after that place may not store to.
//
// Accesses to one object are reported together, at the first of them, after one test: whether the
// object's pointer is below the gate. (An address computed from a pointer stays in its object; a
// store elsewhere is a stray one.) Their addresses are computed after the test. Accesses that a
// loop without barriers repeats are reported before the loop. Option trace does none of it.
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
  remake_list remade;  // values that base and length need, and that do not exist yet at the place
};

// Reported before `place`, if `object` is below the gate.
struct announcement {
  llvm::Instruction* place = nullptr;
  bool is_store = true;
  llvm::Value* object = nullptr;
  llvm::SmallVector<reported_range, 2> ranges;
};

// The omissions from a protocol in test runs (-scute-shield-plant=): the tests must notice.
struct planted {
  bool over_barriers = false;  // PASS-1: announcements hold over barriers
  bool any_path = false;       // PASS-2: reported on one path is reported
  bool wide_gaps = false;      // PASS-3
  bool early_stream = false;   // HOOK-1: non-temporal stores are reported before
  bool late_fence = false;     // HOOK-2: fences are reported after
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
