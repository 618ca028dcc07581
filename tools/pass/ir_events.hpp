// SPDX-License-Identifier: BSD-3-Clause
// ir_events.hpp: the flushes, fences and non-temporal stores
// of instructions other than inline assembly.
#pragma once

#include "event.hpp"

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instruction.h>

#include <optional>

namespace scute_pass {

// At most one.
std::optional<event> event_of(llvm::Instruction& instruction);
bool is_fence(const llvm::Instruction& instruction);

// A call of the compiler's library for atomics too large for an instruction: locked instructions
// inside, which nothing else reports. address: what it stores to, null if it only reads.
struct atomic_call {
  llvm::Value* address = nullptr;
  uint64_t length = 0;
};
std::optional<atomic_call> atomic_call_of(llvm::CallBase& call);

}  // namespace scute_pass
