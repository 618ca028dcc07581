// SPDX-License-Identifier: BSD-3-Clause
// POW-10: an edit whose undo could not be kept did not happen, and the next one is the first.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <mutex>
#include <string>

#include "files.hpp"

namespace scute::pow {
namespace {

// Cannot be copied, or made from another one, at the moment.
struct brittle {
  static constexpr std::string_view scute_type = "brittle";
  static inline bool copies = true, moves = true;
  brittle() = default;
  explicit brittle(std::string t) : text(std::move(t)) {}
  brittle(const brittle& o) : text(o.text) {
    if (!copies) throw std::bad_alloc();
  }
  brittle(brittle&& o) : text(o.text) {
    if (!moves) throw std::bad_alloc();
    o.text.clear();
  }
  brittle& operator=(const brittle& o) {
    if (!copies) throw std::bad_alloc();
    text = o.text;
    return *this;
  }
  brittle& operator=(brittle&& o) noexcept {  // as an abort needs it
    text = std::move(o.text);
    return *this;
  }
  std::string text;
};

}  // namespace

template <>
struct codec<brittle> {
  static void encode(const brittle& b, bytes_out& out) { out.put(b.text); }
  static void decode(brittle& b, bytes_in& in) { in.get(b.text); }
};

namespace {

class Undoing : public test::pow_files {
 protected:
  // fn fails for want of memory.
  template <typename Fn>
  static void without_copies(Fn&& fn) {
    brittle::copies = false;
    EXPECT_THROW(fn(), std::bad_alloc);
    brittle::copies = true;
  }
  template <typename Fn>
  static void without_moves(Fn&& fn) {
    brittle::moves = false;
    EXPECT_THROW(fn(), std::bad_alloc);
    brittle::moves = true;
  }
};
INSTANTIATE_TEST_SUITE_P(, Undoing, test::memory_and_disk(), test::name_of_place);

struct faces {
  explicit faces(store& db)
      : nodes(db, "nodes"),
        numbers(db, "numbers"),
        words(db, "words"),
        jobs(db, "jobs"),
        one(db, "one") {}
  std::string text() const {
    std::string t;
    nodes.for_each([&](ref<brittle>, const brittle& b) { t += b.text + " "; });
    for (uint64_t i = 0; i < numbers.size(); ++i) t += numbers[i].text + " ";
    for (const auto& [k, v] : words) t += std::to_string(k) + v.text + " ";
    return t + std::to_string(jobs.size()) + jobs.front().text + " " + one->text;
  }
  table<brittle> nodes;
  vector<brittle> numbers;
  map<uint64_t, brittle> words;
  queue<brittle> jobs;
  value<brittle> one;
};

TEST_P(Undoing, WhatCannotBeKeptIsNotEdited) {
  std::string before, after;
  {
    store db(path, small());
    faces f(db);
    ref<brittle> node;
    {
      auto s = db.section(m);
      node = f.nodes.make(std::string("node"));
      f.numbers.push_back(brittle("number"));
      f.words.edit(1).text = "word";
      f.jobs.push(brittle("job"));
      f.one.edit().text = "one";
      s.commit();
    }
    before = f.text();
    const auto change = [&] {
      without_copies([&] { f.nodes.edit(node); });
      f.nodes.edit(node).text = "changed";
      without_copies([&] { f.numbers.edit(0); });
      f.numbers.edit(0).text = "changed";
      without_copies([&] { f.words.edit(1); });
      f.words.edit(1).text = "changed";
      without_copies([&] { f.one.edit(); });
      f.one.edit().text = "changed";
      // Made, and the next one has another place.
      without_copies([&] { f.nodes.make(std::string("never")); });
      f.nodes.make(std::string("second"));
      without_copies([&] { f.numbers.push_back(brittle("never")); });
      f.numbers.push_back(brittle("second"));
      without_moves([&] { f.jobs.push(brittle("never")); });
      f.jobs.push(brittle("second"));
    };
    const auto erase = [&] {
      without_copies([&] { f.nodes.erase(node); });
      f.nodes.erase(node);
      without_copies([&] { f.numbers.pop_back(); });
      f.numbers.pop_back();
      f.words.erase(1);  // by its node, which is kept
      without_copies([&] { f.jobs.pop(); });
      EXPECT_EQ(f.jobs.pop().text, "job");
      f.jobs.push(brittle("another"));
    };
    {
      auto s = db.section(m);
      change();
      EXPECT_NE(f.text(), before);
    }
    EXPECT_EQ(f.text(), before);
    {
      auto s = db.section(m);
      erase();
      EXPECT_NE(f.text(), before);
    }
    EXPECT_EQ(f.text(), before);
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
    for (const auto& step : {std::function<void()>(change), std::function<void()>(erase)}) {
      auto s = db.section(m);
      step();
      s.commit();
    }
    after = f.text();
    EXPECT_EQ(after, "second changed 2second changed");
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
    // An edit that failed, and nothing else.
    auto s = db.section(m);
    without_copies([&] { f.one.edit(); });
    s.commit();
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
  }
  store db(path, small());
  faces f(db);
  EXPECT_EQ(f.text(), after);
}

TEST_P(Undoing, OnlyTheLastOneIsTakenBack) {
  store db(path, small());
  scute_pow_serializer k{};
  k.struct_size = sizeof k;
  k.size = 8;
  k.encode = [](void*, uint64_t index, void* to) { std::memcpy(to, &index, 8); };
  k.load = [](void*, uint64_t, const void*, uint32_t) { return 0; };
  scute_pow_table* t = nullptr;
  ASSERT_EQ(scute_pow_table_open(db.native_handle(), "t", &k, &t), 0);
  auto s = db.section(m);
  uint64_t first = 0, second = 0, third = 0;
  ASSERT_EQ(scute_pow_new(s.native_handle(), t, SCUTE_POW_ANY, &first), 0);
  ASSERT_EQ(scute_pow_new(s.native_handle(), t, SCUTE_POW_ANY, &second), 0);
  EXPECT_EQ(scute_pow_take_back(s.native_handle(), t, first), SCUTE_E_INVALID);
  EXPECT_EQ(scute_pow_take_back(s.native_handle(), t, second), 0);
  EXPECT_EQ(scute_pow_edit(s.native_handle(), t, second, nullptr), SCUTE_E_FREED);
  ASSERT_EQ(scute_pow_new(s.native_handle(), t, SCUTE_POW_ANY, &third), 0);
  EXPECT_EQ(third & SCUTE_POW_INDEX_MASK, second & SCUTE_POW_INDEX_MASK);
  s.commit();
  EXPECT_EQ(db.info().objects, 2U);
}

}  // namespace
}  // namespace scute::pow
