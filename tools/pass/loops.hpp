// SPDX-License-Identifier: BSD-3-Clause
// loops.hpp: accesses that a loop without barriers repeats,
// reported before the loop: at one address, or at addresses that go in equal steps of at most a
// line.
#pragma once

#include "plan.hpp"

#include <optional>

namespace scute_pass {

// One range for one place.
struct placed_range {
  llvm::Instruction* place = nullptr;
  bool is_store = true;
  llvm::Value* object = nullptr;
  reported_range range;
};

class loop_hoist {
 public:
  loop_hoist(llvm::Function& function, const function_analyses& analyses, bool over_barriers);

  // At the end of the block before the outermost loop that allows it; nothing if none does.
  std::optional<placed_range> before_loop(const placed_range& one, const access& of);
  // Whether no barrier is in the loop.
  bool is_quiet(const llvm::Loop* loop);

 private:
  std::optional<placed_range> at_one_address(const placed_range& one, const llvm::Loop* loop);
  std::optional<placed_range> in_steps(const placed_range& one, const access& of, llvm::Loop* loop);

  llvm::Function& function_;
  const function_analyses& analyses_;
  bool over_barriers_;  // planted
  llvm::DenseMap<const llvm::Loop*, bool> quiet_;
};

}  // namespace scute_pass
