// SPDX-License-Identifier: BSD-3-Clause
// library_calls.hpp: what functions of the C library, which
// is not instrumented, store to memory that they are given.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Value.h>

namespace scute_pass {

struct library_store {
  llvm::Value* to = nullptr;
  llvm::Value* length = nullptr;  // at most; made before the call where it is no argument
};

// Nothing where the call is of another function, or of one that the module itself has, or where the
// memory is no file's.
llvm::SmallVector<library_store, 1> library_stores_of(llvm::CallBase& call);

}  // namespace scute_pass
