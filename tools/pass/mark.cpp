// SPDX-License-Identifier: BSD-3-Clause
#include "mark.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <scute/shield_hooks.h>

namespace scute_pass {

void add_mark(llvm::Module& module, const options& asked) {
  auto& context = module.getContext();
  auto* half = llvm::Type::getInt32Ty(context);
  const auto number = [&](uint64_t value) { return llvm::ConstantInt::get(half, value); };
  // The name is as long as its length says, and padded to four bytes.
  auto* owner =
      llvm::ConstantDataArray::getString(context, llvm::StringRef("Scute\0\0\0", 8), false);
  auto* note = llvm::ConstantStruct::getAnon(
      {number(sizeof SCUTE_SHIELD_NOTE_OWNER), number(sizeof(scute_shield_note_options)),
       number(SCUTE_SHIELD_NOTE_OPTIONS), owner, number(SCUTE_SHIELD_HOOKS_VERSION),
       number(asked.bits())});
  auto* variable = new llvm::GlobalVariable(
      module, note->getType(), true, llvm::GlobalValue::PrivateLinkage, note, "scute.shield.note");
  variable->setSection(".note.scute.shield");
  variable->setAlignment(llvm::Align(4));
  llvm::appendToCompilerUsed(module, {variable});
}

}  // namespace scute_pass
