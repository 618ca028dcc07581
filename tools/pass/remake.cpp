// SPDX-License-Identifier: BSD-3-Clause
#include "remake.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace scute_pass {
namespace {

// The value of an address.
constexpr size_t remade_max = 8;

bool is_sum(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::GetElementPtrInst>(instruction) || llvm::isa<llvm::CastInst>(instruction))
    return true;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::Shl:
    case llvm::Instruction::LShr:
    case llvm::Instruction::And:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor: return true;
    default: return false;
  }
}

}  // namespace

bool add_remade(llvm::Value* value, const llvm::Instruction* place,
                const llvm::DominatorTree& dominators, remake_list& list) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || dominators.dominates(instruction, place)) return true;
  if (std::find(list.begin(), list.end(), instruction) != list.end()) return true;
  if (!is_sum(*instruction)) return false;
  for (auto& operand : instruction->operands())
    if (!add_remade(operand, place, dominators, list)) return false;
  if (list.size() >= remade_max) return false;
  list.push_back(instruction);
  return true;
}

void add_made(llvm::Value* value, llvm::ArrayRef<llvm::Instruction*> made, remake_list& list) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || std::find(made.begin(), made.end(), instruction) == made.end()) return;
  if (std::find(list.begin(), list.end(), instruction) != list.end()) return;
  for (auto& operand : instruction->operands()) add_made(operand, made, list);
  list.push_back(instruction);
}

remaker::remaker(llvm::IRBuilder<>& builder, const remake_list& list) {
  for (auto* original : list) {
    auto* copy = original->clone();
    // That it would not overflow was known where it stood.
    copy->dropPoisonGeneratingFlags();
    for (auto& operand : copy->operands()) operand = of(operand);
    builder.Insert(copy);
    copies_.emplace_back(original, copy);
  }
}

llvm::Value* remaker::of(llvm::Value* value) const {
  for (const auto& [original, copy] : copies_)
    if (original == value) return copy;
  return value;
}

}  // namespace scute_pass
