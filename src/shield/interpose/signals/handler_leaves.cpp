// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/signals/handler_leaves.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unwind.h>

#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/signals/deferred_signals.hpp"
#include "shield/interpose/signals/signals_wait.hpp"
#include "shield/interpose/stores/durability.hpp"

namespace scute::core::interpose {
namespace {

enum class way : uint8_t { longjmp, checked_longjmp, exit };

struct departure {
  way by;
  int value;
  __jmp_buf_tag to;  // of a jump
};

void depart(departure& d) {
  switch (d.by) {
    case way::longjmp: return next::longjmp(&d.to, d.value);
    case way::checked_longjmp: return next::longjmp_chk(&d.to, d.value);
    case way::exit: return next::exit(d.value);
  }
}

constexpr size_t registers = 17;  // those of gregset_t that instructions name, and where to resume

struct waiting {
  bool is;
  departure what;
  sigset_t signals;           // blocked in the handler
  greg_t resumed[registers];  // where the call resumed
};
[[gnu::tls_model("initial-exec")]] thread_local constinit waiting at_end{};

#ifdef __x86_64__

// The stack pointer in a jmp_buf, as the C library mangles it.
uintptr_t stack_of(const __jmp_buf_tag& to) noexcept {
  constexpr int at = 6;
  auto hidden = static_cast<uintptr_t>(to.__jmpbuf[at]);
  __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(hidden) : : "cc");
  return hidden;
}

// Whether we unmangle it correctly.
[[gnu::noinline]] bool try_stack() noexcept {
  constexpr uintptr_t near = 4096;
  jmp_buf here;
  if (_setjmp(here) != 0) return false;
  const auto now = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return stack_of(here[0]) - (now - near) < 2 * near;
}
const bool stack_is_known = try_stack();

// The alternate stack of handlers; empty if there is none.
class own_stack {
 public:
  // As set now; a handler may have none while it runs (SS_AUTODISARM).
  own_stack() noexcept {
    stack_t s{};
    if (::sigaltstack(nullptr, &s) == 0) set(s);
  }
  // As set when a signal came.
  void set(const stack_t& s) noexcept {
    if ((s.ss_flags & SS_DISABLE) != 0 || size_ != 0) return;
    begin_ = reinterpret_cast<uintptr_t>(s.ss_sp);
    size_ = s.ss_size;
  }
  bool has(uintptr_t at) const noexcept { return at - begin_ < size_; }

 private:
  uintptr_t begin_ = 0, size_ = 0;
};

// Searches the frames from here to the call's. Finds the last one that a handler returns to: the
// kernel's record of what it has interrupted.
struct search {
  uintptr_t call;
  own_stack& handlers;
  ucontext_t* found;
};

// mov $15, %rax; syscall
constexpr unsigned char sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

_Unwind_Reason_Code look(_Unwind_Context* frame, void* to) {
  search& s = *static_cast<search*>(to);
  const uintptr_t stack = _Unwind_GetCFA(frame);
  if (s.found != nullptr && s.handlers.has(stack) == s.handlers.has(s.call) && stack > s.call)
    return _URC_END_OF_STACK;
  const auto* const code = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  if (code != nullptr && std::memcmp(code, sigreturn, sizeof sigreturn) == 0)
    s.handlers.set((s.found = reinterpret_cast<ucontext_t*>(stack))->uc_stack);
  return _URC_NO_REASON;
}

// Whether the call has not advanced since it resumed before: it has met a fault, and would meet it
// for ever. (The kernel writes a signal's information only for handlers with SA_SIGINFO.)
bool is_where_it_was(const ucontext_t& interrupted) noexcept {
  return at_end.is &&
         std::memcmp(at_end.resumed, interrupted.uc_mcontext.gregs, sizeof at_end.resumed) == 0;
}

// Whether a jump to `target` leaves the frame of the call.
bool leaves(uintptr_t call, uintptr_t target, const own_stack& handlers) noexcept {
  const auto now = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const bool other_stack = handlers.has(now) && !handlers.has(call);
  const bool stays = target >= now && (other_stack ? handlers.has(target) : target < call);
  return !stays;
}

[[noreturn]] void return_to(ucontext_t& interrupted) noexcept {
  sigset_t before;
  hold_signals(before);
  hold_signals_in(interrupted);
  __asm__ volatile(
      "mov %0, %%rsp\n\t"
      "mov $15, %%eax\n\t"
      "syscall\n\t"
      "ud2"
      :
      : "r"(&interrupted)
      : "memory");
  __builtin_unreachable();
}

// LEAVE-1, LEAVE-3
void wait_if_in_call(const departure& d) noexcept {
  const uintptr_t call = call_under_way();
  if (call == 0) return;
  if (d.by != way::exit && !stack_is_known) return;
  own_stack handlers;
  search s{call, handlers, nullptr};
  _Unwind_Backtrace(&look, &s);
  if (d.by != way::exit && !leaves(call, stack_of(d.to), handlers)) return;
  const bool faulted = s.found != nullptr && is_where_it_was(*s.found);
  if (s.found == nullptr || faulted) {
    complain("a handler of a signal",
             faulted ? "it has left a flush or a fence in which a fault occurred, and which cannot "
                       "be completed"
                     : "it has left a flush or a fence by longjmp() or exit(), and its frame is "
                       "not found");
    std::abort();
  }
  at_end.what = d;
  blocked_signals(at_end.signals);
  std::memcpy(at_end.resumed, s.found->uc_mcontext.gregs, sizeof at_end.resumed);
  at_end.is = true;
  return_to(*s.found);
}

#else

void wait_if_in_call(const departure&) noexcept {}

#endif

}  // namespace

void forget_departures() noexcept {
  at_end.is = false;
}

void do_what_waits() noexcept {
  if (!at_end.is) return;
  departure now = at_end.what;
  at_end.is = false;
  forget_deferral();
  ::pthread_sigmask(SIG_SETMASK, &at_end.signals, nullptr);
  wait_if_in_call(now);  // LEAVE-2
  depart(now);
}

}  // namespace scute::core::interpose

using namespace scute::core::interpose;

SCUTE_INTERPOSED(void, longjmp, (__jmp_buf_tag * to, int value)) {
  if (call_under_way() != 0) wait_if_in_call({way::longjmp, value, *to});
  ask_for_end();
  next::longjmp(to, value);
}
SCUTE_INTERPOSED_ALIAS(void, _longjmp, longjmp, (__jmp_buf_tag * to, int value));
SCUTE_INTERPOSED_ALIAS(void, siglongjmp, longjmp, (__jmp_buf_tag * to, int value));
SCUTE_INTERPOSED(void, __longjmp_chk, (__jmp_buf_tag * to, int value)) {
  if (call_under_way() != 0) wait_if_in_call({way::checked_longjmp, value, *to});
  ask_for_end();
  next::longjmp_chk(to, value);
}
SCUTE_INTERPOSED(void, exit, (int status)) {
  if (call_under_way() != 0) wait_if_in_call({way::exit, status, {}});
  next::exit(status);
}
