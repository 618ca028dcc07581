// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/passed_on.hpp"

#include <pthread.h>
#include <ucontext.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/failure.hpp"
#include "base/rounding.hpp"

namespace scute::core::repair {
namespace {

using handler = void (*)(int, siginfo_t*, void*);

constexpr size_t kernels_set = _NSIG / 8;

void put_default_back(int signal) noexcept {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
}

// Blocks the signals that the kernel blocks for a handler.
void block_for(const struct sigaction& a, int signal, const ucontext_t& interrupted,
               sigset_t& before) noexcept {
  sigset_t mask;
  sigemptyset(&mask);
  std::memcpy(&mask, &interrupted.uc_sigmask, kernels_set);
  sigset_t all = a.sa_mask;
  if ((a.sa_flags & SA_NODEFER) == 0) sigaddset(&all, signal);
  sigorset(&mask, &mask, &all);
  ::pthread_sigmask(SIG_SETMASK, &mask, &before);
}

#if defined(__x86_64__)

// The frame as the kernel lays it out, with the address that handlers return to.
struct signal_frame {
  const void* restorer;
  std::byte context[offsetof(ucontext_t, uc_sigmask) + kernels_set];
  siginfo_t info;
};
constexpr uint64_t red_zone = 128;

uint64_t size_of_registers(const std::byte* at) noexcept {
  constexpr size_t legacy = 512, words_of_software = 464;
  constexpr uint32_t extended = 0x46505853;  // FP_XSTATE_MAGIC1
  uint32_t magic_and_size[2];
  std::memcpy(magic_and_size, at + words_of_software, sizeof magic_and_size);
  return magic_and_size[0] == extended ? magic_and_size[1] : legacy;
}

const void* restorer_of(const ucontext_t& interrupted) noexcept {
  return reinterpret_cast<const void* const*>(&interrupted)[-1];
}

// Whether the interrupted code has a stack other than the one that this runs on, and only the
// kernel's frame lies between the two.
bool has_other_stack(const ucontext_t& interrupted, const void* caller) noexcept {
  if (caller != restorer_of(interrupted)) return false;
  const stack_t& s = interrupted.uc_stack;
  const auto begin = reinterpret_cast<uint64_t>(s.ss_sp);
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const auto there = static_cast<uint64_t>(interrupted.uc_mcontext.gregs[REG_RSP]);
  // (A stack that is disarmed while a handler runs on it is armed again only when that handler
  // ends.)
  constexpr int disarmed = static_cast<int>(1u << 31);
  return (s.ss_flags & (SS_DISABLE | disarmed)) == 0 && here - begin < s.ss_size &&
         there - begin >= s.ss_size;
}

extern "C" const char scute_touches_stack[] __attribute__((visibility("hidden")));

// A fault here, and only here, means that a stack is exhausted: the kernel ends a program whose
// stack has no room for the frame of its handler.
[[gnu::noinline]] void touch(volatile std::byte* at) noexcept {
  __asm__ volatile("scute_touches_stack: orb $0, (%0)" : : "r"(at) : "memory", "cc");
}
bool is_end_of_stack(const ucontext_t& interrupted) noexcept {
  return interrupted.uc_mcontext.gregs[REG_RIP] == reinterpret_cast<greg_t>(&scute_touches_stack);
}

// (Not memcpy(): to a sanitizer the bytes below the stack's end belong to no object.)
void copy(std::byte* to, const void* from, uint64_t n) noexcept {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

// Moves the kernel's frame to that stack and continues with the handler. The alternate stack is
// free again then, for signals that come meanwhile.
[[noreturn]] void call_there(const struct sigaction& a, int signal, const siginfo_t& info,
                             const ucontext_t& interrupted) noexcept {
  auto* const end = reinterpret_cast<std::byte*>(interrupted.uc_mcontext.gregs[REG_RSP]) - red_zone;
  const auto* const registers = reinterpret_cast<const std::byte*>(interrupted.uc_mcontext.fpregs);
  const uint64_t n = registers != nullptr ? size_of_registers(registers) : 0;
  const auto down = [](std::byte* at, uint64_t to) {
    return at - reinterpret_cast<uint64_t>(at) % to;
  };
  std::byte* const vectors = down(end - n, 64);
  // As after a call: 8 more than a multiple of 16.
  std::byte* const bottom = down(vectors - sizeof(signal_frame), 16) - 8;
  constexpr uint64_t page = 4096;
  for (std::byte* at = end; at > bottom; at -= page) touch(at);
  touch(bottom);
  signal_frame frame{restorer_of(interrupted), {}, info};
  std::memcpy(frame.context, &interrupted, sizeof frame.context);
  if (registers != nullptr) {
    copy(vectors, registers, n);
    std::memcpy(frame.context + offsetof(ucontext_t, uc_mcontext.fpregs),
                static_cast<const void*>(&vectors), 8);
  }
  copy(bottom, &frame, sizeof frame);
  std::byte* const arguments = bottom;
  __asm__ volatile(
      "mov %0, %%rsp\n\t"
      "xor %%eax, %%eax\n\t"
      "jmp *%1"
      :
      : "r"(arguments), "r"(a.sa_sigaction), "D"(static_cast<long>(signal)),
        "S"(arguments + offsetof(signal_frame, info)),
        "d"(arguments + offsetof(signal_frame, context))
      : "memory", "rax");
  __builtin_unreachable();
}

#else

bool has_other_stack(const ucontext_t&, const void*) noexcept {
  return false;
}
bool is_end_of_stack(const ucontext_t&) noexcept {
  return false;
}
void call_there(const struct sigaction&, int, const siginfo_t&, const ucontext_t&) noexcept {}

#endif

}  // namespace

void passed_on::install(int signal, handler ours) {
  struct sigaction now{};
  if (::sigaction(signal, nullptr, &now) != 0)
    throw_errno("look at the handlers of SIGBUS and SIGSEGV", errno);
  // A child of fork() has it already, with the saved handler, unless it has installed another one.
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == ours) return;
  before_ = now;
  spent_.store(false);
  struct sigaction wanted{};
  wanted.sa_sigaction = ours;
  // NODEFER: reading the rest of a column can find another lost page.
  wanted.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | (now.sa_flags & SA_RESTART);
  sigemptyset(&wanted.sa_mask);
  if (::sigaction(signal, &wanted, nullptr) != 0)
    throw_errno("install the handlers of SIGBUS and SIGSEGV", errno);
}

bool passed_on::is_default() const noexcept {
  return (before_.sa_flags & SA_SIGINFO) == 0 &&
         (before_.sa_handler == SIG_DFL || before_.sa_handler == SIG_IGN);
}

void passed_on::pass(int signal, siginfo_t* info, void* context, const void* caller) noexcept {
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  const bool sent = info->si_code <= 0;
  if (is_default()) {
    if (sent && before_.sa_handler == SIG_IGN) return;
    // Ignoring a fault is no option: the kernel ends the process then, as by default.
    put_default_back(signal);
    if (sent) ::raise(signal);  // it does not come again by itself
    return;
  }
  const bool resets = (before_.sa_flags & static_cast<int>(SA_RESETHAND)) != 0;
  if ((!sent && is_end_of_stack(interrupted)) || (resets && spent_.exchange(true))) {
    put_default_back(signal);
    if (sent) ::raise(signal);
    return;
  }
  sigset_t blocked;
  block_for(before_, signal, interrupted, blocked);
  if ((before_.sa_flags & SA_ONSTACK) == 0 && has_other_stack(interrupted, caller))
    call_there(before_, signal, *info, interrupted);
  if ((before_.sa_flags & SA_SIGINFO) != 0)
    before_.sa_sigaction(signal, info, context);
  else
    before_.sa_handler(signal);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace scute::core::repair
