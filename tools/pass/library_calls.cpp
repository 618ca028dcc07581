// SPDX-License-Identifier: BSD-3-Clause
#include "library_calls.hpp"

#include "provenance.hpp"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <iterator>

namespace scute_pass {
namespace {

enum class extent : unsigned char {
  argument,  // as many bytes as argument `a` says
  product,   // a times b
  copy,      // the string `a` and its end
  append,    // after the string that is there: the string `a` and its end
  append_some,
  fixed  // `a` bytes
};

struct known_call {
  const char* name;
  unsigned to;
  extent how;
  unsigned a, b;
};

// The checking form of a function (-D_FORTIFY_SOURCE) may have another name; it begins with the
// same arguments.
constexpr known_call known[] = {
    {"memcpy", 0, extent::argument, 2, 0},
    {"memmove", 0, extent::argument, 2, 0},
    {"memset", 0, extent::argument, 2, 0},
    {"mempcpy", 0, extent::argument, 2, 0},
    {"memccpy", 0, extent::argument, 3, 0},
    {"bcopy", 1, extent::argument, 2, 0},
    {"bzero", 0, extent::argument, 1, 0},
    {"explicit_bzero", 0, extent::argument, 1, 0},
    {"__memcpy_chk", 0, extent::argument, 2, 0},
    {"__memmove_chk", 0, extent::argument, 2, 0},
    {"__memset_chk", 0, extent::argument, 2, 0},
    {"__mempcpy_chk", 0, extent::argument, 2, 0},
    {"__explicit_bzero_chk", 0, extent::argument, 1, 0},
    {"strncpy", 0, extent::argument, 2, 0},
    {"stpncpy", 0, extent::argument, 2, 0},
    {"strlcpy", 0, extent::argument, 2, 0},
    {"__strncpy_chk", 0, extent::argument, 2, 0},
    {"__stpncpy_chk", 0, extent::argument, 2, 0},
    {"strcpy", 0, extent::copy, 1, 0},
    {"stpcpy", 0, extent::copy, 1, 0},
    {"__strcpy_chk", 0, extent::copy, 1, 0},
    {"__stpcpy_chk", 0, extent::copy, 1, 0},
    {"strcat", 0, extent::append, 1, 0},
    {"__strcat_chk", 0, extent::append, 1, 0},
    {"strncat", 0, extent::append_some, 2, 0},
    {"__strncat_chk", 0, extent::append_some, 2, 0},
    {"snprintf", 0, extent::argument, 1, 0},
    {"vsnprintf", 0, extent::argument, 1, 0},
    {"__snprintf_chk", 0, extent::argument, 1, 0},
    {"__vsnprintf_chk", 0, extent::argument, 1, 0},
    {"read", 1, extent::argument, 2, 0},
    {"__read_chk", 1, extent::argument, 2, 0},
    {"pread", 1, extent::argument, 2, 0},
    {"pread64", 1, extent::argument, 2, 0},
    {"__pread_chk", 1, extent::argument, 2, 0},
    {"__pread64_chk", 1, extent::argument, 2, 0},
    {"recv", 1, extent::argument, 2, 0},
    {"__recv_chk", 1, extent::argument, 2, 0},
    {"recvfrom", 1, extent::argument, 2, 0},
    {"fread", 0, extent::product, 1, 2},
    {"fread_unlocked", 0, extent::product, 1, 2},
    {"__fread_chk", 0, extent::product, 2, 3},
    {"fgets", 0, extent::argument, 1, 0},
    {"__fgets_chk", 0, extent::argument, 2, 0},
    {"getrandom", 0, extent::argument, 1, 0},
    {"getentropy", 0, extent::argument, 1, 0},
    {"readlink", 1, extent::argument, 2, 0},
    {"__readlink_chk", 1, extent::argument, 2, 0},
    {"__recvfrom_chk", 1, extent::argument, 2, 0},
    {"__fread_unlocked_chk", 0, extent::product, 2, 3},
    {"__strlcpy_chk", 0, extent::argument, 2, 0},
    {"strlcat", 0, extent::argument, 2, 0},
    {"fgets_unlocked", 0, extent::argument, 1, 0},
    {"strftime", 0, extent::argument, 1, 0},
    {"qsort", 0, extent::product, 1, 2},
    {"clock_gettime", 1, extent::fixed, 16, 0},
    {"gettimeofday", 0, extent::fixed, 16, 0},
    {"time", 0, extent::fixed, 8, 0},
    {"stat", 1, extent::fixed, 144, 0},
    {"fstat", 1, extent::fixed, 144, 0},
    {"lstat", 1, extent::fixed, 144, 0},
    // Locks that lie in the file.
    {"pthread_mutex_init", 0, extent::fixed, 40, 0},
    {"pthread_mutex_lock", 0, extent::fixed, 40, 0},
    {"pthread_mutex_trylock", 0, extent::fixed, 40, 0},
    {"pthread_mutex_timedlock", 0, extent::fixed, 40, 0},
    {"pthread_mutex_unlock", 0, extent::fixed, 40, 0},
    {"pthread_mutex_destroy", 0, extent::fixed, 40, 0},
    {"pthread_rwlock_init", 0, extent::fixed, 56, 0},
    {"pthread_rwlock_rdlock", 0, extent::fixed, 56, 0},
    {"pthread_rwlock_wrlock", 0, extent::fixed, 56, 0},
    {"pthread_rwlock_unlock", 0, extent::fixed, 56, 0},
    {"pthread_cond_init", 0, extent::fixed, 48, 0},
    {"pthread_cond_signal", 0, extent::fixed, 48, 0},
    {"pthread_cond_broadcast", 0, extent::fixed, 48, 0},
    {"pthread_spin_lock", 0, extent::fixed, 4, 0},
    {"pthread_spin_unlock", 0, extent::fixed, 4, 0},
    {"sem_init", 0, extent::fixed, 32, 0},
    {"sem_wait", 0, extent::fixed, 32, 0},
    {"sem_post", 0, extent::fixed, 32, 0},
    // The C++ library's: std::istream's read(), readsome(), get() and getline().
    {"_ZNSi4readEPcl", 1, extent::argument, 2, 0},
    {"_ZNSi8readsomeEPcl", 1, extent::argument, 2, 0},
    {"_ZNSi3getEPcl", 1, extent::argument, 2, 0},
    {"_ZNSi7getlineEPcl", 1, extent::argument, 2, 0},
};

// A call that only reads, and so holds up nothing (is_barrier()).
llvm::Value* length_of_string(llvm::IRBuilder<>& builder, llvm::Value* string) {
  auto* module = builder.GetInsertBlock()->getModule();
  auto& context = module->getContext();
  auto attributes =
      llvm::AttributeList()
          .addFnAttribute(context, llvm::Attribute::NoUnwind)
          .addFnAttribute(context, llvm::Attribute::WillReturn)
          .addFnAttribute(context,
                          llvm::Attribute::getWithMemoryEffects(
                              context, llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref)));
  const auto function =
      module->getOrInsertFunction("strlen", attributes, builder.getInt64Ty(), builder.getPtrTy());
  auto* call = builder.CreateCall(function, {string});
  call->setAttributes(attributes);
  return call;
}

llvm::Value* length_of(const known_call& of, llvm::CallBase& call) {
  llvm::IRBuilder<> builder(&call);
  const auto number = [&](unsigned i) {
    return builder.CreateZExtOrTrunc(call.getArgOperand(i), builder.getInt64Ty());
  };
  const auto string = [&](unsigned i) { return length_of_string(builder, call.getArgOperand(i)); };
  auto* const one = builder.getInt64(1);
  switch (of.how) {
    case extent::argument: return number(of.a);
    case extent::product: return builder.CreateMul(number(of.a), number(of.b));
    case extent::copy: return builder.CreateAdd(string(of.a), one);
    case extent::append:
      return builder.CreateAdd(builder.CreateAdd(string(of.to), string(of.a)), one);
    case extent::append_some:
      // Its bound may be the greatest number there is.
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat,
                                           builder.CreateAdd(string(of.to), one), number(of.a));
    case extent::fixed: return builder.getInt64(of.a);
  }
  return nullptr;
}

bool has_its_arguments(const known_call& k, const llvm::CallBase& call) {
  const auto is_number = [&](unsigned i) {
    return i < call.arg_size() && call.getArgOperand(i)->getType()->isIntegerTy();
  };
  const auto is_pointer = [&](unsigned i) {
    return i < call.arg_size() && call.getArgOperand(i)->getType()->isPointerTy();
  };
  switch (k.how) {
    case extent::argument:
    case extent::append_some: return is_pointer(k.to) && is_number(k.a);
    case extent::product: return is_pointer(k.to) && is_number(k.a) && is_number(k.b);
    case extent::copy:
    case extent::append: return is_pointer(k.to) && is_pointer(k.a);
    case extent::fixed: return is_pointer(k.to);
  }
  return false;
}

}  // namespace

llvm::SmallVector<library_store, 1> library_stores_of(llvm::CallBase& call) {
  const auto* function = call.getCalledFunction();
  if (!function || !function->isDeclaration() || function->isIntrinsic()) return {};
  const auto* found = std::find_if(std::begin(known), std::end(known), [&](const known_call& k) {
    return function->getName() == k.name;
  });
  if (found == std::end(known) || !has_its_arguments(*found, call)) return {};
  if (is_elsewhere(call.getArgOperand(found->to))) return {};
  return {{call.getArgOperand(found->to), length_of(*found, call)}};
}

}  // namespace scute_pass
