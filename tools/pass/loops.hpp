// SPDX-License-Identifier: BSD-3-Clause
// loops.hpp: accesses that a loop without barriers repeats, as one announcement before the loop: at one address, or at addresses
// that go in equal steps of at most a line.
#pragma once

#include "plan.hpp"

#include <llvm/Analysis/ScalarEvolution.h>

#include <optional>

namespace scute_pass {

class loop_hoist {
 public:
  loop_hoist(llvm::Function& function, llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution, bool over_barriers);

  // An announcement at the end of the block before the outermost loop that allows it; nothing if none does. Makes the
  // computation of its address and length.
  std::optional<announcement> before_loop(const access& one);

 private:
  bool is_quiet(const llvm::Loop* loop);
  std::optional<announcement> in_steps(const access& one, llvm::Loop* loop);

  llvm::Function& function_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  bool over_barriers_;  // planted
  llvm::DenseMap<const llvm::Loop*, bool> quiet_;
};

}  // namespace scute_pass
