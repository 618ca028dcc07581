// SPDX-License-Identifier: BSD-3-Clause
// Power failures in the middle of the maps' transactions: what is found afterwards is the map from
// before or after the step that was under way, sound, with no object more or less. Steps split and
// merge nodes, turn and recolour them, and grow tables.
#include <gtest/gtest.h>

#include <map>
#include <scute/testing.hpp>
#include <stdexcept>
#include <string>

#include "support/seed.hpp"
#include "workloads/key_family.hpp"
#include "workloads/kinds.hpp"
#include "workloads/stages.hpp"
#include "workloads/stores/scute_store.hpp"

namespace scute::test {
namespace {

using workloads::scute_store;

template <class Kind>
using map_of = typename Kind::template map<scute_store>;
template <class Kind>
using value_of = typename map_of<Kind>::value;

template <class Kind>
map_of<Kind> map_in(scute_store& s) {
  using map = map_of<Kind>;
  return map(s.template root<typename map::root>());
}

// How many keys a scene starts with, how many come at once, and how many of the smallest pools that
// needs.
struct extent {
  unsigned start, bulk, pools;
};
template <class Kind>
constexpr extent extent_of = {30, 25, 1};
template <>
constexpr extent extent_of<rtree_kind> = {7, 4, 2};

// Key number i: ascending, so that the last nodes are split again and again, but where another
// shape does more.
template <class Kind>
uint64_t key_of(unsigned i) {
  return 10 * i;
}
// Paths that part at several digits.
template <>
uint64_t key_of<rtree_kind>(unsigned i) {
  return (uint64_t{i % 3} << 40) | (uint64_t{i % 5} << 10) | i;
}
// All in one shard, every fourth one such that the table grows by it.
template <>
uint64_t key_of<hashmap_kind>(unsigned i) {
  static const key_list keys = [] {
    key_list found;
    for (uint64_t k = 0; found.size() < 200; ++k) {
      const uint64_t hash = workloads::key_hash(k);
      if ((hash & 63) == 0 && (hash >> 59 == 0) == (found.size() % 4 == 0)) found.push_back(k);
    }
    return found;
  }();
  return keys.at(i);
}

template <class Kind>
std::string text_of(scute::pool& p) {
  scute_store s(p);
  const auto map = map_in<Kind>(s);
  if (const std::string wrong = map.check(s.view()); !wrong.empty())
    throw std::runtime_error(wrong);
  std::map<uint64_t, uint64_t> found;
  size_t n = 0, objects = 0;
  map.for_each(s.view(), [&](uint64_t k, const value_of<Kind>& v) {
    if (v != value_of<Kind>::of(v.number)) throw std::runtime_error("a value in parts");
    found[k] = v.number;
    ++n;
  });
  if (n != found.size()) throw std::runtime_error("a key is listed twice");
  for ([[maybe_unused]] const auto o : p.objects()) ++objects;
  std::string text = std::to_string(objects) + " objects:";
  for (const auto& [k, v] : found) {
    const value_of<Kind>* const got = map.get(s.view(), k);
    if (got == nullptr || got->number != v) throw std::runtime_error("get() finds something else");
    text += ' ' + std::to_string(k) + '=' + std::to_string(v);
  }
  return text;
}

struct abandoned {};

// The map can be changed; nothing is left of that.
template <class Kind>
void probe(scute::pool& p) {
  scute_store s(p);
  auto map = map_in<Kind>(s);
  const uint64_t k = key_of<Kind>(0);
  bool aborted = false;
  try {
    s.transact([&](scute_store::tx& t) {
      for (const unsigned i : {1u, 3u, 0u}) map.insert(t, key_of<Kind>(i), value_of<Kind>::of(9));
      map.remove(t, k);
      if (const std::string wrong = map.check(t); !wrong.empty()) throw std::runtime_error(wrong);
      throw abandoned();
    });
  } catch (const abandoned&) {
    aborted = true;
  }
  if (!aborted)
    throw std::runtime_error("the exception that left the transaction did not come out of it");
  const value_of<Kind>* const there = map.get(s.view(), k);
  if (there == nullptr) return;
  const value_of<Kind> before = *there;
  for (const value_of<Kind>& v : {value_of<Kind>::of(~before.number), before})
    s.transact([&](scute_store::tx& t) { map.insert(t, k, v); });
}

template <class Kind>
class scene {
 public:
  using map = map_of<Kind>;
  using tx = scute_store::tx;

  scene(const std::string& name, scute_engine engine) : scenario_(name, pool_options(engine)) {
    scenario_.setup([](scute::pool& p) {
      scute_store s(p);
      auto m = map_in<Kind>(s);
      s.transact([&](tx& t) {
        for (unsigned i = 0; i < extent_of<Kind>.start; ++i) put(t, m, 2 * i);
      });
    });
    scenario_.observe(text_of<Kind>);
    scenario_.probe(probe<Kind>);
  }
  scene& step(const std::string& what, std::function<void(tx&, map&)> body) {
    scenario_.step(what, [body](scute::pool& p) {
      scute_store s(p);
      auto m = map_in<Kind>(s);
      s.transact([&](tx& t) { body(t, m); });
    });
    return *this;
  }
  scene& broken_step(const std::string& what, std::function<void(scute_store&, map&)> body) {
    scenario_.step(what, [body](scute::pool& p) {
      scute_store s(p);
      auto m = map_in<Kind>(s);
      body(s, m);
    });
    return *this;
  }
  testing::exploration explore(uint64_t seed, uint64_t states) {
    testing::explore_options how;
    how.seed = seed;
    how.states = states;
    return testing::explore(scenario_, how);
  }

  static void put(tx& t, map& m, unsigned i) {
    m.insert(t, key_of<Kind>(i), value_of<Kind>::of(1000 + i));
  }

 private:
  static scute_options pool_options(scute_engine engine) {
    scute_options o = testing::small_pool({SCUTE_PROTECT_MLPC, engine});
    o.size *= extent_of<Kind>.pools;
    return o;
  }

  testing::scenario scenario_;
};

template <class Kind>
void play(scute_engine engine) {
  SCUTE_RANDOM(random);
  static constexpr extent e = extent_of<Kind>;
  const char* const name = engine == SCUTE_ENGINE_REDO   ? "/redo"
                           : engine == SCUTE_ENGINE_SPEC ? "/spec"
                                                         : "/logfree";
  scene<Kind> s(std::string(Kind::name) + name, engine);
  const auto number = [](unsigned i) { return std::to_string(key_of<Kind>(i)); };
  // Between the others, from the middle outwards, so that the nodes there are split.
  for (unsigned j = 0; j < 5; ++j) {
    const unsigned i = 2 * (e.start / 2 + (j % 2 == 0 ? j : 0u - j)) + 1;
    s.step("insert " + number(i), [i](auto& t, auto& m) { scene<Kind>::put(t, m, i); });
  }
  s.step("insert many, ascending", [](auto& t, auto& m) {
    for (unsigned j = 0; j < e.bulk; ++j) scene<Kind>::put(t, m, 2 * e.start + j);
  });
  s.step("insert many between the others", [](auto& t, auto& m) {
    for (unsigned j = 0; j < e.bulk; ++j) scene<Kind>::put(t, m, 2 * (7 * j % e.bulk) + 1);
  });
  for (const unsigned i : {0u, e.start})
    s.step("replace " + number(i),
           [i](auto& t, auto& m) { m.insert(t, key_of<Kind>(i), value_of<Kind>::of(i + 7)); });
  s.step("replace, insert and remove", [](auto& t, auto& m) {
    m.insert(t, key_of<Kind>(2), value_of<Kind>::of(77));
    scene<Kind>::put(t, m, 1);
    m.remove(t, key_of<Kind>(4));
  });
  for (unsigned j = 0; j < 6; ++j) {
    const unsigned i = j % 2 == 0 ? e.start / 2 * 2 + 2 * j : 2 * j;
    s.step("remove " + number(i), [i](auto& t, auto& m) { m.remove(t, key_of<Kind>(i)); });
  }
  s.step("remove the lower ones, ascending", [](auto& t, auto& m) {
    for (unsigned i = 0; i < 2 * e.start / 3; ++i) m.remove(t, key_of<Kind>(i));
  });
  s.step("insert some of them again, mixed", [](auto& t, auto& m) {
    for (unsigned j = 0; j < e.bulk; ++j) scene<Kind>::put(t, m, 3 * j % e.bulk);
  });
  s.step("remove the upper ones, descending", [](auto& t, auto& m) {
    for (unsigned i = 2 * e.start + e.bulk; i > e.start; --i) m.remove(t, key_of<Kind>(i));
  });
  s.step("clear", [](auto& t, auto& m) { m.clear(t); });
  s.step("insert into the empty map", [](auto& t, auto& m) { scene<Kind>::put(t, m, 3); });
  s.step("remove the only key", [](auto& t, auto& m) { m.remove(t, key_of<Kind>(3)); });
  const testing::exploration result = s.explore(random.word(), 8000);
  EXPECT_TRUE(result.sound) << result.story;
  EXPECT_GE(result.states, 5000u) << "too little was explored";
  std::printf("%llu states, %llu crash points, %.1f s\n",
              static_cast<unsigned long long>(result.states),
              static_cast<unsigned long long>(result.crash_points), result.seconds);
}

template <class Kind>
class map_crash : public ::testing::Test {};
TYPED_TEST_SUITE(map_crash, every_kind, kind_name);

TYPED_TEST(map_crash, with_redo) {
  play<TypeParam>(SCUTE_ENGINE_REDO);
}
TYPED_TEST(map_crash, with_logfree) {
  play<TypeParam>(SCUTE_ENGINE_LOGFREE);
}
TYPED_TEST(map_crash, with_spec) {
  play<TypeParam>(SCUTE_ENGINE_SPEC);
}

// These tests must find mistakes made on purpose; otherwise the tests above prove nothing.

TEST(broken_map, a_replacement_in_two_transactions) {
  for (const scute_engine engine : {SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_SPEC}) {
    scene<rbtree_kind> s("rbtree, replaced in two transactions", engine);
    s.broken_step("replace", [](scute_store& store, auto& m) {
      const uint64_t k = key_of<rbtree_kind>(8);
      store.transact([&](auto& t) { m.remove(t, k); });
      store.transact([&](auto& t) { m.insert(t, k, value_of<rbtree_kind>::of(5)); });
    });
    EXPECT_FALSE(s.explore(1, 2500).sound);
  }
}

// A node that is linked first and gets its key later: only check() sees that.
TEST(broken_map, a_crit_bit_node_linked_before_it_is_whole) {
  using map = map_of<ctree_kind>;
  scene<ctree_kind> s("ctree, insertion in two transactions", SCUTE_ENGINE_LOGFREE);
  s.broken_step("insert", [](scute_store& store, map&) {
    const auto root = store.root<map::root>();
    scute::ptr<map::node> node;
    store.transact([&](auto& t) {
      const auto [at, fresh] = t.template make<map::node>();
      node = at;
      map::entry& top = t.edit(root, &map::root::top);
      fresh.bit = 63;
      fresh.entries[0] = top;
      fresh.entries[1] = map::entry{5, {}, value_of<ctree_kind>::of(6)};
      top.child = at;
    });
    store.transact([&](auto& t) {
      t.edit(node, &map::node::entries, 1).key = uint64_t{5} | uint64_t{1} << 63;
    });
  });
  const testing::exploration result = s.explore(1, 2500);
  EXPECT_FALSE(result.sound);
  EXPECT_NE(result.story.find("ctree: "), std::string::npos) << result.story;
}

// A node that is made and never linked: only the number of objects shows it.
TEST(broken_map, a_lost_node) {
  using map = map_of<btree_kind>;
  scene<btree_kind> s("btree, a node made too early", SCUTE_ENGINE_REDO);
  s.broken_step("insert", [](scute_store& store, map& m) {
    scute::ptr<map::node> spare;
    store.transact([&](auto& t) { spare = t.template make<map::node>().at; });
    store.transact([&](auto& t) {
      scene<btree_kind>::put(t, m, 1);
      t.destroy(spare);
    });
  });
  EXPECT_FALSE(s.explore(1, 2500).sound);
}

// The explorer's handlers of signals come and go; that of the library, which pools rely on, stays.
TEST(exploration, leaves_lost_pages_of_other_pools_to_be_rebuilt) {
  using map = map_of<btree_kind>;
  scene<btree_kind> s("btree", SCUTE_ENGINE_LOGFREE);
  s.step("insert", [](auto& t, map& m) { scene<btree_kind>::put(t, m, 1); });
  for (int time = 0; time < 2; ++time) {
    EXPECT_TRUE(s.explore(1, 50).sound);
    logfree_stage stage;
    map m(stage.store().root<map::root>());
    stage.store().transact([&](auto& t) { scene<btree_kind>::put(t, m, 5); });
    injection what;
    what.kind = SCUTE_INJURE_LOSE_PAGE;
    what.region = SCUTE_REGION_OBJECT;
    ASSERT_EQ(stage.pool().inject(what), 1U);
    EXPECT_EQ(m.check(stage.store().view()), "");
    EXPECT_NE(m.get(stage.store().view(), key_of<btree_kind>(5)), nullptr);
    stage.pool().check(true);
    stage.verify();
  }
}

}  // namespace
}  // namespace scute::test
