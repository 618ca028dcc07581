// SPDX-License-Identifier: BSD-3-Clause
// dlsym(3) and dlvsym(3): a program that looks up a function by its name (plug-ins, ctypes and
// other foreign-function interfaces) gets the interposed one.
//
// LOOK-1 With a handle: if the real call returns exactly the function that the interposed one of
//    that name calls, the program gets the interposed one; otherwise the real result. So a
//    library's own function of that name stays its own, and a library between us and the C library
//    never finds itself after us.
// LOOK-2 The results of RTLD_DEFAULT and RTLD_NEXT depend on the caller: the real call is jumped
//    to, with the caller's return address. But objects loaded after this library bypass it by
//    RTLD_NEXT, and by RTLD_DEFAULT with a version, since our functions have none.
// LOOK-3 dlerror() and errno are as the real call leaves them. Other names are left to the real
//    call.
//
// About LOOK-2: such a caller gets the interposed function if no other object has a function of
// that name besides us and the one that we call: then no other function in the chain is skipped.
#include <dlfcn.h>

#include <cerrno>

#include "shield/interpose/calls/next_call.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/plain_text.hpp"
#include "shield/interpose/libraries/real_lookup.hpp"
#include "shield/interpose/libraries/stand_in.hpp"
#include "shield/interpose/libraries/symbol_table.hpp"

using namespace scute::core::interpose;

// This address means that the real call must be jumped to.
extern "C" {
[[gnu::used, gnu::visibility("hidden")]] constinit char scute_lookup_goes_on = 0;
}

namespace {

// version: null if none is requested.
void* look_up_really(void* handle, const char* name, const char* version) noexcept {
  return version != nullptr ? real_lookup::dlvsym()(handle, name, version)
                            : real_lookup::dlsym()(handle, name);
}

// The library in which an interposed function searches for the next one if no globally visible
// library has it (next_call.hpp).
const char* plug_in_with(const char* name) noexcept {
  constexpr struct {
    const char *begin, *library;
  } known[] = {
      {"pmem_", "libpmem.so.1"}, {"pmem2_", "libpmem2.so.1"}, {"pmemobj_", "libpmemobj.so.1"}};
  for (const auto& k : known)
    if (begins_with(name, k.begin)) return k.library;
  return nullptr;
}

// The function that the interposed one of that name calls; null: none yet. Keeps errno.
void* next_of(const char* name, const char* version) noexcept {
  const int keep = errno;
  void* next = look_up_really(RTLD_NEXT, name, version);
  const char* const library = next == nullptr ? plug_in_with(name) : nullptr;
  void* const handle =
      library != nullptr ? next::dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (handle != nullptr) {
    next = look_up_really(handle, name, version);
    ::dlclose(handle);
  }
  if (next == nullptr) ::dlerror();  // LOOK-3
  errno = keep;
  return next;
}

// LOOK-2
bool leads_around(const char* name, const void* next, const void* caller) noexcept {
  bool seen = false, others = false;
  for_each_symbol_table([&](const symbol_table& t) {
    if (t.is_ours() || t.contains(caller)) return false;
    if (t.contains(next))
      seen = true;
    else
      others = t.find(name) != nullptr;
    return others;
  });
  return seen && !others;
}

}  // namespace

extern "C" [[gnu::used, gnu::visibility("hidden")]] void* scute_look_up(void* handle,
                                                                        const char* name,
                                                                        const char* version,
                                                                        const void* caller) {
  const stand_in* const ours = name != nullptr ? find_stand_in(name) : nullptr;
  if (ours == nullptr || (handle == RTLD_DEFAULT && version == nullptr))
    return &scute_lookup_goes_on;
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT) {
    const void* const next = next_of(name, version);
    return next != nullptr && leads_around(name, next, caller) ? ours->function
                                                               : &scute_lookup_goes_on;
  }
  void* const found = look_up_really(handle, name, version);
  if (found == nullptr) return found;
  return next_of(name, version) == found ? ours->function : found;
}

extern "C" [[gnu::used, gnu::visibility("hidden")]] void* scute_real_dlsym() {
  return reinterpret_cast<void*>(real_lookup::dlsym());
}
extern "C" [[gnu::used, gnu::visibility("hidden")]] void* scute_real_dlvsym() {
  return reinterpret_cast<void*>(real_lookup::dlvsym());
}

// The return address identifies the caller, so our functions pass it on unchanged (LOOK-2).
#ifdef __x86_64__
#define SCUTE_LOOKUP(name, version)               \
  __asm__(                                        \
      ".pushsection .text\n"                      \
      ".globl " #name                             \
      "\n"                                        \
      ".type " #name ", @function\n" #name        \
      ":\n"                                       \
      "  .cfi_startproc\n"                        \
      "  endbr64\n"                               \
      "  movq (%rsp), %rcx\n"                     \
      "  pushq %rdi\n"                            \
      "  pushq %rsi\n"                            \
      "  pushq %rdx\n"                            \
      "  .cfi_adjust_cfa_offset 24\n" version     \
      "  call scute_look_up\n"                    \
      "  leaq scute_lookup_goes_on(%rip), %rcx\n" \
      "  cmpq %rcx, %rax\n"                       \
      "  jne 1f\n"                                \
      "  call scute_real_" #name                  \
      "\n"                                        \
      "  popq %rdx\n"                             \
      "  popq %rsi\n"                             \
      "  popq %rdi\n"                             \
      "  .cfi_adjust_cfa_offset -24\n"            \
      "  jmp *%rax\n"                             \
      "1:\n"                                      \
      "  .cfi_adjust_cfa_offset 24\n"             \
      "  addq $24, %rsp\n"                        \
      "  .cfi_adjust_cfa_offset -24\n"            \
      "  ret\n"                                   \
      "  .cfi_endproc\n"                          \
      ".size " #name ", .-" #name                 \
      "\n"                                        \
      ".popsection\n");                           \
  SCUTE_STANDS_IN(name)
SCUTE_LOOKUP(dlsym, "  xorl %edx, %edx\n");
SCUTE_LOOKUP(dlvsym, "");
#endif
