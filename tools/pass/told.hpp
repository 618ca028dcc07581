// SPDX-License-Identifier: BSD-3-Clause
// told.hpp: which accesses a function has told of already, whatever the path: PASS-2 of plan.hpp, as a flow of sets through
// its blocks.
#pragma once

#include "access.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>

namespace scute_pass {

using accesses_by_instruction = llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<const access*, 2>>;

// Those of `found` that need not be told of.
llvm::DenseSet<const access*> told_already(llvm::Function& function, const accesses_by_instruction& found,
                                           bool any_path);

}  // namespace scute_pass
