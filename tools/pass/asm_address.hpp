// SPDX-License-Identifier: BSD-3-Clause
// asm_address.hpp: the address that an operand of inline
// assembly means, from its text and the constraints.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstrTypes.h>

#include <optional>
#include <string>
#include <string_view>

namespace scute_pass {

class asm_operands {
 public:
  // `alone`: the assembly is one instruction, so that no other can have changed a register before
  // it.
  asm_operands(llvm::CallBase& call, bool alone);

  // Whether the text means memory ("$0" with a memory constraint, "8(%rax)", "[rax]"), and not a
  // register or a constant.
  bool is_memory(std::string_view text) const;
  // Whether it means a register.
  bool is_register(std::string_view text) const;
  // Bytes of a register; 0 if unknown.
  unsigned register_size(std::string_view text) const;

  // The address of a memory operand, or what a register holds, as a pointer made before the call.
  // Null, and error() says why, if it is unknown.
  llvm::Value* address_of(std::string_view text);
  llvm::Value* address_in_register(std::string_view text);
  // The value of the named register when the assembly begins.
  llvm::Value* address_in_named(std::string_view name);

  const std::string& error() const noexcept { return error_; }

 private:
  struct operand {
    llvm::Value* value = nullptr;  // the inputs
    llvm::Type* type = nullptr;    // of the value in the register
    bool memory = false, output = false;
    std::string pinned;  // the one register that it can be in
  };

  struct reference {
    unsigned number = 0;
    char modifier = '\0';
  };

  std::optional<reference> reference_of(std::string_view text) const;
  llvm::Value* fail(std::string text);
  llvm::Value* input_of(const operand& from, std::string_view text);
  llvm::Value* register_value(std::string_view text);
  llvm::Value* att_address(std::string_view text);
  llvm::Value* intel_address(std::string_view text);
  llvm::Value* sum(llvm::Value* base, llvm::Value* index, int64_t scale, int64_t displacement);

  llvm::CallBase& call_;
  llvm::IRBuilder<> builder_;
  bool alone_, intel_;
  llvm::SmallVector<operand, 8> operands_;
  std::string error_;
};

}  // namespace scute_pass
