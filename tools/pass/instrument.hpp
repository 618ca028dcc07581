// SPDX-License-Identifier: BSD-3-Clause
// instrument.hpp: the pass: reports everything that a module
// does to mapped files to a runtime (scute/shield_hooks.h).
//
// Runs when all optimizations have run: then no reported access is moved, merged or removed
// afterwards.
#pragma once

#include "options.hpp"
#include "plan.hpp"

#include <llvm/IR/PassManager.h>

namespace scute_pass {

class shield_pass : public llvm::PassInfoMixin<shield_pass> {
 public:
  shield_pass(const options& asked, const planted& bugs) : asked_(asked), bugs_(bugs) {}

  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& manager);
  // Functions that are not to be optimized as well.
  static bool isRequired() { return true; }

 private:
  options asked_;
  planted bugs_;
};

}  // namespace scute_pass
