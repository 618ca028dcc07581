// SPDX-License-Identifier: BSD-3-Clause
// access.hpp: a store or load that may reach a mapped file,
// and where it is reported to the runtime.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instruction.h>

#include <cstdint>

namespace scute_pass {

struct access {
  llvm::Instruction* at = nullptr;
  bool is_store = true;
  llvm::Value* address = nullptr;
  llvm::Value* dynamic_length = nullptr;  // or
  uint64_t length = 0;
  // address = base + low, where base has no constant offset left; high = low + length.
  llvm::Value* base = nullptr;
  int64_t low = 0, high = 0;
};

using accesses = llvm::SmallVector<access, 4>;

// The instruction's own accesses to memory that may be a file's. Inline assembly: what its memory
// operands say.
accesses accesses_of(llvm::Instruction& instruction, bool stores, bool loads);

// Whether an instruction may report a fence, or let another function do so: earlier reports of
// accesses do not reach beyond it (HOOK-3, HOOK-4).
bool is_barrier(const llvm::Instruction& instruction);

}  // namespace scute_pass
