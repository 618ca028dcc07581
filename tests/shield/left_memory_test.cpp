// SPDX-License-Identifier: BSD-3-Clause
// A shield that was closed, removed, or could not be opened leaves no memory allocated.
#include <gtest/gtest.h>

#include "support/left_memory.hpp"
#include "support/shielded.hpp"

#ifdef SCUTE_TEST_COUNTS_MEMORY

namespace scute::test {
namespace {

class shields_left : public testing::TestWithParam<scute_engine> {};
INSTANTIATE_TEST_SUITE_P(Engine, shields_left, every_engine, engine_name);

TEST_P(shields_left, NothingWhenClosed) {
  shielded f;
  f.make(30000);
  f.add(shielded::options(GetParam()));
  uint64_t i = 0;
  expect_none_left([&] {
    f.open();
    f.write(i % 20000, pattern(i, 700));
    ++i;
    f.close();
  });
  f.open();
  f.expect_content();
}

TEST_P(shields_left, NothingWhenRemoved) {
  shielded f;
  f.make(30000);
  expect_none_left([&] {
    f.add(shielded::options(GetParam()));
    SCUTE_OKAY(scute_shield_remove(f.path.c_str(), nullptr));
  });
}

TEST_P(shields_left, NothingWhenNotOpened) {
  shielded f;
  f.make(30000);
  f.add(shielded::options(GetParam()));
  f.open();
  scute_pool* const first = f.pool;
  expect_none_left([&] { SCUTE_FAILS(SCUTE_E_BUSY, f.try_open()); });
  f.pool = first;
}

}  // namespace
}  // namespace scute::test

#endif
