// SPDX-License-Identifier: BSD-3-Clause
// The memory under simulated pools: restoring it costs no more than the touched pages. A page that
// changed without being touched is noticed.
#include "model/simulated_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/persistence_model.hpp"

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
  // A store that was not announced stays.
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

// ---- with a model alone -------------------------------------------------------------------------

// Passes each event of the memory to a persistence model, and to a list.
class modelled final : public memory_listener {
 public:
  explicit modelled(simulated_memory& m) : memory_(m) {
    model.reset(m.bytes());
    m.listener = this;
  }
  ~modelled() override { memory_.listener = nullptr; }
  modelled(const modelled&) = delete;
  modelled& operator=(const modelled&) = delete;

  void before(uint64_t offset, size_t n) override {
    list += "(" + std::to_string(offset) + "+" + std::to_string(n) + ")";
  }
  void streamed(uint64_t offset, size_t n, unsigned writer) override {
    list += "stream ";
    model.stream(offset, memory_.bytes().data() + offset, n, writer);
  }
  void stored(uint64_t offset, size_t n) override {
    list += "store ";
    model.store(offset, memory_.bytes().data() + offset, n);
  }
  void flushed(uint64_t offset, size_t n, unsigned writer) override {
    list += "flush ";
    model.flush(offset, n, writer);
  }
  void fenced(unsigned writer) override {
    list += "fence ";
    model.fence(writer);
  }
  void damaged(uint64_t, size_t) override {}

  persistence_model model;
  std::string list;

 private:
  simulated_memory& memory_;
};

TEST_F(Memory, ReportsTheMediumsOperationsToAListener) {
  modelled m(memory);
  const uint64_t word = 0x0102030405060708;
  const auto durable = [&](uint64_t at) {
    return std::equal(m.model.durable().begin() + static_cast<long>(at),
                      m.model.durable().begin() + static_cast<long>(at + 8),
                      memory.bytes().begin() + static_cast<long>(at));
  };
  const unsigned mine = memory.next_writer(), other = memory.next_writer();
  memory.store(64, &word, 8);
  memory.stream(128, &word, 8, mine);
  memory.flush(64, 8, other);
  memory.fence(mine);
  EXPECT_EQ(m.list, "(64+8)store (128+8)stream (64+8)flush (0+0)fence ");
  EXPECT_FALSE(durable(64));
  EXPECT_TRUE(durable(128));
  EXPECT_EQ(m.model.atoms().size(), 1u);
  memory.fence(other);
  EXPECT_TRUE(durable(64));
  // All of it was announced.
  EXPECT_FALSE(memory.strayed(image));
  memory.restore(image, false);
  EXPECT_TRUE(same());
}

TEST_F(Memory, ChangesWithoutAListener) {
  const char text[] = "text";
  memory.store(0, text, 4);
  memory.stream(2 * page - 2, text, 4, 1);
  memory.flush(0, 4, 1);
  memory.fence(1);
  EXPECT_EQ(memory.bytes()[2 * page], std::byte{'x'});
  EXPECT_FALSE(memory.strayed(image));
  memory.restore(image, false);
  EXPECT_TRUE(same());
}

}  // namespace
}  // namespace scute::model
