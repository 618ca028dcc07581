// SPDX-License-Identifier: BSD-3-Clause
// mark.hpp: the note by which an object says that it was
// instrumented, and how (scute/shield_hooks.h).
#pragma once

#include "options.hpp"

#include <llvm/IR/Module.h>

namespace scute_pass {

void add_mark(llvm::Module& module, const options& asked);

}  // namespace scute_pass
