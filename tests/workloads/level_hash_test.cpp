// SPDX-License-Identifier: BSD-3-Clause
// Level hashing in every store against std::unordered_map, through resizes; the number of keys
// that it holds before it grows; and the power failing between any two of its transactions.
#include "workloads/level_hash/level_hash.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "support/seed.hpp"
#include "workloads/workload_stages.hpp"

namespace scute::test {
namespace {

using workloads::level::key;
using workloads::level::value;
using model = std::unordered_map<uint64_t, uint64_t>;

// One random thing to both.
template <class Table>
void change(Table& t, model& expected, random_source& random, uint64_t keys, unsigned removals) {
  const uint64_t k = random.between(0, keys - 1), v = random.word();
  const auto there = expected.find(k);
  const unsigned what = static_cast<unsigned>(random.between(0, 9));
  if (what < removals) {
    ASSERT_EQ(t.remove(key::of(k)), there != expected.end()) << k;
    expected.erase(k);
  } else if (what == 9) {
    uint64_t got = 0;
    ASSERT_EQ(t.read(key::of(k), [&](const value& x) { got = x.number(); }),
              there != expected.end());
    if (there != expected.end()) {
      ASSERT_EQ(got, there->second);
    }
  } else if (what == 8) {
    ASSERT_EQ(t.update(key::of(k), value::of(v)), there != expected.end()) << k;
    if (there != expected.end()) there->second = v;
  } else {
    ASSERT_EQ(t.insert(key::of(k), value::of(v)), there == expected.end()) << k;
    expected[k] = v;
  }
}
template <class Table>
model content(const Table& t) {
  model found;
  t.for_each([&](const key& k, const value& v) {
    EXPECT_EQ(k, key::of(k.words[0]));
    EXPECT_EQ(v, value::of(v.number()));
    EXPECT_TRUE(found.emplace(k.words[0], v.number()).second) << "a key is there twice";
  });
  return found;
}

template <class Stage>
class level_hash : public ::testing::Test {
 protected:
  using store_type = typename Stage::store_type;
  using table = workloads::level::table<store_type>;

  void open(unsigned bits) {
    t = std::make_unique<table>(stage.store(), stage.store().template root<typename table::root>(),
                                bits);
  }
  void TearDown() override {
    if (t == nullptr) return;
    t->clear();
    EXPECT_EQ(stage.objects().value_or(0), 0U);
    stage.verify();
  }

  Stage stage;
  std::unique_ptr<table> t;
};
TYPED_TEST_SUITE(level_hash, workload_stages, workload_stage_name);

TYPED_TEST(level_hash, is_a_map) {
  SCUTE_RANDOM(random);
  this->open(2);
  model expected;
  for (const unsigned removals : {1u, 7u, 2u}) {
    for (int i = 0; i < 3000 && !this->HasFatalFailure(); ++i)
      change(*this->t, expected, random, 900, removals);
    ASSERT_EQ(this->t->check(), "");
    ASSERT_EQ(content(*this->t), expected);
    ASSERT_EQ(this->t->entries(), expected.size());
    this->t.reset();
    this->stage.reopen();
    this->open(2);
    ASSERT_EQ(this->t->check(), "");
    ASSERT_EQ(content(*this->t), expected);
  }
  EXPECT_GE(this->t->capacity(), 384U);  // from 24 slots on
}

TYPED_TEST(level_hash, threads_take_turns) {
  SCUTE_RANDOM(random);
  this->open(3);
  constexpr unsigned threads = 3;
  std::vector<model> mine(threads);
  std::vector<std::unique_ptr<random_source>> randoms;
  for (unsigned n = 0; n < threads; ++n) randoms.push_back(std::make_unique<random_source>(random));
  {
    std::vector<std::jthread> crew;
    for (unsigned n = 0; n < threads; ++n)
      crew.emplace_back([&, n] {
        for (int i = 0; i < 1500 && !this->HasFatalFailure(); ++i) {
          const uint64_t k = randoms[n]->between(0, 300) * threads + n, v = randoms[n]->word();
          if (randoms[n]->one_in(4)) {
            ASSERT_EQ(this->t->remove(key::of(k)), mine[n].erase(k) == 1);
          } else {
            ASSERT_EQ(this->t->insert(key::of(k), value::of(v)), !mine[n].contains(k));
            mine[n][k] = v;
          }
        }
      });
  }
  model expected;
  for (const model& one : mine) expected.insert(one.begin(), one.end());
  EXPECT_EQ(this->t->check(), "");
  EXPECT_EQ(content(*this->t), expected);
}

// LEVEL-3: after a power failure between any two sections, those of a resize included, what is
// there is what was there before or after the operation that was under way.
TEST(level_hash_sections, are_found_again_after_each) {
  using table = workloads::level::table<section_store>;
  section_store s;
  const auto at = s.root<table::root>();
  std::vector<std::pair<size_t, model>> history;  // sections, and what was there then
  {
    table t(s, at, 2);
    model expected;
    history.emplace_back(s.sections(), expected);
    for (uint64_t k = 0; k < 300; ++k) {
      t.insert(key::of(k), value::of(k));
      expected[k] = k;
      history.emplace_back(s.sections(), expected);
      if (k % 5 == 0) {
        t.remove(key::of(k / 2));
        expected.erase(k / 2);
        history.emplace_back(s.sections(), expected);
      }
    }
  }
  size_t resizes = 0;
  while (history.size() > 1) {
    const model after = history.back().second;
    const size_t last = history.back().first;
    history.pop_back();
    const auto& [first, before] = history.back();
    resizes += last > first + 1;
    for (size_t n = last; n > first; --n) {
      section_store copy;
      copy.root<table::root>();
      copy.repeat(s, n);
      const table t(copy, at, 2);
      ASSERT_EQ(t.check(), "") << n;
      const model found = content(t);
      ASSERT_TRUE(found == before || (n == last && found == after)) << n;
      ASSERT_EQ(found == after, n == last) << n;
    }
  }
  EXPECT_GE(resizes, 4U);
}

using plain_table = workloads::level::table<workloads::volatile_store>;

// LEVEL-2: what a table holds before it grows; the paper says more than 90 % for large ones.
TEST(level_hash_rules, load_factor) {
  for (const unsigned bits : {10u, 13u}) {
    workloads::volatile_store s;
    plain_table t(s, s.root<plain_table::root>(), bits);
    const uint64_t capacity = t.capacity();
    EXPECT_EQ(capacity, (uint64_t{6} << bits));
    double load = 0;
    for (uint64_t k = 0; t.capacity() == capacity; ++k) {
      load = t.load_factor();
      t.insert(key::of(k), value::of(k));
    }
    EXPECT_GT(load, 0.85) << bits;
    EXPECT_EQ(t.capacity(), 2 * capacity);
    EXPECT_EQ(t.check(), "");
    t.clear();
  }
}

// LEVEL-1
TEST(level_hash_rules, check_notices) {
  workloads::volatile_store s;
  const auto at = s.root<plain_table::root>();
  plain_table t(s, at, 4);
  for (uint64_t k = 0; k < 60; ++k) t.insert(key::of(k), value::of(k));
  ASSERT_EQ(t.check(), "");
  auto& page = *at.address()->top.last.address();
  plain_table::bucket* one = nullptr;
  for (const auto b : page.rows)
    if (b && b.address()->slots[0].used != 0 && b.address()->slots[3].used == 0) one = b.address();
  ASSERT_NE(one, nullptr);
  const auto expect = [&](const char* what, auto& field, auto wrong) {
    const auto right = field;
    field = wrong;
    EXPECT_NE(t.check().find(what), std::string::npos) << what << ", it says: " << t.check();
    field = right;
    EXPECT_EQ(t.check(), "");
  };
  expect("other sizes", at.address()->bits, uint64_t{5});
  expect("left undone", at.address()->fresh.rows, uint64_t{1});
  expect("neither used nor free", one->slots[0].used, uint8_t{2});
  expect("there twice", one->slots[3], one->slots[0]);
  expect("number of entries", one->slots[0].used, uint8_t{0});
  uint64_t elsewhere = 1000;
  while (workloads::level::hashes(key::of(elsewhere)).in(16) ==
             workloads::level::hashes(one->slots[0].k).in(16) ||
         workloads::level::hashes(key::of(elsewhere)).in(16)[0] ==
             workloads::level::hashes(one->slots[0].k).in(16)[0] ||
         workloads::level::hashes(key::of(elsewhere)).in(16)[1] ==
             workloads::level::hashes(one->slots[0].k).in(16)[1])
    ++elsewhere;
  expect("a bucket of others", one->slots[0].k, key::of(elsewhere));
  t.clear();
}

}  // namespace
}  // namespace scute::test
