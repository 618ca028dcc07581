// SPDX-License-Identifier: BSD-3-Clause
// hooks.hpp: writes the inlined tests of the gate and the
// calls of the stubs (scute/shield_hooks.h, hooks/stubs.S).
//
// A stub is called by inline assembly that says which registers it reads: to the compiler it is one
// instruction that changes nothing but flags and memory. So a hook costs the fast path a comparison
// and a branch, and no register. The call writes below the stack pointer, so the functions have no
// red zone.
#pragma once

#include "event.hpp"
#include "plan.hpp"
#include "sites.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>

#include <string>

namespace scute_pass {

class hook_writer {
 public:
  explicit hook_writer(llvm::Module& module);

  // Before `place`; `origin` names the site.
  void fence(llvm::Instruction* place, int kind, const llvm::Instruction& origin);
  void stream(llvm::Instruction* place, llvm::Value* address, uint64_t length,
              const llvm::Instruction& origin);
  // All of its ranges after one test.
  void access(const announcement& what);
  // Before `place`, which is executed as well; or around it, and it is executed only if the runtime
  // has not dealt with it.
  void flush(llvm::Instruction* place, llvm::Value* address, int kind,
             const llvm::Instruction& origin);
  void flush_around(llvm::Instruction* instruction, llvm::Value* address, int kind);

  // The same call with another text.
  static llvm::CallBase* with_text(llvm::CallBase& call, const std::string& text);
  // A flush instruction as labelled assembly in the place of an intrinsic.
  llvm::CallBase* flush_instruction(llvm::CallBase& intrinsic, llvm::Value* address, int kind);

 private:
  llvm::MDNode* rarely() const;
  llvm::Value* high(llvm::IRBuilder<>& builder);
  llvm::Value* is_below(llvm::IRBuilder<>& builder, llvm::Value* address);
  // A new block, which is entered if the condition holds, and its end.
  llvm::Instruction* branch(llvm::Instruction* place, llvm::Value* condition);
  llvm::CallInst* call(llvm::IRBuilder<>& builder, const char* stub,
                       llvm::ArrayRef<llvm::Value*> arguments, bool has_result,
                       const llvm::Instruction& origin);

  llvm::Module& module_;
  site_table sites_;
  llvm::GlobalVariable* gate_ = nullptr;
};

}  // namespace scute_pass
