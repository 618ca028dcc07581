// SPDX-License-Identifier: BSD-3-Clause
#include "access.hpp"

#include "asm_events.hpp"
#include "ir_events.hpp"
#include "library_calls.hpp"
#include "processor_access.hpp"
#include "provenance.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

namespace scute_pass {
namespace {

class collector {
 public:
  collector(llvm::Instruction& instruction, bool stores, bool loads)
      : instruction_(instruction),
        layout_(instruction.getModule()->getDataLayout()),
        stores_(stores),
        loads_(loads) {}

  accesses collect() {
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction_)) {
      typed(true, store->getPointerOperand(), store->getValueOperand()->getType());
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction_)) {
      typed(false, load->getPointerOperand(), load->getType());
    } else if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction_)) {
      typed(false, change->getPointerOperand(), change->getValOperand()->getType());
      typed(true, change->getPointerOperand(), change->getValOperand()->getType());
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction_)) {
      typed(false, exchange->getPointerOperand(), exchange->getCompareOperand()->getType());
      typed(true, exchange->getPointerOperand(), exchange->getCompareOperand()->getType());
    } else if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction_)) {
      of_intrinsic(*intrinsic);
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction_)) {
      if (call->isInlineAsm()) {
        of_assembly(*call);
      } else if (const auto atomic = atomic_call_of(*call); atomic && atomic->address) {
        sized(true, atomic->address, atomic->length);
      } else if (stores_) {
        of_library(*call);
      }
    }
    return std::move(found_);
  }

 private:
  void typed(bool is_store, llvm::Value* pointer, llvm::Type* type) {
    sized(is_store, pointer, layout_.getTypeStoreSize(type).getFixedValue());
  }

  void sized(bool is_store, llvm::Value* pointer, uint64_t length) {
    if (!(is_store ? stores_ : loads_) || length == 0 || is_elsewhere(pointer)) return;
    access next;
    next.at = &instruction_;
    next.is_store = is_store;
    next.address = pointer;
    next.length = length;
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(pointer->getType()), 0);
    next.base = pointer->stripAndAccumulateConstantOffsets(layout_, offset, true);
    next.low = offset.getSExtValue();
    next.high = next.low + static_cast<int64_t>(length);
    found_.push_back(next);
  }

  void ranged(bool is_store, llvm::Value* pointer, llvm::Value* length) {
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(length))
      return sized(is_store, pointer, number->getZExtValue());
    if (!(is_store ? stores_ : loads_) || is_elsewhere(pointer)) return;
    access next;
    next.at = &instruction_;
    next.is_store = is_store;
    next.address = next.base = pointer;
    next.dynamic_length = length;
    found_.push_back(next);
  }

  void of_intrinsic(llvm::IntrinsicInst& call) {
    if (auto* copy = llvm::dyn_cast<llvm::AnyMemTransferInst>(&call)) {
      ranged(false, copy->getRawSource(), copy->getLength());
      ranged(true, copy->getRawDest(), copy->getLength());
      return;
    }
    if (auto* fill = llvm::dyn_cast<llvm::AnyMemSetInst>(&call))
      return ranged(true, fill->getRawDest(), fill->getLength());
    switch (call.getIntrinsicID()) {
      case llvm::Intrinsic::masked_store:  // as if no lane was masked
        return typed(true, call.getArgOperand(1), call.getArgOperand(0)->getType());
      case llvm::Intrinsic::masked_load: return typed(false, call.getArgOperand(0), call.getType());
      case llvm::Intrinsic::masked_compressstore:
        return typed(true, call.getArgOperand(1), call.getArgOperand(0)->getType());
      case llvm::Intrinsic::masked_expandload:
        return typed(false, call.getArgOperand(0), call.getType());
      case llvm::Intrinsic::masked_scatter:
        return lanes(true, call.getArgOperand(1), call.getArgOperand(0)->getType());
      case llvm::Intrinsic::masked_gather:
        return lanes(false, call.getArgOperand(0), call.getType());
      case llvm::Intrinsic::x86_movdir64b:
        sized(false, call.getArgOperand(1), 64);
        return sized(true, call.getArgOperand(0), 64);
      default:
        if (const auto one = processor_access_of(call))
          sized(one->is_store, one->address, one->length);
        return;
    }
  }

  void of_library(llvm::CallBase& call) {
    for (const library_store& one : library_stores_of(call)) ranged(true, one.to, one.length);
  }

  // A vector of pointers: each lane.
  void lanes(bool is_store, llvm::Value* pointers, llvm::Type* type) {
    if (!(is_store ? stores_ : loads_)) return;
    auto* vector = llvm::cast<llvm::FixedVectorType>(pointers->getType());
    llvm::IRBuilder<> builder(&instruction_);
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
      typed(is_store, builder.CreateExtractElement(pointers, lane), type->getScalarType());
  }

  void of_assembly(llvm::CallBase& call) {
    const auto* code = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
    unsigned argument = 0;
    for (const auto& constraint : code->ParseConstraints()) {
      if (!constraint.hasArg()) continue;
      const unsigned number = argument++;
      auto* type = constraint.isIndirect ? call.getParamElementType(number) : nullptr;
      if (type && type->isSized())
        typed(constraint.Type == llvm::InlineAsm::isOutput, call.getArgOperand(number), type);
    }
  }

  llvm::Instruction& instruction_;
  const llvm::DataLayout& layout_;
  bool stores_, loads_;
  accesses found_;
};

}  // namespace

accesses accesses_of(llvm::Instruction& instruction, bool stores, bool loads) {
  return collector(instruction, stores, loads).collect();
}

bool is_barrier(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call && call->isInlineAsm()) return asm_may_fence(*call);
  if (is_fence(instruction)) return true;
  if (!call || llvm::isa<llvm::AnyMemIntrinsic>(call)) return false;
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(call)) {
    // The processor's are no fences, or is_fence() knows them. Of the others some may call
    // functions.
    const auto name = intrinsic->getCalledFunction()->getName();
    if (name.starts_with("llvm.x86.") || name.starts_with("llvm.masked.") ||
        intrinsic->isAssumeLikeIntrinsic())
      return false;
    return intrinsic->mayWriteToMemory();
  }
  return !call->onlyReadsMemory();
}

}  // namespace scute_pass
