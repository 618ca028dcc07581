// SPDX-License-Identifier: BSD-3-Clause
//
// map_test.hpp: what ordered_map and hash_map have in common, against std::map.
#pragma once

#include <map>

#include "containers/model_test.hpp"

namespace scute_test {

template <class K>
using model_key = std::conditional_t<std::is_same_v<K, scute::string>, std::string, K>;

template <class Map>
struct map_root {
  Map map;
};

template <class Map>
using map_model = std::map<model_key<typename Map::key_type>, model_key<typename Map::mapped_type>>;

template <class Map>
class map_test : public model_test<map_root<Map>, map_model<Map>> {
 public:
  using K = typename Map::key_type;
  using V = typename Map::mapped_type;
  using map_type = Map;

  template <class T>
  model_key<T> any(uint64_t n) {
    if constexpr (std::is_same_v<T, scute::string>) {
      return this->text(n);
    } else {
      return T(static_cast<uint8_t>(0) + this->pick(n));
    }
  }

  const Map& map() const { return this->pool.get(this->root).map; }

  template <class T>
  decltype(auto) shown(const T& value) const {
    return scute::detail::viewed(this->pool, value);
  }

  void step(scute::tx& tx, Map& map, map_model<Map>& m, uint64_t keys, bool growing) {
    const auto k = any<K>(keys);
    const auto v = any<V>(1'000'000);
    switch (pick_step(growing)) {
      case 0: ASSERT_EQ(map.insert(tx, k, v), m.insert({k, v}).second); break;
      case 1: ASSERT_EQ(map.insert_or_assign(tx, k, v), m.insert_or_assign(k, v).second); break;
      case 2: ASSERT_EQ(map.erase(tx, k), m.erase(k) == 1); break;
      case 3: {
        const auto [value, inserted] = map.try_emplace(tx, k, v);
        const auto [it, same] = m.try_emplace(k, v);
        ASSERT_EQ(inserted, same);
        ASSERT_TRUE(scute::detail::viewed(tx, *value) == it->second);
        break;
      }
      case 4: {
        V* value = map.edit(tx, k);
        const auto it = m.find(k);
        ASSERT_EQ(value != nullptr, it != m.end());
        if (value != nullptr) {
          scute::detail::replace(tx, *value, v);
          it->second = v;
        }
        break;
      }
      default: {
        const V* value = map.get(tx, k);
        const auto it = m.find(k);
        ASSERT_EQ(value != nullptr, it != m.end());
        if (value != nullptr) {
          ASSERT_TRUE(scute::detail::viewed(tx, *value) == it->second);
        }
      }
    }
    ASSERT_EQ(map.size(), m.size());
  }

  void verify(const Map& map, const map_model<Map>& m) {
    map.check(this->pool);
    ASSERT_EQ(map.size(), m.size());
    size_t n = 0;
    for (const auto& [key, value] : map.scan(this->pool)) {
      const auto it = m.find(model_key<K>(shown(key)));
      ASSERT_TRUE(it != m.end());
      ASSERT_TRUE(shown(value) == it->second);
      ++n;
    }
    ASSERT_EQ(n, m.size());
    for (const auto& [key, value] : m) {
      const auto it = map.find(this->pool, key);
      ASSERT_TRUE(it != map.end());
      ASSERT_TRUE(shown(it->value) == value);
      ASSERT_TRUE(map.contains(this->pool, key));
    }
  }

  void play_phases() {
    for (int phase = 0; phase < 4; ++phase) {
      this->play(
          120,
          [&](scute::tx& tx, map_root<Map>& r, auto& m) {
            step(tx, r.map, m, 900, phase % 2 == 0);
          },
          [&](const map_root<Map>& r, const auto& m) { verify(r.map, m); });
    }
    this->pool.transact([&](scute::tx& tx) { tx.open(this->root).map.clear(tx); });
    EXPECT_TRUE(map().empty());
    EXPECT_TRUE(map().begin(this->pool) == map().end());
    map().check(this->pool);
    this->expect_no_leaks();
  }

 private:
  uint64_t pick_step(bool growing) {
    const uint64_t p = this->pick(10);
    if (p < 5) {
      return growing ? p % 2 : 2;
    }
    return p - 4;
  }
};

}  // namespace scute_test
