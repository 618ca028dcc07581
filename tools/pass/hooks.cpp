// SPDX-License-Identifier: BSD-3-Clause
#include "hooks.hpp"

#include "asm_events.hpp"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace scute_pass {

hook_writer::hook_writer(llvm::Module& module) : module_(module), sites_(module) {
  auto* word = llvm::Type::getInt64Ty(module.getContext());
  gate_ = llvm::cast<llvm::GlobalVariable>(
      module.getOrInsertGlobal("scute_shield_gate_of_image", word));
  gate_->setVisibility(llvm::GlobalValue::HiddenVisibility);
  gate_->setDSOLocal(true);
}

// Volatile: each test reads the gate again, and the read is folded into the comparison.
llvm::Value* hook_writer::high(llvm::IRBuilder<>& builder) {
  return builder.CreateAlignedLoad(builder.getInt64Ty(), gate_, llvm::Align(8), true, "scute.high");
}

llvm::Value* hook_writer::is_below(llvm::IRBuilder<>& builder, llvm::Value* address) {
  auto* number = builder.CreatePtrToInt(address, builder.getInt64Ty());
  return builder.CreateICmpULT(number, high(builder));
}

// A called hook costs more than a jump; so its moves of registers are made where it is called.
llvm::MDNode* hook_writer::rarely() const {
  return llvm::MDBuilder(module_.getContext()).createBranchWeights(1, (1U << 20) - 1);
}

llvm::Instruction* hook_writer::branch(llvm::Instruction* place, llvm::Value* condition) {
  return llvm::SplitBlockAndInsertIfThen(condition, place->getIterator(), false, rarely());
}

llvm::CallInst* hook_writer::call(llvm::IRBuilder<>& builder, const char* stub,
                                  llvm::ArrayRef<llvm::Value*> arguments, bool has_result,
                                  const llvm::Instruction& origin) {
  llvm::SmallVector<llvm::Type*, 3> types;
  llvm::SmallVector<llvm::Value*, 3> values;
  for (auto* argument : arguments) values.push_back(argument);
  values.push_back(sites_.of(origin));
  for (auto* value : values) types.push_back(value->getType());
  static constexpr const char* registers[] = {"{rdi}", "{rsi}", "{rdx}"};
  std::string constraints = has_result ? "={rax}," : "";
  for (size_t i = 0; i < values.size(); ++i) constraints += std::string(registers[i]) + ",";
  constraints += "~{memory},~{dirflag},~{fpsr},~{flags}";
  auto* result = has_result ? builder.getInt64Ty() : builder.getVoidTy();
  auto* type = llvm::FunctionType::get(result, types, false);
  auto* code = llvm::InlineAsm::get(type, std::string("call ") + stub, constraints, true);
  auto* made = builder.CreateCall(type, code, values);
  made->setDoesNotThrow();
  made->setDebugLoc(origin.getDebugLoc());
  // Debug information of a function must not be missing on its calls, nor be another function's.
  if (!made->getDebugLoc())
    if (auto* in = made->getFunction()->getSubprogram())
      made->setDebugLoc(llvm::DILocation::get(module_.getContext(), 0, 0, in));
  made->getFunction()->addFnAttr(llvm::Attribute::NoRedZone);
  // A report is a side effect.
  made->getFunction()->removeFnAttr(llvm::Attribute::Memory);
  return made;
}

void hook_writer::fence(llvm::Instruction* place, int kind, const llvm::Instruction& origin) {
  llvm::IRBuilder<> builder(place);
  builder.SetInsertPoint(branch(place, builder.CreateICmpNE(high(builder), builder.getInt64(0))));
  call(builder, "scute_shield_fence_stub", {builder.getInt64(static_cast<uint64_t>(kind))}, false,
       origin);
}

void hook_writer::stream(llvm::Instruction* place, llvm::Value* address, uint64_t length,
                         const llvm::Instruction& origin) {
  llvm::IRBuilder<> builder(place);
  builder.SetInsertPoint(branch(place, is_below(builder, address)));
  call(builder, "scute_shield_stream_stub", {address, builder.getInt64(length)}, false, origin);
}

void hook_writer::access(const announcement& what) {
  llvm::IRBuilder<> builder(what.place);
  builder.SetInsertPoint(branch(what.place, is_below(builder, what.object)));
  const char* stub = what.is_store ? "scute_shield_store_stub" : "scute_shield_load_stub";
  for (const auto& range : what.ranges) {
    const remaker remade(builder, range.remade);
    auto* base = remade.of(range.base);
    if (range.low != 0)
      base = builder.CreatePtrAdd(base, builder.getInt64(static_cast<uint64_t>(range.low)));
    auto* length =
        range.dynamic_length
            ? builder.CreateZExtOrTrunc(remade.of(range.dynamic_length), builder.getInt64Ty())
            : builder.getInt64(static_cast<uint64_t>(range.high - range.low));
    call(builder, stub, {base, length}, false, *range.origin);
  }
}

void hook_writer::flush(llvm::Instruction* place, llvm::Value* address, int kind,
                        const llvm::Instruction& origin) {
  llvm::IRBuilder<> builder(place);
  builder.SetInsertPoint(branch(place, is_below(builder, address)));
  call(builder, "scute_shield_flush_stub", {address, builder.getInt64(static_cast<uint64_t>(kind))},
       true, origin);
}

// before: if below: handled = stub(...)
//         if handled == 0: instruction
// after:
void hook_writer::flush_around(llvm::Instruction* instruction, llvm::Value* address, int kind) {
  auto* before = instruction->getParent();
  auto* original = before->splitBasicBlock(instruction->getIterator(), "scute.flush");
  auto* after = original->splitBasicBlock(std::next(instruction->getIterator()), "scute.flushed");
  auto* ask =
      llvm::BasicBlock::Create(module_.getContext(), "scute.ask", before->getParent(), original);
  before->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(before);
  builder.CreateCondBr(is_below(builder, address), ask, original, rarely());
  builder.SetInsertPoint(ask);
  auto* handled =
      call(builder, "scute_shield_flush_stub",
           {address, builder.getInt64(static_cast<uint64_t>(kind))}, true, *instruction);
  builder.CreateCondBr(builder.CreateICmpEQ(handled, builder.getInt64(0)), original, after);
}

llvm::CallBase* hook_writer::with_text(llvm::CallBase& call, const std::string& text) {
  const auto* old = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  call.setCalledOperand(llvm::InlineAsm::get(
      old->getFunctionType(), text, old->getConstraintString(), old->hasSideEffects(),
      old->isAlignStack(), old->getDialect(), old->canThrow()));
  return &call;
}

llvm::CallBase* hook_writer::flush_instruction(llvm::CallBase& intrinsic, llvm::Value* address,
                                               int kind) {
  const char* name = kind == SCUTE_SHIELD_CLWB      ? "clwb"
                     : kind == SCUTE_SHIELD_CLFLUSH ? "clflush"
                                                    : "clflushopt";
  llvm::IRBuilder<> builder(&intrinsic);
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {address->getType()}, false);
  auto* code = llvm::InlineAsm::get(type, flush_row() + name + " $0",
                                    "*m,~{memory},~{dirflag},~{fpsr},~{flags}", true);
  auto* made = builder.CreateCall(type, code, {address});
  made->addParamAttr(0, llvm::Attribute::get(module_.getContext(), llvm::Attribute::ElementType,
                                             builder.getInt8Ty()));
  made->setDoesNotThrow();
  made->setDebugLoc(intrinsic.getDebugLoc());
  intrinsic.eraseFromParent();
  return made;
}

}  // namespace scute_pass
