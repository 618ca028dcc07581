// SPDX-License-Identifier: BSD-3-Clause
// provenance.hpp: pointers that cannot lead into a mapped
// file, because of where they come from: the stack, globals, thread-local variables, the C
// library's allocator. A store through one of them that reaches a file all the same is a stray one,
// and it is right that it is not reported.
#pragma once

#include <llvm/IR/Value.h>

namespace scute_pass {

// Follows the pointer through offsets, selections and phis to all of its origins.
bool is_elsewhere(const llvm::Value* pointer);

}  // namespace scute_pass
