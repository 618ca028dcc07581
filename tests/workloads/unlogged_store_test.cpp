// SPDX-License-Identifier: BSD-3-Clause
// A transaction of the store without a log writes back every line that it has touched, each once,
// and then fences once; and its arena hands out what was given back.
#include "workloads/stores/unlogged_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <new>
#include <vector>

namespace scute::workloads {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The lines that the store has flushed to the medium; a fence is a 0.
std::vector<uintptr_t>& reported() {
  static std::vector<uintptr_t> all;
  return all;
}
void flush(const void* p, size_t n) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(p);
  for (uintptr_t line = at / 64; line <= (at + n - 1) / 64; ++line) reported().push_back(line);
}
void fence() noexcept {
  reported().push_back(0);
}

struct block {
  uint64_t words[32];  // four lines
};

class unlogged_store_test : public ::testing::Test {
 protected:
  unlogged_store_test() { reported().clear(); }

  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::array<line, 64> lines_{};
  arena memory_{{lines_[0].bytes, sizeof lines_}};
  unlogged_store store_{memory_, {flush, fence}};
  uintptr_t first_ = reinterpret_cast<uintptr_t>(&lines_) / 64;
};

TEST_F(unlogged_store_test, each_line_once) {
  const auto root = store_.root<block>();
  ASSERT_EQ(reinterpret_cast<uintptr_t>(root.address()) / 64, first_);
  store_.transact([&](unlogged_store::tx& t) {
    t.edit(root, &block::words, 31) = 1;
    t.edit(root, &block::words, 0) = 2;
    t.edit(root, &block::words, 7, 2)[1] = 3;  // over the end of a line
    t.edit(root, &block::words, 30) = 4;
    EXPECT_EQ(t.get(root).words[0], 2U);
    EXPECT_THAT(reported(), IsEmpty());
  });
  EXPECT_THAT(reported(), ElementsAre(first_, first_ + 1, first_ + 3, 0));
  EXPECT_EQ(root.address()->words[8], 3U);
  reported().clear();
  EXPECT_EQ(store_.transact([&](unlogged_store::tx& t) { return t.get(root).words[31]; }), 1U);
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(unlogged_store_test, new_objects_are_written_back_and_freed_ones_used_again) {
  const auto make = [&] {
    return store_.transact([](unlogged_store::tx& t) { return t.make<block>().at; });
  };
  const auto a = make();
  EXPECT_THAT(reported(), ElementsAre(first_, first_ + 1, first_ + 2, first_ + 3, 0));
  const auto b = make();
  store_.transact([&](unlogged_store::tx& t) {
    t.edit(a, &block::words, 0) = 1;
    t.destroy(a);
    // Not before the end: what is freed may be read until then.
    EXPECT_NE(t.make<block>().at, a);
    EXPECT_EQ(t.get(a).words[0], 1U);
  });
  EXPECT_NE(a, b);
  EXPECT_EQ(make(), a);
  EXPECT_EQ(a.address()->words[0], 0U);
}

TEST(arena, ends_where_its_bytes_end) {
  alignas(64) std::array<std::byte, 160> bytes{};
  arena a(bytes);
  void* const first = a.take(33);  // two units of 32
  a.take(64);
  EXPECT_THROW(a.take(33), std::bad_alloc);
  void* const last = a.take(1);
  EXPECT_THROW(a.take(1), std::bad_alloc);
  a.give_back(first, 33);
  EXPECT_THROW(a.take(1), std::bad_alloc);  // pieces are not cut
  EXPECT_EQ(a.take(64), first);
  a.give_back(last, 1);
  EXPECT_EQ(a.take(32), last);
}

}  // namespace
}  // namespace scute::workloads
