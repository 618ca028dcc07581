// SPDX-License-Identifier: BSD-3-Clause
// Threads of two real-time priorities on one processor: no thread waits for ever for a thread
// that cannot run meanwhile.
#include <gtest/gtest.h>

#include <memory>

#include "support/pool_file.hpp"
#include "support/priorities.hpp"

namespace scute::test {
namespace {

class priorities : public testing::TestWithParam<pool_kind> {};
INSTANTIATE_TEST_SUITE_P(Protection, priorities, every_protection, protection_name);

TEST_P(priorities, OnOneProcessor) {
  constexpr size_t shared = 4, size = 3000;
  std::unique_ptr<pool_file> f;
  std::vector<scute_oid> oids;  // shared ones, and one for each thread, all in the same few columns
  const auto prepare = [&] {
    f = std::make_unique<pool_file>();
    scute_options o = options(4 * mib, GetParam());
    o.lanes = 3;  // fewer than threads
    o.rows = 20;
    f->create(o);
    for (size_t i = 0; i < shared + 4; ++i) oids.push_back(f->alloc(bytes(size)));
  };
  // A transaction that meets another one's is aborted.
  const auto ended = [](scute_tx* tx, int e) {
    if (e == SCUTE_OK)
      e = scute_tx_commit(tx);
    else
      scute_tx_abort(tx);
    EXPECT_TRUE(e == SCUTE_OK || e == SCUTE_E_CONFLICT || e == SCUTE_E_CHANGED) << scute_errormsg();
  };
  const auto body = [&](unsigned thread, unsigned round) {
    scute_tx* tx = nullptr;
    void* at = nullptr;
    ASSERT_EQ(SCUTE_OK, scute_tx_begin(*f, &tx)) << scute_errormsg();
    int e = SCUTE_OK;
    switch (round % 4) {
      case 0:
      case 1:
        e = scute_tx_open(tx, oids[(round / 4 + thread) % shared], &at);
        if (e == SCUTE_OK) std::memset(at, static_cast<int>(round), size);
        break;
      case 2:
        e = scute_tx_inplace(tx, oids[shared + thread], 0, size, &at);
        if (e == SCUTE_OK) std::memset(at, static_cast<int>(round), size);
        break;
      default: {
        scute_oid made = 0;
        e = scute_tx_alloc(tx, 1000, 1, &made, &at);
        if (e == SCUTE_OK) e = scute_tx_free(tx, made);
        break;
      }
    }
    ended(tx, e);
    const void* seen = nullptr;
    EXPECT_EQ(SCUTE_OK, scute_get_verified(*f, oids[round % shared], &seen)) << scute_errormsg();
  };
  with_two_priorities(prepare, body, [&] {
    f->expect_sound();
    f->reopen();
    f->expect_sound();
    f.reset();
  });
}

}  // namespace
}  // namespace scute::test
