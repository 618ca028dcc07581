// SPDX-License-Identifier: BSD-3-Clause
#include "provenance.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Argument.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace scute_pass {
namespace {

// By name, and not by attribute: a program marks its allocator of persistent memory "malloc" as
// well. One that the module itself defines may be such an allocator, whatever its name.
bool is_heap_allocator(const llvm::Function& function) {
  if (!function.isDeclaration()) return false;
  return llvm::StringSwitch<bool>(function.getName())
      .Cases("malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "valloc",
             "strdup", "strndup", true)
      .Cases("_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t",
             "_ZnamSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
             "_ZnamSt11align_val_tRKSt9nothrow_t", true)
      .Cases("__cxa_allocate_exception", "__errno_location", true)
      .Default(false);
}

bool is_origin_elsewhere(const llvm::Value& origin) {
  if (llvm::isa<llvm::AllocaInst>(origin) || llvm::isa<llvm::GlobalVariable>(origin) ||
      llvm::isa<llvm::Function>(origin))
    return true;
  // Not to be reached: code that would use it is undefined.
  if (llvm::isa<llvm::UndefValue>(origin)) return true;
  // A null pointer, on the path on which it is never used.
  if (llvm::isa<llvm::ConstantPointerNull>(origin)) return true;
  // Copied to the stack for this function.
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&origin))
    return argument->hasByValAttr();
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&origin)) {
    if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(call)) {
      if (intrinsic->getIntrinsicID() == llvm::Intrinsic::threadlocal_address) return true;
    }
    const auto* callee = call->getCalledFunction();
    return callee && is_heap_allocator(*callee);
  }
  return false;
}

}  // namespace

bool is_elsewhere(const llvm::Value* pointer) {
  // Another address space (a segment) is none that a file is mapped into.
  if (pointer->getType()->getPointerAddressSpace() != 0) return true;
  llvm::SmallVector<const llvm::Value*, 4> origins;
  llvm::getUnderlyingObjects(pointer, origins, nullptr, 0);
  if (origins.empty()) return false;
  for (const auto* origin : origins)
    if (!is_origin_elsewhere(*origin)) return false;
  return true;
}

}  // namespace scute_pass
