// SPDX-License-Identifier: BSD-3-Clause
// A fault that is none of a pool's goes to the handler that the program had set before it opened
// the pool, as if the kernel had called it (FAULT-1): with the flags that it was set with, the
// signals blocked that it asked for, on the stack that it expects. SIGSEGV and SIGBUS each have
// a handler of their own.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "repair/lossy_pool.hpp"
#include "support/child.hpp"

namespace scute::test {
namespace {

// The arguments that the program's handler has seen, at each of its calls.
struct seen {
  int signal = 0;
  bool has_info = false, on_own_stack = false, aligned = false;
  sigset_t blocked{};
};
std::array<seen, 4> calls;
std::atomic<unsigned> count{0};
std::byte* own_stack = nullptr;
constexpr size_t own_stack_size = 64 << 10;
int faults_with = SIGSEGV;  // or SIGBUS
int nowhere_file = -1;
char* nowhere = nullptr;  // a page without access: beyond the end of its file, for SIGBUS

void give_access(bool access) {
  if (faults_with == SIGBUS)
    ASSERT_EQ(0, ::ftruncate(nowhere_file, access ? page : 0));
  else
    ASSERT_EQ(0, ::mprotect(nowhere, page, access ? PROT_READ | PROT_WRITE : PROT_NONE));
}

void note(int signal, const siginfo_t* info) {
  const unsigned n = count.fetch_add(1);
  if (n >= calls.size()) ::_exit(9);  // for ever
  seen& s = calls[n];
  s.signal = signal;
  s.has_info = info != nullptr && info->si_addr == nowhere;
  const char here = 0;
  const auto at = reinterpret_cast<uintptr_t>(&here);
  s.on_own_stack = at - reinterpret_cast<uintptr_t>(own_stack) < own_stack_size;
  s.aligned = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) % 16 == 0;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &s.blocked);
}
void plain(int signal) {
  note(signal, nullptr);
}
void repairing(int signal) {
  note(signal, nullptr);
  give_access(true);
}
void repairing_with_info(int signal, siginfo_t* info, void* context) {
  note(signal, info);
  ASSERT_NE(nullptr, context);
  give_access(true);
}
sigjmp_buf way_out;
void leaving(int signal) {
  note(signal, nullptr);
  siglongjmp(way_out, 1);
}

struct sigaction set_with(int flags) {
  struct sigaction a{};
  a.sa_flags = flags;
  sigemptyset(&a.sa_mask);
  return a;
}
void set(struct sigaction a, void (*to)(int)) {
  a.sa_handler = to;
  ASSERT_EQ(0, ::sigaction(faults_with, &a, nullptr));
}
void set(struct sigaction a, void (*to)(int, siginfo_t*, void*)) {
  a.sa_sigaction = to;
  a.sa_flags |= SA_SIGINFO;
  ASSERT_EQ(0, ::sigaction(faults_with, &a, nullptr));
}

// Runs in a child: sets a handler, opens a pool, and meets faults in a thread that has a stack for
// its handlers.
template <typename Set, typename Body>
int status_of(Set&& prepare, Body&& body) {
  child c([&] {
    nowhere_file = ::memfd_create("nowhere", MFD_CLOEXEC);
    ASSERT_EQ(0, ::ftruncate(nowhere_file, page));
    nowhere = static_cast<char*>(
        ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, nowhere_file, 0));
    ASSERT_NE(MAP_FAILED, nowhere);
    give_access(false);
    own_stack = new std::byte[own_stack_size];
    prepare();
    lossy_pool f;
    f.create(2 * mib, SCUTE_PROTECT_MLPC);
    f.fill();
    struct sigaction now{};
    ASSERT_EQ(0, ::sigaction(faults_with, nullptr, &now));
    ASSERT_NE(0, now.sa_flags & SA_ONSTACK) << "the library's handler is not there";
    std::thread([&] {
      const stack_t s{own_stack, 0, own_stack_size};
      ASSERT_EQ(0, ::sigaltstack(&s, nullptr));
      body(f);
    }).join();
  });
  return c.wait();
}
void store() {
  *const_cast<volatile char*>(nowhere) = 1;
}
int the_other() {
  return faults_with == SIGBUS ? SIGSEGV : SIGBUS;
}
bool blocks(const sigset_t& s, int signal) {
  return sigismember(&s, signal) == 1;
}

class passed_on : public testing::TestWithParam<int> {
 protected:
  passed_on() { faults_with = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(, passed_on, testing::Values(SIGSEGV, SIGBUS), [](const auto& p) {
  return std::string(p.param == SIGBUS ? "SIGBUS" : "SIGSEGV");
});

TEST_P(passed_on, ResetsTheHandlerAfterOneCall) {
  const int status = status_of([] { set(set_with(static_cast<int>(SA_RESETHAND)), &plain); },
                               [](lossy_pool&) { store(); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == faults_with) << "status " << status;
}

TEST_P(passed_on, ResetsAfterOneOfThoseThatWereSentAsWell) {
  const int status = status_of([] { set(set_with(static_cast<int>(SA_RESETHAND)), &plain); },
                               [](lossy_pool&) {
                                 ::raise(faults_with);
                                 if (count != 1) ::_exit(8);
                                 ::raise(faults_with);
                                 ::_exit(7);
                               });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == faults_with) << "status " << status;
}

TEST_P(passed_on, APageOfAPoolDoesNotSpendTheHandler) {
  EXPECT_EQ(0, status_of([] { set(set_with(static_cast<int>(SA_RESETHAND)), &repairing); },
                         [](lossy_pool& f) {
                           const uint64_t lost = f.used_pages().front();
                           for (int i = 0; i < 3; ++i) {
                             f.lose(lost);
                             f.touch(lost);
                           }
                           store();
                           f.lose(lost);
                           f.touch(lost);
                           EXPECT_EQ(1u, count);
                           EXPECT_EQ(4u, f.repaired_pages());
                         }));
}

TEST_P(passed_on, WithoutItsFlagRunsOnTheStackOfTheCode) {
  EXPECT_EQ(0, status_of([] { set(set_with(0), &repairing_with_info); },
                         [](lossy_pool&) {
                           store();
                           EXPECT_EQ(1u, count);
                           EXPECT_TRUE(calls[0].has_info);
                           EXPECT_FALSE(calls[0].on_own_stack);
                           EXPECT_TRUE(calls[0].aligned);
                           EXPECT_TRUE(blocks(calls[0].blocked, faults_with));
                           EXPECT_FALSE(blocks(calls[0].blocked, the_other()));
                         }));
}

TEST_P(passed_on, WithItsFlagRunsOnTheStackOfHandlers) {
  EXPECT_EQ(0, status_of([] { set(set_with(SA_ONSTACK), &repairing); },
                         [](lossy_pool&) {
                           store();
                           EXPECT_EQ(1u, count);
                           EXPECT_TRUE(calls[0].on_own_stack);
                           EXPECT_TRUE(calls[0].aligned);
                         }));
}

TEST_P(passed_on, BlocksWhatTheHandlerAskedForAndTheCodeHadBlocked) {
  EXPECT_EQ(0, status_of(
                   [] {
                     struct sigaction a = set_with(SA_NODEFER);
                     sigaddset(&a.sa_mask, SIGUSR1);
                     set(a, &repairing);
                   },
                   [](lossy_pool&) {
                     sigset_t mine, after;
                     sigemptyset(&mine);
                     sigaddset(&mine, the_other());
                     sigaddset(&mine, SIGUSR2);
                     ASSERT_EQ(0, ::pthread_sigmask(SIG_BLOCK, &mine, nullptr));
                     store();
                     EXPECT_EQ(1u, count);
                     EXPECT_FALSE(blocks(calls[0].blocked, faults_with));
                     for (const int signal : {the_other(), SIGUSR1, SIGUSR2})
                       EXPECT_TRUE(blocks(calls[0].blocked, signal)) << signal;
                     ASSERT_EQ(0, ::pthread_sigmask(SIG_SETMASK, nullptr, &after));
                     EXPECT_TRUE(blocks(after, the_other()));
                     EXPECT_FALSE(blocks(after, SIGUSR1));
                     EXPECT_FALSE(blocks(after, faults_with));
                   }));
}

// The stack of handlers is free again while the program's runs elsewhere, and afterwards; no
// register is lost on the way.
TEST_P(passed_on, SignalsMeanwhileAndRegistersAfterwards) {
  EXPECT_EQ(0, status_of(
                   [] {
                     struct sigaction other = set_with(SA_ONSTACK);
                     other.sa_handler = [](int) {
                       std::array<volatile char, 16 << 10> room;
                       for (volatile char& c : room) c = 0x5a;
                     };
                     ASSERT_EQ(0, ::sigaction(SIGUSR1, &other, nullptr));
                     struct sigaction a = set_with(0);
                     a.sa_handler = [](int signal) {
                       ::raise(SIGUSR1);
                       repairing(signal);
                     };
                     ASSERT_EQ(0, ::sigaction(faults_with, &a, nullptr));
                   },
                   [](lossy_pool&) {
                     double x = 1.0, sum = 0;
                     for (int i = 0; i < 3; ++i) {
                       give_access(false);
                       x *= 3.5;
                       store();
                       sum += x;
                     }
                     EXPECT_EQ(3u, count);
                     EXPECT_EQ(3.5 + 3.5 * 3.5 + 3.5 * 3.5 * 3.5, sum);
                   }));
}

TEST_P(passed_on, AHandlerMayLeaveByAJump) {
  EXPECT_EQ(0, status_of([] { set(set_with(0), &leaving); },
                         [](lossy_pool& f) {
                           for (std::atomic<unsigned> i = 0; i < 3; ++i)
                             if (sigsetjmp(way_out, 1) == 0) store();
                           EXPECT_EQ(3u, count);
                           const uint64_t lost = f.used_pages().front();
                           f.lose(lost);
                           f.touch(lost);
                           EXPECT_EQ(1u, f.repaired_pages());
                         }));
}

// As without the library: there is no room for the frame of the handler.
TEST(passed_on_at_the_end, AStackThatHasComeToItsEndEndsTheProgram) {
  faults_with = SIGSEGV;
  struct deep {
    static int down(int n) {
      std::array<volatile char, 4096> room;
      room[0] = static_cast<char>(n);
      return n == 0 ? 0 : down(n + 1) + room[0];
    }
  };
  const int status = status_of([] { set(set_with(SA_NODEFER), &plain); },
                               [](lossy_pool&) { ::_exit(deep::down(1) == 1 ? 5 : 6); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << "status " << status;
}

TEST_P(passed_on, WhatIsIgnoredAndWasSentIsIgnored) {
  EXPECT_EQ(0, status_of([] { ASSERT_NE(SIG_ERR, std::signal(faults_with, SIG_IGN)); },
                         [](lossy_pool&) { ::raise(faults_with); }));
}

}  // namespace
}  // namespace scute::test
