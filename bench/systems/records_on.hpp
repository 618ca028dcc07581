// SPDX-License-Identifier: BSD-3-Clause
// A record_system from the locked hash map of workloads/maps and a home: a store and the file that
// it is in.
#pragma once

#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "systems/content.hpp"
#include "systems/drain_home.hpp"
#include "systems/record_system.hpp"
#include "workloads/maps/locked_hashmap.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::bench {

// The value of a record: the key, and bytes that differ from one version to the next.
template <size_t N>
struct record_value {
  static_assert(N % 4 == 0);
  uint32_t words[N / 4];

  static record_value of(uint64_t key, uint64_t version) {
    record_value v;
    fill_version(v.words, N, version);
    std::memcpy(v.words, &key, sizeof key);
    return v;
  }
  bool belongs_to(uint64_t key) const { return std::memcmp(words, &key, sizeof key) == 0; }
};

template <class Home, size_t N>
class records_on final : public record_system {
 public:
  using store = typename Home::store_type;
  using value = record_value<N>;
  using map = workloads::locked_hashmap<store, value>;
  using ptr = typename store::template ptr<typename map::root>;

  template <class... Args>
  explicit records_on(Args&&... args)
      : home_(std::forward<Args>(args)...),
        root_(home_.store().template root<typename map::root>()),
        map_(home_.store(), root_) {}

  ~records_on() override {
    // Elsewhere the nodes go with the file.
    if constexpr (std::is_same_v<store, workloads::volatile_store>)
      home_.store().transact([&](auto& tx) { typename map::map(root_).clear(tx); });
  }

  uint64_t run(std::span<const workloads::ycsb::operation> batch, uint64_t version) override {
    using workloads::ycsb::kind;
    uint64_t done = 0;
    for (const auto& o : batch) {
      ++version;
      const uint64_t key = workloads::ycsb::key_of(o.record);
      switch (o.what) {
        case kind::read: done += read(key); break;
        case kind::update: done += map_.update(key, value::of(key, version)); break;
        case kind::insert: done += map_.insert(key, value::of(key, version)); break;
        case kind::scan: done += scan(key, o.records); break;
        case kind::modify: done += modify(key, version); break;
      }
    }
    return done;
  }
  bool count(costs& out) override { return home_.count(out); }
  bool drain() override { return drain_home(home_); }

 private:
  // Gives the caller a copy of the whole value: the compiler must not leave it out.
  static bool hand_out(const value& v, uint64_t key) {
    value copy = v;
    asm volatile("" : "+m"(copy));
    return copy.belongs_to(key);
  }
  bool read(uint64_t key) {
    bool right = false;
    map_.read(key, [&](const value& v) { right = hand_out(v, key); });
    return right;
  }
  bool modify(uint64_t key, uint64_t version) {
    bool right = false;
    map_.read_modify_write(key, [&](value& v) {
      right = hand_out(v, key);
      v = value::of(key, version);
    });
    return right;
  }
  uint64_t scan(uint64_t key, uint64_t n) {
    uint64_t right = 0;
    map_.scan(key, n, [&](uint64_t k, const value& v) { right += hand_out(v, k); });
    return right;
  }

  Home home_;
  ptr root_;
  map map_;
};

template <class Home, class... Args>
std::unique_ptr<record_system> make_records_on(const record_population& p, Args&&... args) {
  if (p.value_size == 100)
    return std::make_unique<records_on<Home, 100>>(std::forward<Args>(args)...);
  if (p.value_size == 256)
    return std::make_unique<records_on<Home, 256>>(std::forward<Args>(args)...);
  throw std::invalid_argument("records have 100 or 256 bytes");
}

}  // namespace scute::bench
