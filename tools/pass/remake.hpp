// SPDX-License-Identifier: BSD-3-Clause
// remake.hpp: addresses that are needed earlier than the
// program computes them: sums of existing values can be computed again, on the path that needs
// them.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instruction.h>

#include <optional>

namespace scute_pass {

// Instructions to copy, operands first.
using remake_list = llvm::SmallVector<llvm::Instruction*, 2>;

// Adds what `value` needs at `place` to the list; false if it cannot be had there.
bool add_remade(llvm::Value* value, const llvm::Instruction* place,
                const llvm::DominatorTree& dominators, remake_list& list);

// Adds what `value` needs of `made`, instructions that were made for it and that nothing else
// needs.
void add_made(llvm::Value* value, llvm::ArrayRef<llvm::Instruction*> made, remake_list& list);

// Copies the list to where the builder is. Then of() leads from a value to its copy, or to itself.
class remaker {
 public:
  remaker(llvm::IRBuilder<>& builder, const remake_list& list);
  llvm::Value* of(llvm::Value* value) const;

 private:
  llvm::SmallVector<std::pair<llvm::Value*, llvm::Value*>, 4> copies_;
};

}  // namespace scute_pass
