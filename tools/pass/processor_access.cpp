// SPDX-License-Identifier: BSD-3-Clause
#include "processor_access.hpp"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

namespace scute_pass {
namespace {

constexpr uint64_t fxsave_length = 512;
// All states but the tiles of AMX, and with them; both rounded up from what processors say of
// themselves (CPUID, leaf 13).
constexpr uint64_t xsave_length = 4096, xsave_all_length = 12288;
constexpr uint64_t tile_states = uint64_t{3} << 17;

uint64_t size_of(const llvm::IntrinsicInst& call, llvm::Type* type) {
  return call.getModule()->getDataLayout().getTypeStoreSize(type).getFixedValue();
}

uint64_t xsave_length_of(const llvm::IntrinsicInst& call) {
  const auto* high = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
  const auto* low = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(2));
  if (!high || !low || high->getZExtValue() != 0 || (low->getZExtValue() & tile_states) != 0)
    return xsave_all_length;
  return xsave_length;
}

}  // namespace

std::optional<processor_access> processor_access_of(llvm::IntrinsicInst& call) {
  const auto stores = [&](unsigned address, uint64_t length) {
    return processor_access{true, call.getArgOperand(address), length};
  };
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::x86_sse2_maskmov_dqu: return stores(2, 16);
    case llvm::Intrinsic::x86_mmx_maskmovq: return stores(2, 8);
    case llvm::Intrinsic::x86_mmx_movnt_dq: return stores(0, 8);
    case llvm::Intrinsic::x86_directstore32:
    case llvm::Intrinsic::x86_sse_stmxcsr: return stores(0, 4);
    case llvm::Intrinsic::x86_directstore64: return stores(0, 8);
    case llvm::Intrinsic::x86_fxsave:
    case llvm::Intrinsic::x86_fxsave64: return stores(0, fxsave_length);
    case llvm::Intrinsic::x86_xsave:
    case llvm::Intrinsic::x86_xsave64:
    case llvm::Intrinsic::x86_xsavec:
    case llvm::Intrinsic::x86_xsavec64:
    case llvm::Intrinsic::x86_xsaveopt:
    case llvm::Intrinsic::x86_xsaveopt64:
    case llvm::Intrinsic::x86_xsaves:
    case llvm::Intrinsic::x86_xsaves64: return stores(0, xsave_length_of(call));
    default: break;
  }
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name.starts_with("llvm.x86.avx.maskstore.") || name.starts_with("llvm.x86.avx2.maskstore."))
    return stores(0, size_of(call, call.getArgOperand(2)->getType()));
  if (name.starts_with("llvm.x86.avx.maskload.") || name.starts_with("llvm.x86.avx2.maskload."))
    return processor_access{false, call.getArgOperand(0), size_of(call, call.getType())};
  // Lanes that are narrowed and stored: half of what they were, or less.
  if (name.starts_with("llvm.x86.avx512.mask.pmov") && name.contains(".mem."))
    return stores(0, size_of(call, call.getArgOperand(1)->getType()) / 2);
  return std::nullopt;
}

}  // namespace scute_pass
