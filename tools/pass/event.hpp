// SPDX-License-Identifier: BSD-3-Clause
// event.hpp: the events of an instruction that are reported
// to a runtime.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Value.h>
#include <scute/shield_hooks.h>

#include <cstdint>

namespace scute_pass {

struct event {
  enum class kind { flush, fence, stream };

  kind what = kind::fence;
  int detail = 0;                  // scute_shield_flush_kind or scute_shield_fence_kind
  llvm::Value* address = nullptr;  // flush, stream: of pointer type, available at the instruction
  uint64_t length = 0;             // stream
};

// Of one instruction, in the order in which it does them.
using events = llvm::SmallVector<event, 2>;

}  // namespace scute_pass
