// SPDX-License-Identifier: BSD-3-Clause
#include "sites.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>

namespace scute_pass {

llvm::Constant* site_table::text(llvm::StringRef content) {
  auto& slot = texts_[content];
  if (!slot) {
    auto* value = llvm::ConstantDataArray::getString(module_.getContext(), content);
    slot = new llvm::GlobalVariable(module_, value->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, value, "scute.site.text");
    slot->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    slot->setAlignment(llvm::Align(1));
  }
  return slot;
}

llvm::Constant* site_table::of(const llvm::Instruction& instruction) {
  std::string file = instruction.getModule()->getSourceFileName();
  std::string function = instruction.getFunction()->getName().str();
  unsigned line = 0, column = 0;
  if (const llvm::DILocation* location = instruction.getDebugLoc()) {
    file = location->getFilename().str();
    line = location->getLine();
    column = location->getColumn();
    if (const auto* in = location->getScope()->getSubprogram())
      function = (in->getLinkageName().empty() ? in->getName() : in->getLinkageName()).str();
  }
  auto& slot = sites_[{file, function, line, column}];
  if (slot) return slot;
  auto& context = module_.getContext();
  auto* half = llvm::Type::getInt32Ty(context);
  auto* word = llvm::Type::getInt64Ty(context);
  auto* type = llvm::StructType::get(half, half, half, half);
  slot = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage, nullptr,
                                  "scute.site");
  slot->setAlignment(llvm::Align(4));
  const auto distance = [&](unsigned field, llvm::Constant* to) -> llvm::Constant* {
    auto* index = llvm::ConstantInt::get(half, field);
    llvm::Constant* path[] = {llvm::ConstantInt::get(half, 0), index};
    auto* from = llvm::ConstantExpr::getInBoundsGetElementPtr(
        type, slot, llvm::ArrayRef<llvm::Constant*>(path));
    return llvm::ConstantExpr::getTrunc(
        llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(to, word),
                                   llvm::ConstantExpr::getPtrToInt(from, word)),
        half);
  };
  slot->setInitializer(llvm::ConstantStruct::get(
      type, {distance(0, text(file)), distance(1, text(function)),
             llvm::ConstantInt::get(half, line), llvm::ConstantInt::get(half, column)}));
  return slot;
}

}  // namespace scute_pass
