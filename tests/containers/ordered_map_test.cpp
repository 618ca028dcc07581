// SPDX-License-Identifier: BSD-3-Clause
#include <ranges>

#include "containers/map_test.hpp"

namespace {

struct wide {
  uint64_t number;
  char padding[900];
  wide() = default;
  explicit wide(uint64_t n) : number(n), padding{} {}
  friend bool operator==(const wide& a, const wide& b) { return a.number == b.number; }
};

using texts = scute::ordered_map<scute::string, scute::string>;
using numbers = scute::ordered_map<uint64_t, uint64_t>;

template <class Map>
class ordered_maps : public scute_test::map_test<Map> {};

using maps =
    testing::Types<texts, numbers, scute::ordered_map<uint32_t, scute::string>,
                   scute::ordered_map<scute::string, uint64_t>, scute::ordered_map<uint16_t, wide>>;
TYPED_TEST_SUITE(ordered_maps, maps);

TYPED_TEST(ordered_maps, against_a_model) {
  this->play_phases();
}

TYPED_TEST(ordered_maps, scans_both_ways_and_from_anywhere) {
  SCUTE_TRACE_SEED();
  auto& m = this->model;
  this->pool.transact([&](scute::tx& tx) {
    for (int i = 0; i < 400; ++i) {
      const auto k = this->template any<typename TestFixture::K>(1000);
      const auto v = this->template any<typename TestFixture::V>(1000);
      tx.open(this->root).map.insert(tx, k, v);
      m.insert({k, v});
    }
  });
  const auto& map = this->map();
  const auto same = [&](auto a, auto b) {
    if (b == m.end()) {
      return a == map.end();
    }
    return a != map.end() && this->shown(a.key()) == b->first;
  };
  auto it = map.end(this->pool);
  for (auto expected = m.end(); expected != m.begin();) {
    --it;
    --expected;
    ASSERT_TRUE(same(it, expected));
  }
  EXPECT_TRUE(it == map.begin(this->pool));
  for (int i = 0; i < 200; ++i) {
    auto from = this->template any<typename TestFixture::K>(1000);
    auto to = this->template any<typename TestFixture::K>(1000);
    ASSERT_TRUE(same(map.lower_bound(this->pool, from), m.lower_bound(from)));
    ASSERT_TRUE(same(map.upper_bound(this->pool, from), m.upper_bound(from)));
    ASSERT_TRUE(same(map.find(this->pool, from), m.find(from)));
    if (to < from) {
      std::swap(from, to);
    }
    auto expected = m.lower_bound(from);
    for (const auto& [key, value] : map.scan(this->pool, from, to)) {
      ASSERT_TRUE(this->shown(key) == expected->first);
      ++expected;
    }
    ASSERT_TRUE(expected == m.lower_bound(to));
    EXPECT_EQ(std::ranges::distance(map.scan(this->pool, from)),
              std::distance(m.lower_bound(from), m.end()));
  }
}

class ordered_map_numbers : public scute_test::map_test<numbers> {};

TEST_F(ordered_map_numbers, is_a_bidirectional_range) {
  static_assert(std::ranges::bidirectional_range<numbers::range>);
  EXPECT_ERRC(range, --numbers().end(pool));
  EXPECT_ERRC(range, (void)*numbers().end(pool));
  EXPECT_ERRC(range, (void)numbers().end().key());
  EXPECT_ERRC(range, ++numbers().end());
  EXPECT_EQ(map().get(pool, 1), nullptr);
  EXPECT_TRUE(map().scan(pool).empty());
}

TEST_F(ordered_map_numbers, ascending_keys_fill_the_nodes) {
  constexpr uint64_t n = 5000;
  for (uint64_t i = 0; i < n; i += 100) {
    pool.transact([&](scute::tx& tx) {
      for (uint64_t k = i; k < i + 100; ++k) {
        tx.open(root).map.insert(tx, k, k);
      }
    });
  }
  map().check(pool);
  EXPECT_LT(objects(), n / 30) << "nodes of 58 entries should be two thirds full";
  for (uint64_t k = 0; k < n; ++k) {  // and come apart again from the front
    pool.transact([&](scute::tx& tx) { EXPECT_TRUE(tx.open(root).map.erase(tx, k)); });
  }
  EXPECT_TRUE(map().empty());
  expect_no_leaks();
}

TEST_F(ordered_map_numbers, descending_keys_and_erasing_from_the_back) {
  pool.transact([&](scute::tx& tx) {
    for (uint64_t k = 3000; k-- > 0;) {
      tx.open(root).map.insert(tx, k, k);
    }
  });
  map().check(pool);
  pool.transact([&](scute::tx& tx) {
    auto& m = tx.open(root).map;
    for (uint64_t k = 3000; k-- > 0;) {
      EXPECT_TRUE(m.erase(tx, k));
      if (k % 500 == 0) {
        m.check(tx);
      }
    }
  });
  expect_no_leaks();
}

TEST_F(ordered_map_numbers, an_insertion_writes_little) {
  pool.transact([&](scute::tx& tx) {
    for (uint64_t k = 0; k < 40; ++k) {
      tx.open(root).map.insert(tx, 2 * k, k);
    }
  });
  const auto before = pool.stats();
  pool.transact(
      [&](scute::tx& tx) { tx.edit(root, &scute_test::map_root<numbers>::map).insert(tx, 1, 1); });
  EXPECT_LT(pool.stats().bytes_data - before.bytes_data, 600U);
}

TEST_F(ordered_map_numbers, other_orders) {
  struct backwards {
    scute::ordered_map<int, int, std::greater<>> numbers;
    scute::ordered_map<scute::string, int, std::greater<>> texts;
  };
  const auto p = pool.transact([](scute::tx& tx) {
    const auto made = tx.make<backwards>();
    auto& b = tx.open(made);
    for (int i = 0; i < 200; ++i) {
      b.numbers.insert(tx, i, i);
      b.texts.insert(tx, "a long enough key, number " + std::to_string(i), i);
    }
    return made;
  });
  const auto& b = pool.get(p);
  b.numbers.check(pool);
  b.texts.check(pool);
  EXPECT_EQ(b.numbers.begin(pool).key(), 199);
  EXPECT_EQ(b.texts.begin(pool)->value, 99);
  EXPECT_EQ(*b.texts.get(pool, "a long enough key, number 7"), 7);
}

TEST_F(ordered_map_numbers, damaged_nodes_are_caught) {
  pool.transact([&](scute::tx& tx) {
    for (uint64_t k = 0; k < 500; ++k) {
      tx.open(root).map.insert(tx, k, k);
    }
  });
  // Fills each node in turn with bytes that make every count and position absurd.
  for (const auto p : pool.objects()) {
    if (p.oid() == root.oid()) {
      continue;
    }
    EXPECT_ERRC(corrupt, pool.transact([&](scute::tx& tx) {
      uint64_t size = pool.size_of(p);
      std::memset(tx.open_bytes(p.oid()), 0xEE, size);
      const auto& m = tx.get(root).map;
      for (uint64_t k = 0; k < 500; ++k) {
        m.get(tx, k);
      }
    }));
  }
  map().check(pool);
}

TEST_F(ordered_map_numbers, circles_of_leaves_are_caught) {
  pool.transact([&](scute::tx& tx) {
    for (uint64_t k = 0; k < 500; ++k) {
      tx.open(root).map.insert(tx, k, k);
    }
  });
  for (const auto p : pool.objects()) {
    if (pool.type_of(p) == scute::type_hash("scute.ordered_map.leaf")) {
      pool.transact([&](scute::tx& tx) {
        const scute_oid itself = p.oid();
        std::memcpy(tx.edit_bytes(itself, 0, sizeof itself), &itself, sizeof itself);
      });
    }
  }
  EXPECT_ERRC(corrupt, for (const auto& entry : map().scan(pool)) { (void)entry; });
  EXPECT_ERRC(corrupt, map().check(pool));
}

class ordered_map_texts : public scute_test::map_test<texts> {};

TEST_F(ordered_map_texts, is_asked_with_any_text) {
  pool.transact([&](scute::tx& tx) {
    auto& m = tx.open(root).map;
    m.insert(tx, "one", "1");
    m.insert(tx, std::string("two"), std::string(100, '2'));
    m.insert_or_assign(tx, std::string_view("three"), std::string_view("3"));
    m.insert(tx, m.find(tx, "two")->value, m.find(tx, "one")->value);  // stored strings as sources
  });
  EXPECT_EQ(map().get(pool, "one")->view(pool), "1");
  EXPECT_EQ(map().get(pool, std::string(100, '2'))->view(pool), "1");
  EXPECT_EQ(map().get(pool, "four"), nullptr);
}

TEST_F(ordered_map_texts, erased_separators_keep_separating) {
  const auto key = [](int i) { return "a key that is long enough " + std::to_string(10'000 + i); };
  pool.transact([&](scute::tx& tx) {
    for (int i = 0; i < 500; ++i) {
      tx.open(root).map.insert(tx, key(i), key(i));
    }
  });
  for (int i = 0; i < 500; i += 2) {
    pool.transact([&](scute::tx& tx) { EXPECT_TRUE(tx.open(root).map.erase(tx, key(i))); });
    ASSERT_FALSE(map().contains(pool, key(i)));
    ASSERT_TRUE(map().contains(pool, key(i + 1)));
  }
  map().check(pool);
  pool.transact([&](scute::tx& tx) { tx.open(root).map.clear(tx); });
  expect_no_leaks();
}

struct compound {
  scute::string name;
  uint32_t number;
};
struct by_name_then_number {
  bool operator()(const scute::reader& r, const compound& a, const compound& b) const {
    const int order = a.name.compare(r, b.name.view(r));
    return order != 0 ? order < 0 : a.number < b.number;
  }
};

TEST_F(ordered_map_texts, struct_keys_that_own_text) {
  struct holder {
    scute::ordered_map<compound, int, by_name_then_number> map;
  };
  const std::string name(50, 'n');
  const auto p = pool.transact([&](scute::tx& tx) {
    const auto made = tx.make<holder>();
    for (uint32_t i = 0; i < 200; ++i) {
      compound key{scute::string::make(tx, name), i * 7 % 200};
      EXPECT_TRUE(tx.open(made).map.insert(tx, std::move(key), static_cast<int>(i)));
    }
    return made;
  });
  pool.get(p).map.check(pool);
  EXPECT_EQ(pool.get(p).map.size(), 200U);
  pool.transact([&](scute::tx& tx) { tx.destroy(p); });
  expect_no_leaks();
}

}  // namespace
