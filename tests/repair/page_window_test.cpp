// SPDX-License-Identifier: BSD-3-Clause
// Pages lost in the middle of a commit's work on a column block, at each of its phases (PAGE-3):
// what the commit has written and has not is laid out by hand, and the page must come back fitting
// it.
#include <gtest/gtest.h>

#include <array>

#include "core/shared/parity/in_flight_write.hpp"
#include "core/shared/pool/library_call.hpp"
#include "support/damage.hpp"
#include "support/page.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr uint32_t length = 16;
using image = std::array<std::byte, page>;
using piece = std::array<std::byte, length>;

class page_window : public testing::TestWithParam<bool> {
 protected:
  page_window() {
    f.create(2 * mib,
             {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO});  // window_page_test.cpp has the other's
    oid = f.alloc(pattern(1, 100));
    s = &f.in().s;
    data = f.offset_of(oid) + 32;
    const pool::cell c = pool::cell_of(s->geo, data);
    parity = s->geo.zone_offset(c.zone) + s->geo.data_size + c.column;
    stripe = pool::stripe_of(*s, data);
    data_before = look(data);
    parity_before = look(parity);
    for (uint32_t i = 0; i < length; ++i) {
      fresh[i] = static_cast<std::byte>(0x30 + i);
      delta[i] = f.raw(data)[i] ^ fresh[i];
      fresh_parity[i] = f.raw(parity)[i] ^ delta[i];
    }
  }
  ~page_window() override { f.expect_sound(); }

  image look(uint64_t at) const {
    image now;
    std::memcpy(now.data(), f.raw(at & ~(page - 1)), page);
    return now;
  }
  static void put(image& to, uint64_t at, const piece& bytes, uint32_t n = length) {
    std::copy_n(bytes.begin(), n, to.begin() + static_cast<long>(at % page));
  }
  // Loses the page of `at` while this thread is in that phase of writing the piece, and has it
  // rebuilt.
  image rebuilt(uint64_t at, pool::in_flight_write::phase phase, uint32_t done) {
    const bool shared = GetParam();
    const pool::library_call commit;  // commits are the library's
    shared ? s->locks.lock_shared(stripe) : s->locks.lock_exclusive(stripe);
    image now;
    {
      using mode = pool::in_flight_write::mode;
      const pool::in_flight_scope here(*s, stripe, shared ? mode::shared : mode::exclusive);
      pool::in_flight_scope::piece(data, parity, length, fresh.data(),
                                   shared ? nullptr : fresh_parity.data(), delta.data());
      pool::this_thread_in_flight().done = done;
      pool::enter_phase(phase);
      const bytes noise = pattern(at, page);
      f.in().pages->lose(at & ~(page - 1), reinterpret_cast<const std::byte*>(noise.data()));
      now = look(at);  // faults
    }
    const auto same = [](pool::stripe_owner o) { return o; };
    if (shared)
      s->locks.unlock_shared(stripe, same);
    else
      s->locks.unlock_exclusive(stripe, pool::stripes::stores::streamed, same);
    return now;
  }
  void restore() {
    std::memcpy(f.raw(data & ~(page - 1)), data_before.data(), page);
    std::memcpy(f.raw(parity & ~(page - 1)), parity_before.data(), page);
  }

  pool_file f;
  scute_oid oid = 0;
  pool::state* s = nullptr;
  uint64_t data = 0, parity = 0;
  uint32_t stripe = 0;
  image data_before{}, parity_before{};
  piece fresh{}, delta{}, fresh_parity{};
};

TEST_P(page_window, BeforeAnythingIsWritten) {
  EXPECT_TRUE(rebuilt(data, pool::in_flight_write::phase::reading, 0) == data_before);
  EXPECT_TRUE(rebuilt(parity, pool::in_flight_write::phase::reading, 0) == parity_before);
}

// INFLIGHT-2.
TEST_P(page_window, WhileParityIsWritten) {
  for (const uint32_t done : {0u, 8u, 16u}) {
    // The bytes that are stored already.
    for (uint32_t i = 0; i < done; ++i) f.raw(parity)[i] = fresh_parity[i];
    image expected = parity_before;
    // An exclusive holder may have stored any part of the piece, and stores the rest again or not.
    put(expected, parity, fresh_parity, GetParam() ? done : length);
    EXPECT_TRUE(rebuilt(parity, pool::in_flight_write::phase::parity, done) == expected) << done;
    restore();
  }
}

TEST_P(page_window, WhileDataIsWritten) {
  for (const uint32_t done : {0u, 5u, 16u}) {
    for (uint32_t i = 0; i < length; ++i) f.raw(parity)[i] = fresh_parity[i];
    for (uint32_t i = 0; i < done; ++i) f.raw(data)[i] = fresh[i];
    image expected = data_before;
    put(expected, data, fresh);
    EXPECT_TRUE(rebuilt(data, pool::in_flight_write::phase::data, length) == expected) << done;
    restore();
  }
}

INSTANTIATE_TEST_SUITE_P(Held, page_window, testing::Bool(), [](const auto& p) {
  return p.param ? std::string("shared") : std::string("exclusively");
});

}  // namespace
}  // namespace scute::test
