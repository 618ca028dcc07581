// SPDX-License-Identifier: BSD-3-Clause
#include <ranges>

#include "containers/map_test.hpp"

namespace {

using texts = scute::hash_map<scute::string, scute::string>;
using numbers = scute::hash_map<uint64_t, uint64_t>;

struct one_bucket {
  uint64_t operator()(uint64_t, uint64_t) const noexcept { return 0; }
};

template <class Map>
class hash_maps : public scute_test::map_test<Map> {};

using maps = testing::Types<texts, numbers, scute::hash_map<scute::string, uint64_t>,
                            scute::hash_map<uint32_t, scute::string>,
                            scute::hash_map<uint64_t, uint64_t, one_bucket>>;
TYPED_TEST_SUITE(hash_maps, maps);

TYPED_TEST(hash_maps, against_a_model) {
  this->play_phases();
}

class hash_map_numbers : public scute_test::map_test<numbers> {};

TEST_F(hash_map_numbers, following_the_end_throws_range) {
  EXPECT_ERRC(range, (void)*pool.get(root).map.end());
  EXPECT_ERRC(range, (void)pool.get(root).map.begin(pool).value());
}

TEST_F(hash_map_numbers, grows_in_small_steps) {
  static_assert(std::ranges::forward_range<numbers::range>);
  EXPECT_EQ(map().get(pool, 1), nullptr);
  uint64_t worst = 0;
  for (uint64_t k = 0; k < 20'000; ++k) {
    const auto before = pool.stats().bytes_data;
    pool.transact([&](scute::tx& tx) {
      tx.edit(root, &scute_test::map_root<numbers>::map).insert(tx, k, k * k);
    });
    worst = std::max(worst, pool.stats().bytes_data - before);
  }
  EXPECT_LT(worst, 16'384U) << "no insertion may copy a table";
  EXPECT_GT(map().bucket_count(), 500U);
  map().check(pool);
  reopen();
  for (uint64_t k = 0; k < 20'000; ++k) {
    ASSERT_EQ(*map().get(pool, k), k * k);
  }
  EXPECT_EQ(map().get(pool, 20'000), nullptr);
}

TEST_F(hash_map_numbers, damaged_handles_and_pages_are_caught) {
  pool.transact([&](scute::tx& tx) {
    for (uint64_t k = 0; k < 300; ++k) {
      tx.open(root).map.insert(tx, k, k);
    }
  });
  for (const auto p : pool.objects()) {
    if (pool.type_of(p) == scute::type_hash("scute.hash_map.page")) {
      EXPECT_ERRC(corrupt, pool.transact([&](scute::tx& tx) {
        std::memset(tx.open_bytes(p.oid()) + 8, 0xEE, 8);
        for (const auto& entry : tx.get(root).map.scan(tx)) {
          (void)entry;
        }
      }));
    }
  }
  pool.transact([&](scute::tx& tx) {  // a bucket count far beyond the directory
    const uint64_t absurd = 1ULL << 40;
    std::memcpy(reinterpret_cast<std::byte*>(&tx.open(root).map) + 16, &absurd, sizeof absurd);
  });
  EXPECT_EQ(map().bucket_count(), 1ULL << 40);
  EXPECT_ERRC(corrupt, for (uint64_t k = 0; k < 300; ++k) { map().get(pool, k); });
}

TEST_F(hash_map_numbers, circles_of_pages_are_caught) {
  pool.transact([&](scute::tx& tx) {
    for (uint64_t k = 0; k < 300; ++k) {
      tx.open(root).map.insert(tx, k, k);
    }
  });
  for (const auto p : pool.objects()) {
    if (pool.type_of(p) == scute::type_hash("scute.hash_map.page")) {
      pool.transact([&](scute::tx& tx) {
        const scute_oid itself = p.oid();
        std::memcpy(tx.edit_bytes(itself, 0, sizeof itself), &itself, sizeof itself);
      });
    }
  }
  EXPECT_ERRC(corrupt, map().get(pool, 1'000'000));
  EXPECT_ERRC(corrupt, map().check(pool));
  EXPECT_ERRC(corrupt, for (const auto& entry : map().scan(pool)) { (void)entry; });
  EXPECT_ERRC(corrupt,
              pool.transact([&](scute::tx& tx) { tx.open(root).map.insert(tx, 1'000'000, 1); }));
}

TEST(hash, values_never_change) {
  EXPECT_EQ(scute::hash<scute::string>{}("", 0), scute::hash<scute::string>{}("", 0));
  EXPECT_NE(scute::hash<scute::string>{}("a", 0), scute::hash<scute::string>{}("a", 1));
  EXPECT_NE(scute::hash<scute::string>{}("a", 0), scute::hash<scute::string>{}({"a\0", 2}, 0));
  EXPECT_EQ(scute::detail::hash_word(1, 2), scute::hash<int>{}(1, 2));
}

TEST(hash, spreads_small_numbers) {
  int buckets[64] = {};
  for (uint64_t i = 0; i < 6400; ++i) {
    ++buckets[scute::hash<uint64_t>{}(i * 64, 5) % 64];
  }
  for (const int n : buckets) {
    EXPECT_GT(n, 50);
    EXPECT_LT(n, 160);
  }
}

}  // namespace
