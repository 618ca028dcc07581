// SPDX-License-Identifier: BSD-3-Clause
#include "ir_events.hpp"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

namespace scute_pass {
namespace {

uint64_t size_of(const llvm::Instruction& at, llvm::Type* type) {
  return at.getModule()->getDataLayout().getTypeStoreSize(type).getFixedValue();
}

event fence(int kind) {
  return {event::kind::fence, kind, nullptr, 0};
}
event flush(int kind, llvm::Value* address) {
  return {event::kind::flush, kind, address, 0};
}
event stream(llvm::Value* address, uint64_t length) {
  return {event::kind::stream, 0, address, length};
}

std::optional<event> of_intrinsic(llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::x86_sse_sfence: return fence(SCUTE_SHIELD_SFENCE);
    case llvm::Intrinsic::x86_sse2_mfence: return fence(SCUTE_SHIELD_MFENCE);
    case llvm::Intrinsic::x86_clwb: return flush(SCUTE_SHIELD_CLWB, call.getArgOperand(0));
    case llvm::Intrinsic::x86_clflushopt:
      return flush(SCUTE_SHIELD_CLFLUSHOPT, call.getArgOperand(0));
    case llvm::Intrinsic::x86_sse2_clflush:
      return flush(SCUTE_SHIELD_CLFLUSH, call.getArgOperand(0));
    case llvm::Intrinsic::x86_sse2_maskmov_dqu: return stream(call.getArgOperand(2), 16);
    case llvm::Intrinsic::x86_mmx_maskmovq: return stream(call.getArgOperand(2), 8);
    case llvm::Intrinsic::x86_mmx_movnt_dq: return stream(call.getArgOperand(0), 8);
    case llvm::Intrinsic::x86_directstore32: return stream(call.getArgOperand(0), 4);
    case llvm::Intrinsic::x86_directstore64: return stream(call.getArgOperand(0), 8);
    case llvm::Intrinsic::x86_movdir64b: return stream(call.getArgOperand(0), 64);
    case llvm::Intrinsic::masked_store:
      if (!call.hasMetadata(llvm::LLVMContext::MD_nontemporal)) return std::nullopt;
      return stream(call.getArgOperand(1), size_of(call, call.getArgOperand(0)->getType()));
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<event> event_of(llvm::Instruction& instruction) {
  if (const auto* barrier = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
    // A weaker one, and one that concerns a thread and its handlers, is no instruction.
    if (barrier->getOrdering() == llvm::AtomicOrdering::SequentiallyConsistent &&
        barrier->getSyncScopeID() != llvm::SyncScope::SingleThread)
      return fence(SCUTE_SHIELD_MFENCE);
    return std::nullopt;
  }
  // Whatever their ordering: a processor of this kind has no other instructions for them.
  if (llvm::isa<llvm::AtomicRMWInst>(instruction) ||
      llvm::isa<llvm::AtomicCmpXchgInst>(instruction))
    return fence(SCUTE_SHIELD_LOCKED);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (store->getOrdering() == llvm::AtomicOrdering::SequentiallyConsistent)
      return fence(SCUTE_SHIELD_LOCKED);
    if (store->hasMetadata(llvm::LLVMContext::MD_nontemporal))
      return stream(store->getPointerOperand(),
                    size_of(instruction, store->getValueOperand()->getType()));
    return std::nullopt;
  }
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return of_intrinsic(*intrinsic);
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && atomic_call_of(*call))
    return fence(SCUTE_SHIELD_LOCKED);
  return std::nullopt;
}

bool is_fence(const llvm::Instruction& instruction) {
  // It looks, and changes nothing.
  const auto found = event_of(const_cast<llvm::Instruction&>(instruction));
  return found && found->what == event::kind::fence;
}

// __atomic_store(size, address, ...) and __atomic_store_16(address, ...), and the others of the
// kind.
std::optional<atomic_call> atomic_call_of(llvm::CallBase& call) {
  const auto* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration()) return std::nullopt;
  llvm::StringRef name = callee->getName();
  if (!name.consume_front("__atomic_") && !name.consume_front("__sync_")) return std::nullopt;
  if (name.starts_with("is_lock_free")) return std::nullopt;
  atomic_call result;
  if (name.starts_with("load")) return result;
  unsigned size = 0;
  if (!name.rsplit('_').second.getAsInteger(10, size)) {
    if (call.arg_size() > 0) result = {call.getArgOperand(0), size};
  } else if (call.arg_size() > 1) {
    if (const auto* length = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0)))
      result = {call.getArgOperand(1), length->getZExtValue()};
  }
  if (result.address && !result.address->getType()->isPointerTy()) result = {};
  return result;
}

}  // namespace scute_pass
