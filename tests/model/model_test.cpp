// SPDX-License-Identifier: BSD-3-Clause
// The persistence model beyond words: bytes at the edges of words and lines, the choices, reset,
// many writers.
#include "model/persistence_model.hpp"

#include <gtest/gtest.h>

#include <string>

#include "litmus.hpp"

namespace scute::model {
namespace {

using choice = persistence_model::choice;

// A memory of 192 bytes '.', shown as text.
class text_memory {
 public:
  explicit text_memory(bool eadr = false) : m(eadr) {
    m.reset(std::vector<std::byte>(192, std::byte{'.'}));
  }
  static const std::byte* bytes(const std::string& text) {
    return reinterpret_cast<const std::byte*>(text.data());
  }
  void stream(uint64_t at, const std::string& text) { m.stream(at, bytes(text), text.size(), 1); }
  void store(uint64_t at, const std::string& text) { m.store(at, bytes(text), text.size()); }
  void found(uint64_t at, const std::string& text) { m.found(at, bytes(text), text.size()); }

  // All images, of the given range.
  images all(uint64_t at, size_t n) {
    images result;
    for_each_allowed(m, [&](const choice& c) {
      const auto image = image_of(m, c);
      result.insert({reinterpret_cast<const char*>(image.data()) + at, n});
    });
    return result;
  }
  std::string durable(uint64_t at, size_t n) const {
    return {reinterpret_cast<const char*>(m.durable().data()) + at, n};
  }

  persistence_model m;
};

// Pieces of a streamed store end where aligned words do.
TEST(Model, StreamTearsAtAlignedWords) {
  text_memory t;
  t.stream(5, "abcdefghijklmn");  // [5, 8) [8, 16) [16, 19)
  EXPECT_EQ(t.all(4, 16), (images{
                              "................",
                              ".abc............",
                              "....defghijk....",
                              ".abcdefghijk....",
                              "............lmn.",
                              ".abc........lmn.",
                              "....defghijklmn.",
                              ".abcdefghijklmn.",
                          }));
  t.m.fence(1);
  EXPECT_EQ(t.all(4, 16), images{".abcdefghijklmn."});
}

TEST(Model, StreamInsideAWord) {
  text_memory t;
  t.stream(18, "xy");
  EXPECT_EQ(t.all(16, 8), (images{"........", "..xy...."}));
}

TEST(Model, StreamOfALineHasEightPieces) {
  text_memory t;
  t.stream(64, std::string(64, 'x'));
  ASSERT_EQ(t.m.atoms().size(), 8u);
  EXPECT_EQ(t.all(64, 64).size(), 256u);
  for (const auto& a : t.m.atoms()) {
    EXPECT_EQ(a.length, 8u);
    EXPECT_EQ(a.line, 0u);
  }
}

// A cached store over a line's end is two: the lines leave one by one.
TEST(Model, StoreOverTheEndOfALine) {
  text_memory t;
  t.store(60, "abcdefgh");
  EXPECT_EQ(t.all(58, 12), (images{
                               "............",
                               "..abcd......",
                               "......efgh..",
                               "..abcdefgh..",
                           }));
  t.m.flush(63, 1, 1);
  t.m.fence(1);
  EXPECT_EQ(t.all(58, 12), (images{"..abcd......", "..abcdefgh.."}));
}

// Part of a word may be overtaken: the other part of the older store is still open.
TEST(Model, OvertakenInPartOfAWord) {
  text_memory t;
  t.store(0, "aaaaaaaa");
  t.stream(2, "xyz");
  t.m.fence(1);
  EXPECT_EQ(t.all(0, 8), (images{"..xyz...", "aaxyzaaa"}));
}

TEST(Model, FlushTakesEveryLineOfItsRange) {
  text_memory t;
  t.store(0, "a");
  t.store(64, "b");
  t.store(128, "c");
  t.m.flush(63, 2, 1);  // the last byte of one line, the first of the next
  t.m.fence(1);
  EXPECT_EQ(t.durable(0, 1) + t.durable(64, 1) + t.durable(128, 1), "ab.");
}

TEST(Model, FlushOfNothingFlushesNothing) {
  text_memory t;
  t.store(8, "a");
  t.m.flush(10, 0, 1);
  t.m.fence(1);
  EXPECT_EQ(t.durable(8, 1), ".");
}

// A store that changes nothing is no atom: one of the durable bytes, where nothing is pending.
TEST(Model, StoresThatChangeNothingAreLeftOut) {
  text_memory t;
  t.store(0, "........");
  t.stream(16, "........");
  t.found(24, "........");
  EXPECT_TRUE(t.m.atoms().empty());
  // But going back to what is durable does matter while something else is pending there.
  t.stream(16, "a.......");
  t.stream(16, "........");
  EXPECT_EQ(t.m.atoms().size(), 2u);
}

TEST(Model, AtomsSayWhichStoreTheyAreOf) {
  text_memory t;
  t.stream(0, "aaaaaaaabbbbbbbb");
  t.store(64, "c");
  t.store(65, "d");
  const auto& atoms = t.m.atoms();
  ASSERT_EQ(atoms.size(), 4u);
  EXPECT_EQ(atoms[0].store, atoms[1].store);
  EXPECT_LT(atoms[1].store, atoms[2].store);
  EXPECT_LT(atoms[2].store, atoms[3].store);
  EXPECT_EQ(atoms[0].offset, 0u);
  EXPECT_EQ(atoms[1].offset, 8u);
  EXPECT_EQ(atoms[2].line, atoms[3].line);
  EXPECT_NE(atoms[2].line, 0u);
  EXPECT_EQ(std::to_integer<char>(*atoms[3].bytes), 'd');
}

// Atoms: 0 1 of one line, 2 streamed, 3 4 of another line, 5 of the first line.
class Choices : public ::testing::Test {
 protected:
  void SetUp() override {
    t.store(0, "a");
    t.store(8, "b");
    t.stream(16, "c");
    t.store(64, "d");
    t.store(72, "e");
    t.store(24, "f");
    ASSERT_EQ(t.m.atoms().size(), 6u);
  }
  choice down(choice c) const { return t.m.close_down(c), c; }
  choice up(choice c) const { return t.m.close_up(c), c; }
  text_memory t;
};

TEST_F(Choices, CloseDownTakesOutWhatLacksItsPredecessor) {
  EXPECT_EQ(down({0, 1, 1, 1, 1, 1}), (choice{0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(down({1, 0, 0, 0, 1, 1}), (choice{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(down({1, 1, 0, 1, 0, 1}), (choice{1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(down({0, 0, 0, 0, 0, 0}), (choice{0, 0, 0, 0, 0, 0}));
}

TEST_F(Choices, CloseUpAddsPredecessors) {
  EXPECT_EQ(up({0, 0, 0, 0, 0, 1}), (choice{1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(up({0, 0, 1, 0, 1, 0}), (choice{0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(up({1, 0, 0, 1, 0, 0}), (choice{1, 0, 0, 1, 0, 0}));
}

TEST_F(Choices, ApplyWritesTheChosenOnes) {
  std::vector<std::byte> image(192, std::byte{'-'});
  t.m.apply({1, 0, 1, 0, 0, 0}, image);
  std::string text(reinterpret_cast<const char*>(image.data()), image.size());
  EXPECT_EQ(text[0], 'a');
  EXPECT_EQ(text[16], 'c');
  EXPECT_EQ(std::count(text.begin(), text.end(), '-'), 190);
}

TEST_F(Choices, ForEachChosenNamesTheirPlaces) {
  std::vector<std::pair<uint64_t, size_t>> places;
  t.m.for_each_chosen({1, 0, 0, 0, 1, 0},
                      [&](uint64_t offset, size_t n) { places.emplace_back(offset, n); });
  EXPECT_EQ(places, (std::vector<std::pair<uint64_t, size_t>>{{0, 1}, {72, 1}}));
}

// The words of one store are not ordered among themselves, but all before the line's next store.
TEST(Model, ChoicesOfAStoreOfTwoWords) {
  text_memory t;
  t.store(0, "aaaaaaaabbbbbbbb");
  t.store(16, "c");
  ASSERT_EQ(t.m.atoms().size(), 3u);
  choice c{0, 1, 1};
  t.m.close_down(c);
  EXPECT_EQ(c, (choice{0, 1, 0}));
  c = {0, 0, 1};
  t.m.close_up(c);
  EXPECT_EQ(c, (choice{1, 1, 1}));
  for (choice alone : {choice{1, 0, 0}, choice{0, 1, 0}}) {
    c = alone;
    t.m.close_up(c);
    EXPECT_EQ(c, alone);
  }
}

TEST(Model, ResetForgets) {
  for (const bool eadr : {false, true}) {
    text_memory t(eadr);
    t.stream(0, "aaaaaaaa");
    t.found(64, "bbbbbbbb");
    t.m.flush(64, 8, 1);
    t.stream(128, "c");
    EXPECT_FALSE(t.m.atoms().empty());
    t.m.reset(std::vector<std::byte>(64, std::byte{'r'}));
    EXPECT_TRUE(t.m.atoms().empty());
    t.m.fence(1);
    EXPECT_EQ(t.durable(0, t.m.durable().size()), std::string(64, 'r'));
  }
}

// A flush before the reset must not count after it.
TEST(Model, ResetForgetsFlushes) {
  text_memory t;
  t.m.flush(0, 8, 1);
  t.m.reset(std::vector<std::byte>(64, std::byte{'.'}));
  t.store(0, "a");
  t.m.fence(1);
  EXPECT_EQ(t.all(0, 1), (images{".", "a"}));
}

// Every opening of a pool brings new writers, and they must stay apart however many there were.
TEST(Model, ManyWriters) {
  text_memory t;
  for (unsigned w = 1; w < 1000; ++w) {
    t.store(8, w % 2 != 0 ? "a" : "b");
    t.m.flush(8, 1, w);
    t.m.fence(w + 1);
    EXPECT_EQ(t.all(8, 1).count("."), w == 1 ? 1u : 0u) << w;
    t.m.fence(w);
    EXPECT_EQ(t.durable(8, 1), w % 2 != 0 ? "a" : "b");
  }
}

}  // namespace
}  // namespace scute::model
