// SPDX-License-Identifier: BSD-3-Clause
// A program's own handler of faults stands before the library's, with all signals blocked while it
// runs, as that of a crash reporter or of a sanitizer does: a page that is lost as well and that
// the repair needs is rebuilt all the same (FAULT-6).
#include <gtest/gtest.h>

#include <csignal>

#include "support/child.hpp"
#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {
using namespace core;
namespace {

struct sigaction before_bus, before_segv;

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& next = signal == SIGBUS ? before_bus : before_segv;
  next.sa_sigaction(signal, info, context);
}

void stand_before_the_library() {
  struct sigaction mine{};
  mine.sa_sigaction = &pass_on;
  mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&mine.sa_mask);
  ASSERT_EQ(0, ::sigaction(SIGBUS, &mine, &before_bus));
  ASSERT_EQ(0, ::sigaction(SIGSEGV, &mine, &before_segv));
  ASSERT_NE(0, before_segv.sa_flags & SA_SIGINFO);
}

TEST(masked_handler, ALossWithinARepair) {
  child c([] {
    known_pool f;
    f.create(2 * mib, SCUTE_PROTECT_MLP);
    f.fill();
    stand_before_the_library();
    const auto lose = [&](uint64_t offset) {
      const bytes noise(page, 0x55);
      f.in().pages->lose(offset & ~(page - 1), reinterpret_cast<const std::byte*>(noise.data()));
    };
    const auto& g = f.in().s.geo;
    lose(g.zones_offset + g.chunk_base);
    // The note of a page under repair goes to the superblock's copies.
    for (unsigned copy = 0; copy < 3; ++copy)
      lose(g.superblock_offset(copy) + format::page_notes_offset);
    f.expect_all_repaired();
  });
  const int status = c.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "signal " << (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

}  // namespace
}  // namespace scute::test
