// SPDX-License-Identifier: BSD-3-Clause
// The memory under simulated pools: bringing it back costs no more than what was touched, and what
// was changed without being touched is noticed.
#include "model/simulated_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace scute::model {
namespace {

constexpr uint64_t page = simulated_memory::page;
constexpr uint64_t pages = 70;  // more than one word of bits

class Memory : public ::testing::Test {
 protected:
  Memory() : memory(pages * page, false), image(pages * page) {
    for (uint64_t i = 0; i < pages; ++i)
      std::fill_n(image.begin() + static_cast<long>(i * page), page, static_cast<std::byte>(i + 1));
    memory.restore(image, true);
  }
  bool same() const { return std::equal(image.begin(), image.end(), memory.bytes().begin()); }
  void write(uint64_t offset, size_t n, bool announced) {
    std::fill_n(memory.bytes().begin() + static_cast<long>(offset), n, std::byte{0xee});
    if (announced) memory.touch(offset, n);
  }
  simulated_memory memory;
  std::vector<std::byte> image;
};

TEST_F(Memory, StartsAsZeros) {
  const simulated_memory fresh(2 * page, true);
  EXPECT_EQ(fresh.bytes().size(), 2 * page);
  EXPECT_TRUE(std::all_of(fresh.bytes().begin(), fresh.bytes().end(),
                          [](std::byte b) { return b == std::byte{}; }));
  EXPECT_TRUE(fresh.eadr());
  EXPECT_FALSE(memory.eadr());
}

TEST_F(Memory, RestoreOfEverything) {
  EXPECT_TRUE(same());
  write(5 * page + 1, 1, false);
  write(69 * page, page, true);
  memory.restore(image, true);
  EXPECT_TRUE(same());
}

TEST_F(Memory, RestoreOfWhatWasTouched) {
  write(0, 1, true);
  write(page - 1, 2, true);              // two pages
  write(63 * page + 10, page, true);     // two, in two words of bits
  write(69 * page + page - 1, 1, true);  // the last byte
  memory.restore(image, false);
  EXPECT_TRUE(same());
  // What nobody announced stays.
  write(7 * page, 1, false);
  memory.restore(image, false);
  EXPECT_FALSE(same());
  EXPECT_EQ(memory.bytes()[7 * page], std::byte{0xee});
}

TEST_F(Memory, RestoreForgetsWhatWasTouched) {
  write(3 * page, 1, true);
  memory.restore(image, false);
  write(3 * page, 1, false);
  memory.restore(image, false);
  EXPECT_FALSE(same());
  EXPECT_TRUE(memory.strayed(image));
}

TEST_F(Memory, TouchOfNothing) {
  memory.touch(pages * page, 0);  // must not reach beyond the end
  memory.touch(0, 0);
  write(0, 1, false);
  EXPECT_TRUE(memory.strayed(image));
}

TEST_F(Memory, Strayed) {
  EXPECT_FALSE(memory.strayed(image));
  write(2 * page, 8, true);
  EXPECT_FALSE(memory.strayed(image));
  write(69 * page + page - 1, 1, false);
  EXPECT_TRUE(memory.strayed(image));
  // An announced store to the same page hides it: that page may differ.
  memory.touch(69 * page, 1);
  EXPECT_FALSE(memory.strayed(image));
}

// A crash of a recovery: the pages go to another image, and later still back to the first one.
TEST_F(Memory, RewindKeepsThePagesTouched) {
  write(4 * page, 8, true);
  write(66 * page, 8, true);
  auto crashed = image;
  std::fill_n(crashed.begin() + 4 * page, 8, std::byte{0xcc});
  memory.rewind(crashed);
  EXPECT_TRUE(std::equal(crashed.begin(), crashed.end(), memory.bytes().begin()));
  EXPECT_FALSE(memory.strayed(image));
  memory.restore(image, false);
  EXPECT_TRUE(same());
}

TEST_F(Memory, WritersAreCountedFromEachRestore) {
  EXPECT_EQ(memory.next_writer(), 1u);
  EXPECT_EQ(memory.next_writer(), 2u);
  memory.restore(image, false);
  EXPECT_EQ(memory.next_writer(), 1u);
  memory.rewind(image);
  EXPECT_EQ(memory.next_writer(), 1u);
}

}  // namespace
}  // namespace scute::model
