// SPDX-License-Identifier: BSD-3-Clause
// The bytes that intrinsics of the processor store to, or
// load from, at a given place: masked stores as if no lane was masked, and the saving of registers,
// which may be reported as more than it is.
#pragma once

#include <llvm/IR/IntrinsicInst.h>

#include <cstdint>
#include <optional>

namespace scute_pass {

struct processor_access {
  bool is_store;
  llvm::Value* address;
  uint64_t length;
};

std::optional<processor_access> processor_access_of(llvm::IntrinsicInst& call);

}  // namespace scute_pass
