// SPDX-License-Identifier: BSD-3-Clause
// sites.hpp: places in the source as constants of the module (struct scute_shield_site).
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <tuple>

namespace scute_pass {

class site_table {
 public:
  explicit site_table(llvm::Module& module) : module_(module) {}

  // Where the instruction is written: its line, and the function in which that line stands (which
  // may be inlined here).
  llvm::Constant* of(const llvm::Instruction& instruction);

 private:
  llvm::Constant* text(llvm::StringRef content);

  llvm::Module& module_;
  llvm::StringMap<llvm::GlobalVariable*> texts_;
  std::map<std::tuple<std::string, std::string, unsigned, unsigned>, llvm::GlobalVariable*> sites_;
};

}  // namespace scute_pass
