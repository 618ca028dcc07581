// SPDX-License-Identifier: BSD-3-Clause
// A lost page is met by threads whose handlers have a stack of 8 KiB, as some languages give all of
// theirs. Of that the kernel takes up to 3376 bytes for its frame (with AVX-512); with what the
// library needs it is 6 KiB at most. Unused bytes of a stack keep the pattern that was painted
// there.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

#include "repair/lossy_pool.hpp"
#include "support/wait.hpp"

// (A sanitizer's frames are larger, and so are those of code that is not optimised.)
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace scute::test {
namespace {

constexpr size_t whole = 6 << 10, frame_most = 3376;

// A stack for the handlers of the calling thread.
class painted_stack {
 public:
  painted_stack() : bytes_(new unsigned char[size]) {
    const stack_t s{bytes_.get(), 0, size};
    EXPECT_EQ(0, ::sigaltstack(&s, nullptr));
    paint();
    frame_ = measure_frame();
    paint();
  }
  ~painted_stack() {
    const stack_t none{nullptr, SS_DISABLE, 0};
    ::sigaltstack(&none, nullptr);
  }
  painted_stack(const painted_stack&) = delete;
  painted_stack& operator=(const painted_stack&) = delete;

  void paint() { std::fill_n(bytes_.get(), size, colour); }
  size_t used() const {
    const auto* const end = bytes_.get() + size;
    return static_cast<size_t>(end - std::find_if(bytes_.get(), bytes_.get() + size,
                                                  [](unsigned char b) { return b != colour; }));
  }
  // Without the kernel's frame.
  size_t used_by_handler() const { return used() - std::min(used(), frame_); }

 private:
  static constexpr size_t size = 64 << 10;
  static constexpr unsigned char colour = 0xa5;
  static inline std::atomic<uintptr_t> seen_{0};

  // The handler returns to what lies below what the kernel has written.
  size_t measure_frame() const {
    struct sigaction mine{}, before{};
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    mine.sa_sigaction = [](int, siginfo_t*, void* context) {
      seen_ = reinterpret_cast<uintptr_t>(context) - sizeof(void*);
    };
    EXPECT_EQ(0, ::sigaction(SIGUSR1, &mine, &before));
    ::pthread_kill(::pthread_self(), SIGUSR1);
    EXPECT_EQ(0, ::sigaction(SIGUSR1, &before, nullptr));
    return reinterpret_cast<uintptr_t>(bytes_.get() + size) - seen_;
  }
  std::unique_ptr<unsigned char[]> bytes_;
  size_t frame_ = 0;
};

class handler_stack : public testing::TestWithParam<pool_kind> {
 protected:
  void expect_little(const char* when) {
    most_ = std::max(most_, stack_.used_by_handler());
    ASSERT_LE(stack_.used_by_handler(), whole - frame_most) << when;
    stack_.paint();
  }
  void TearDown() override {
    std::printf("%zu bytes of stack at most, without the kernel's frame\n", most_);
    RecordProperty("bytes", static_cast<int>(most_));
  }
  // Ranges of pages that a pool of this level can have back.
  static uint64_t first(const lossy_pool& f) {
    return f.in().s.has_parity ? 0 : f.geo().lanes_offset;
  }

  painted_stack stack_;
  size_t most_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Protection, handler_stack, every_protection, protection_name);

TEST_P(handler_stack, PageByPage) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    lossy_pool f(where);
    f.create(options(2 * mib, GetParam()));
    f.fill();
    f.in().heap->clear_chunk_cache(f.in().s.lanes.front());
    SCUTE_OKAY(scute_drain(f));
    const uint64_t step = where == scratch::disk ? 16 : 1;
    uint64_t number = 0;
    for (uint64_t at = 0; at < f.geo().file_size; at += page) {
      const bool in_zone = at >= f.geo().zones_offset;
      const bool in_lane = !in_zone && at >= f.geo().lanes_offset;
      if (in_zone && (!f.in().s.has_parity || f.in().s.overlaid.touches(at, page))) continue;
      if (in_lane && f.geo().lane_replicas < 2) continue;
      if (number++ % step != 0) continue;
      f.lose(at);
      f.touch(at);
      ASSERT_NO_FATAL_FAILURE(expect_little("a page"));
    }
  }
}

// The thread's own memory is not allocated yet: it has never called the library.
TEST_P(handler_stack, InAThreadThatIsNew) {
  lossy_pool f;
  f.create(options(2 * mib, GetParam()));
  f.fill();
  f.lose(0);
  std::thread([&] {
    painted_stack mine;
    f.touch(0);
    most_ = mine.used_by_handler();
    EXPECT_LE(most_, whole - frame_most);
    EXPECT_EQ(nullptr, core::this_thread_block);
  }).join();
  EXPECT_EQ(1u, f.repaired_pages());
}

TEST_P(handler_stack, SeveralPagesOfAColumn) {
  lossy_pool f;
  f.create(options(4 * mib, GetParam()));
  f.fill();
  const auto& g = f.geo();
  if (g.parity < 2) {
    EXPECT_LT(g.parity, 2u);  // one page is all that a column may lose
    return;
  }
  SCUTE_OKAY(scute_drain(f));
  for (uint64_t column = 0; column < g.row_size; column += page) {
    uint64_t n = 0;
    std::vector<uint64_t> lost;
    for (uint64_t row = 0; row < g.rows + g.parity && n < g.parity; ++row) {
      const uint64_t at = g.zones_offset + row * g.row_size + column;
      if (row < g.rows && f.in().s.overlaid.touches(at, page)) continue;
      f.lose(at);
      lost.push_back(at);
      ++n;
    }
    for (const uint64_t at : lost) f.touch(at);
    ASSERT_NO_FATAL_FAILURE(expect_little("several pages"));
  }
}

// This thread meets pages that another thread loses, in the middle of commits, of aborts and of
// verified reads.
TEST_P(handler_stack, InTheMiddleOfTransactions) {
  constexpr uint64_t losses = 40, size = 4500;
  lossy_pool f;
  f.create(options(4 * mib, GetParam()));
  f.fill();
  if (!f.in().s.has_parity) {
    EXPECT_EQ(0u, f.geo().parity);  // nothing that a commit touches comes back
    return;
  }
  std::vector<scute_oid> oids;
  std::vector<uint64_t> pages;  // that transactions touch
  for (uint64_t i = 0; i < 4; ++i) {
    oids.push_back(f.alloc(pattern(i, size)));
    const uint64_t at = f.offset_of(oids.back()) / page * page;
    pages.push_back(at);
    pages.push_back(pool::parity_offset(f.geo(), 0, pool::cell_of(f.geo(), at).column));
  }
  std::atomic<bool> over{false};
  std::thread loses([&] {
    for (uint64_t k = 0; !over; ++k) {
      const uint64_t at = pages[k % pages.size()];
      f.lose(at);  // one failure at a time
      while (f.in().s.medium->is_revoked(at) && !over) pause(std::chrono::microseconds(20));
    }
  });
  const auto until = std::chrono::steady_clock::now() + patience();
  for (uint64_t round = 0; !HasFatalFailure() && f.repaired_pages() < losses; ++round) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    scute_tx* tx = nullptr;
    void* at = nullptr;
    ASSERT_EQ(SCUTE_OK, scute_tx_begin(f, &tx)) << scute_errormsg();
    const scute_oid oid = oids[round % oids.size()];
    const int e =
        round % 2 == 0 ? scute_tx_inplace(tx, oid, 0, size, &at) : scute_tx_open(tx, oid, &at);
    if (e == SCUTE_OK) std::memset(at, static_cast<int>(round), size);
    const int ended = round % 5 == 4 || e != SCUTE_OK ? scute_tx_abort(tx) : scute_tx_commit(tx);
    // PAGE-4: what was stored in place is gone with the page.
    EXPECT_TRUE(ended == SCUTE_OK || ended == SCUTE_E_CORRUPT) << scute_errormsg();
    expect_little("a transaction");
  }
  over = true;
  loses.join();
}

}  // namespace
}  // namespace scute::test

#endif
