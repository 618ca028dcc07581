// SPDX-License-Identifier: BSD-3-Clause
// Random transactions on a map of each kind and on a std::map next to it, on one stage. A source
// that includes this instantiates map_model for its stages.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "support/budget.hpp"
#include "support/seed.hpp"
#include "workloads/key_family.hpp"
#include "workloads/kinds.hpp"

namespace scute::test {

// The subject of a test case: one kind of map on one stage.
template <class Kind, class Stage>
struct on_stage {
  using kind = Kind;
  using stage = Stage;
};
template <class Stage, class Kinds>
struct on_stage_each;
template <class Stage, class... Kinds>
struct on_stage_each<Stage, ::testing::Types<Kinds...>> {
  using type = ::testing::Types<on_stage<Kinds, Stage>...>;
};
template <class Stage>
using every_kind_on = typename on_stage_each<Stage, every_kind>::type;
struct case_name {
  template <class Case>
  static std::string GetName(int) {
    return Case::kind::name;
  }
};

template <class Case>
class map_model : public ::testing::Test {
 protected:
  using kind = typename Case::kind;
  using stage_type = typename Case::stage;
  using store_type = typename stage_type::store_type;
  using map_type = typename kind::template map<store_type>;
  using tx = typename store_type::tx;
  using value = typename map_type::value;
  using model_type = std::map<uint64_t, uint64_t>;

  struct abandoned {};  // thrown to abort

  map_type map() { return map_type(stage.store().template root<typename map_type::root>()); }

  // One random thing to both.
  void change(tx& t, map_type& m, model_type& expected, random_source& random, const key_list& keys,
              bool growing) {
    const uint64_t k = keys[random.between(0, keys.size() - 1)];
    const auto there = expected.find(k);
    const value* const found = m.get(t, k);
    ASSERT_EQ(found != nullptr, there != expected.end()) << k;
    if (found != nullptr) {
      ASSERT_EQ(*found, value::of(there->second)) << k;
    }
    if (random.one_in(4) == growing) {
      ASSERT_EQ(m.remove(t, k), there != expected.end()) << k;
      if (there != expected.end()) expected.erase(there);
    } else {
      const uint64_t v = random.word();
      ASSERT_EQ(m.insert(t, k, value::of(v)), there == expected.end()) << k;
      expected[k] = v;
    }
  }

  template <class R>
  void compare(const R& reader, const map_type& m, const model_type& expected) {
    ASSERT_EQ(m.check(reader), "");
    model_type listed;
    size_t n = 0;
    bool ascending = true;
    m.for_each(reader, [&](uint64_t k, const value& v) {
      ascending = ascending && (listed.empty() || listed.rbegin()->first < k);
      listed[k] = v.number;
      EXPECT_EQ(v, value::of(v.number)) << k;
      ++n;
    });
    ASSERT_EQ(n, listed.size()) << "a key is listed twice";
    ASSERT_EQ(listed, expected);
    ASSERT_TRUE(ascending || !kind::ordered);  // SKIP-2, and its like of the other maps
  }
  void compare(const key_list& keys) {
    const auto& reader = stage.store().view();
    const map_type m = map();
    compare(reader, m, model);
    for (const uint64_t k : keys) {
      const value* const found = m.get(reader, k);
      const auto there = model.find(k);
      ASSERT_EQ(found != nullptr, there != model.end()) << k;
      if (found != nullptr) {
        ASSERT_EQ(*found, value::of(there->second)) << k;
      }
    }
  }

  // One transaction, of one or of several changes; some are abandoned.
  void transact(random_source& random, const key_list& keys, bool growing) {
    const uint64_t changes = random.one_in(3) ? random.between(2, 20) : 1;
    const bool abort = stage_type::aborts && random.one_in(8);
    const auto objects = abort ? stage.objects() : std::nullopt;
    model_type changed = model;
    try {
      stage.store().transact([&](tx& t) {
        map_type m = map_;
        for (uint64_t i = 0; i < changes; ++i) change(t, m, changed, random, keys, growing);
        if (random.one_in(4)) compare(t, m, changed);
        if (abort) throw abandoned();
      });
      model = std::move(changed);
    } catch (const abandoned&) {
      if (objects) {
        ASSERT_EQ(stage.objects(), objects) << "an aborted transaction left objects";
      }
    }
    // A hash table's check visits every bucket, most of which are empty here.
    if (kind::ordered || random.one_in(budget(8, 1))) {
      ASSERT_EQ(map_.check(stage.store().view()), "");
    }
  }

  void play(random_source& random, const key_list& keys, int transactions) {
    for (int phase = 0; phase < 4 && !this->HasFatalFailure(); ++phase) {
      for (int i = 0; i < transactions && !this->HasFatalFailure(); ++i) {
        transact(random, keys, phase % 2 == 0);
        if (i % 25 == 24) compare(keys);
      }
      stage.reopen();
      map_ = map();
      compare(keys);
    }
    if (!this->HasFatalFailure()) end();
  }

  // All is freed.
  void end() {
    stage.store().transact([&](tx& t) { map_.clear(t); });
    model.clear();
    compare({0, 1, ~uint64_t{0}});
    if (const auto left = stage.objects()) {
      EXPECT_EQ(*left, 0U) << "objects that clear() does not free";
    }
    stage.store().transact([&](tx& t) { EXPECT_TRUE(map_.insert(t, 7, value::of(8))); });
    model[7] = 8;
    compare({7});
    stage.store().transact([&](tx& t) { EXPECT_TRUE(map_.remove(t, 7)); });
    model.clear();
    compare({7});
    stage.store().transact([&](tx& t) { map_.clear(t); });
    if (const auto left = stage.objects()) {
      EXPECT_EQ(*left, 0U) << "objects that the last removal and clear() do not free";
    }
    stage.verify();
  }

  stage_type stage;
  map_type map_ = map();
  model_type model;
};
TYPED_TEST_SUITE_P(map_model);

TYPED_TEST_P(map_model, dense) {
  SCUTE_RANDOM(source);
  this->play(source, dense_keys(300), 150);
}

TYPED_TEST_P(map_model, random) {
  SCUTE_RANDOM(source);
  this->play(source, random_keys(source, 300), 150);
}

TYPED_TEST_P(map_model, awkward) {
  SCUTE_RANDOM(source);
  this->play(source, awkward_keys(source, 400), 150);
}

// Up and down to the empty map, in and against the order of the keys and in none: every depth.
TYPED_TEST_P(map_model, all_in_and_all_out) {
  using test = map_model<TypeParam>;
  SCUTE_RANDOM(source);
  for (int order = 0; order < 3 && !this->HasFatalFailure(); ++order) {
    key_list keys = order == 2 ? random_keys(source, 1500) : dense_keys(1500);
    key_list out = keys;
    if (order == 1) std::reverse(keys.begin(), keys.end());
    if (order == 2)
      for (size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[source.between(0, i - 1)]);
    const auto each = [&](const key_list& list, auto&& change) {
      for (size_t i = 0; i < list.size() && !this->HasFatalFailure(); ++i) {
        this->stage.store().transact([&](typename test::tx& t) { change(t, list[i]); });
        if (i % 100 == 99) this->compare({list[i]});
      }
    };
    each(keys, [&](auto& t, uint64_t k) {
      ASSERT_TRUE(this->map_.insert(t, k, test::value::of(~k)));
      this->model[k] = ~k;
    });
    this->stage.reopen();
    this->map_ = this->map();
    this->compare(keys);
    each(out, [&](auto& t, uint64_t k) {
      ASSERT_TRUE(this->map_.remove(t, k));
      ASSERT_FALSE(this->map_.remove(t, k));
      this->model.erase(k);
    });
  }
  if (!this->HasFatalFailure()) this->end();
}

REGISTER_TYPED_TEST_SUITE_P(map_model, dense, random, awkward, all_in_and_all_out);

}  // namespace scute::test
