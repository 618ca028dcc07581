// SPDX-License-Identifier: BSD-3-Clause
// The containers of the C++ interface, each operation of each, with splits and merges of nodes and
// buckets. A step is one transaction.
#include <scute/containers/hash_map.hpp>
#include <scute/containers/ordered_map.hpp>
#include <scute/containers/queue.hpp>
#include <scute/containers/string.hpp>
#include <scute/containers/vector.hpp>

#include <stdexcept>

#include "scenarios/catalogue.hpp"

namespace scute::explore {
namespace {

// A scenario whose root is a single T.
template <class T>
class on {
 public:
  using body = std::function<void(tx&, T&)>;

  explicit on(const std::string& name, const level& l)
      : scenario_(name + "/" + l.name, testing::small_pool(l.protection)) {}

  on& setup(body b) {
    scenario_.setup([b](pool& p) {
      const ptr<T> root = p.root<T>();
      if (b) change(p, root, b);
    });
    return *this;
  }
  on& step(const std::string& what, body b) {
    scenario_.step(what, [b](pool& p) { change(p, p.root<T>(), b); });
    return *this;
  }
  testing::scenario observe(std::function<std::string(const reader&, const T&)> read) {
    scenario_.observe([read](pool& p) { return read(p, p.get(p.root<T>())); });
    return scenario_;
  }

 private:
  static void change(pool& p, ptr<T> root, const body& b) {
    p.transact([&](tx& t) { b(t, t.open(root)); });
  }
  testing::scenario scenario_;
};

template <class Map>
std::string text_of(const reader& r, const Map& m) {
  m.check(r);
  // Hash maps list their entries in an order that follows from their contents, so no sorting.
  std::string text = std::to_string(m.size()) + ":";
  uint64_t sum = 0, n = 0;
  for (const auto& [key, value] : m.scan(r)) {
    sum = (sum ^ key) * 0x9e3779b97f4a7c15u + value;
    ++n;
  }
  if (n != m.size())
    throw std::runtime_error("the map lists another number of entries than it has");
  return text + std::to_string(sum);
}

testing::scenario trees(const level& l) {
  using map = ordered_map<uint64_t, uint64_t>;
  on<map> s("ordered-map", l);
  // Even keys, so that there is room between them everywhere.
  s.setup([](tx& t, map& m) {
    for (uint64_t k = 0; k < 150; ++k) m.insert(t, 2 * k, k);
  });
  for (const uint64_t k : {7u, 9u, 151u, 299u, 301u, 1u})
    s.step("insert " + std::to_string(k), [k](tx& t, map& m) { m.insert(t, k, 1000 + k); });
  s.step("insert 40, which splits nodes", [](tx& t, map& m) {
    for (uint64_t k = 0; k < 40; ++k) m.insert(t, 101 + 2 * k, k);
  });
  s.step("change a value", [](tx& t, map& m) { *m.edit(t, 100u) = 5; });
  s.step("assign", [](tx& t, map& m) { m.insert_or_assign(t, 102u, 6u); });
  for (const uint64_t k : {0u, 150u, 301u})
    s.step("erase " + std::to_string(k), [k](tx& t, map& m) { m.erase(t, k); });
  s.step("erase 60, which merges nodes", [](tx& t, map& m) {
    for (uint64_t k = 0; k < 60; ++k) m.erase(t, 100 + 2 * k);
  });
  s.step("clear", [](tx& t, map& m) { m.clear(t); });
  s.step("insert into the empty map", [](tx& t, map& m) { m.insert(t, 3u, 4u); });
  return s.observe(text_of<map>);
}

testing::scenario hashes(const level& l) {
  using map = hash_map<uint64_t, uint64_t>;
  on<map> s("hash-map", l);
  s.setup([](tx& t, map& m) {
    for (uint64_t k = 0; k < 60; ++k) m.insert(t, k, k);
  });
  // Every few insertions split a bucket.
  for (uint64_t k = 100; k < 108; ++k)
    s.step("insert " + std::to_string(k), [k](tx& t, map& m) { m.insert(t, k, k); });
  s.step("insert 40 at once", [](tx& t, map& m) {
    for (uint64_t k = 200; k < 240; ++k) m.insert(t, k, k);
  });
  s.step("assign", [](tx& t, map& m) { m.insert_or_assign(t, 30u, 31u); });
  for (const uint64_t k : {0u, 100u, 239u})
    s.step("erase " + std::to_string(k), [k](tx& t, map& m) { m.erase(t, k); });
  s.step("erase 40", [](tx& t, map& m) {
    for (uint64_t k = 200; k < 240; ++k) m.erase(t, k);
  });
  s.step("clear", [](tx& t, map& m) { m.clear(t); });
  s.step("insert into the empty map", [](tx& t, map& m) { m.insert(t, 3u, 4u); });
  return s.observe(text_of<map>);
}

testing::scenario vectors(const level& l) {
  using list = vector<uint64_t>;
  on<list> s("vector", l);
  s.setup([](tx& t, list& v) {
    for (uint64_t k = 0; k < 30; ++k) v.push_back(t, k);
  });
  // Past the ends of segments.
  for (unsigned k = 0; k < 5; ++k)
    s.step("append", [k](tx& t, list& v) { v.push_back(t, 100u + k); });
  s.step("append 100", [](tx& t, list& v) {
    for (uint64_t k = 0; k < 100; ++k) v.push_back(t, 200 + k);
  });
  s.step("assign", [](tx& t, list& v) { v.assign(t, 64, 1u); });
  s.step("swap_remove", [](tx& t, list& v) { v.swap_remove(t, 3); });
  s.step("pop_back", [](tx& t, list& v) { v.pop_back(t); });
  s.step("resize to more", [](tx& t, list& v) { v.resize(t, 300); });
  s.step("resize to fewer", [](tx& t, list& v) { v.resize(t, 17); });
  s.step("reserve", [](tx& t, list& v) { v.reserve(t, 500); });
  s.step("clear", [](tx& t, list& v) { v.clear(t); });
  s.step("append to the empty vector", [](tx& t, list& v) { v.push_back(t, 9u); });
  return s.observe([](const reader& r, const list& v) {
    uint64_t sum = 0, n = 0;
    for (const uint64_t x : v.scan(r)) {
      sum = (sum ^ x) * 0x9e3779b97f4a7c15u;
      ++n;
    }
    if (n != v.size()) throw std::runtime_error("the vector lists another number than it has");
    return std::to_string(n) + ":" + std::to_string(sum);
  });
}

testing::scenario queues(const level& l) {
  using line = queue<uint64_t>;
  on<line> s("queue", l);
  s.setup([](tx& t, line& q) {
    for (uint64_t k = 0; k < 100; ++k) q.push(t, k);
  });
  for (unsigned k = 0; k < 4; ++k) {
    s.step("push", [k](tx& t, line& q) { q.push(t, 1000u + k); });
    s.step("pop", [](tx& t, line& q) { q.pop(t); });
  }
  s.step("push 80", [](tx& t, line& q) {
    for (uint64_t k = 0; k < 80; ++k) q.push(t, k);
  });
  s.step("pop 120", [](tx& t, line& q) {
    for (unsigned k = 0; k < 120; ++k) q.pop(t);
  });
  s.step("change the first", [](tx& t, line& q) { q.edit_front(t) = 77; });
  s.step("clear", [](tx& t, line& q) { q.clear(t); });
  s.step("push to the empty queue", [](tx& t, line& q) { q.push(t, 5u); });
  return s.observe([](const reader& r, const line& q) {
    uint64_t sum = 0, n = 0;
    for (const uint64_t x : q.scan(r)) {
      sum = (sum ^ x) * 0x9e3779b97f4a7c15u;
      ++n;
    }
    if (n != q.size()) throw std::runtime_error("the queue lists another number than it has");
    return std::to_string(n) + ":" + std::to_string(sum);
  });
}

testing::scenario strings(const level& l) {
  on<string> s("string", l);
  s.setup([](tx& t, string& x) { x.assign(t, "a beginning"); });
  s.step("short", [](tx& t, string& x) { x.assign(t, "ab"); });
  s.step("long", [](tx& t, string& x) { x.assign(t, std::string(300, 'x')); });
  s.step("as long, other letters", [](tx& t, string& x) { x.assign(t, std::string(299, 'y')); });
  for (const size_t n : {1u, 40u, 3000u})
    s.step("append " + std::to_string(n),
           [n](tx& t, string& x) { x.append(t, std::string(n, 'z')); });
  s.step("short again", [](tx& t, string& x) { x.assign(t, "c"); });
  s.step("push_back", [](tx& t, string& x) { x.push_back(t, 'd'); });
  s.step("clear", [](tx& t, string& x) { x.clear(t); });
  return s.observe([](const reader& r, const string& x) {
    const std::string all = x.str(r);
    return all.size() < 40 ? all
                           : all.substr(0, 4) + "..." + std::to_string(all.size()) + ":" +
                                 std::to_string(std::hash<std::string>()(all));
  });
}

// Maps of strings own what their nodes point to: erasing and clearing frees it.
testing::scenario string_maps(const level& l) {
  using map = ordered_map<string, string>;
  on<map> s("string-map", l);
  s.setup([](tx& t, map& m) {
    for (unsigned k = 0; k < 12; ++k)
      m.insert_or_assign(t, "key " + std::to_string(k), std::string(10 + 20 * k, 'v'));
  });
  s.step("insert", [](tx& t, map& m) {
    m.insert_or_assign(t, "key of some length, longer than a handle", std::string(100, 'w'));
  });
  s.step("assign", [](tx& t, map& m) { m.insert_or_assign(t, "key 3", std::string(500, 'x')); });
  s.step("erase", [](tx& t, map& m) { m.erase(t, "key 11"); });
  s.step("assign a shorter one", [](tx& t, map& m) { m.insert_or_assign(t, "key 3", "x"); });
  s.step("clear", [](tx& t, map& m) { m.clear(t); });
  return s.observe([](const reader& r, const map& m) {
    m.check(r);
    std::string text;
    for (const auto& [key, value] : m.scan(r))
      text += std::string(key.view(r)) + "=" + std::to_string(value.size()) + " ";
    return text;
  });
}

}  // namespace

void add_container_scenarios(std::vector<entry>& to) {
  add_at(
      {levels[0], levels[3], levels[4], levels[5], spec_levels[0], spec_levels[1], spec_levels[2]},
      {{"ordered-map", "a B+ tree, with splits and merges", trees},
       {"hash-map", "linear hashing, with splits of buckets", hashes},
       {"vector", "segments come and go", vectors},
       {"queue", "blocks come and go", queues},
       {"string", "short and long strings", strings},
       {"string-map", "a map that owns its strings", string_maps}},
      to);
}

}  // namespace scute::explore
