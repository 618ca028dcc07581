// SPDX-License-Identifier: BSD-3-Clause
// containers_actor.cpp: one container of each kind, changed by a few steps per transaction, with
// now and then so many that nodes split and merge, tables grow, or a container is emptied.
#include "actor.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <scute/containers.hpp>
#include <string>
#include <vector>

namespace scute_torture {

namespace {

struct record {
  uint64_t a, b;
  bool operator==(const record&) const = default;
};

struct shelf {
  uint64_t number;
  scute::hash_map<uint64_t, scute::string> hash;
  scute::ordered_map<scute::string, uint64_t> ordered;
  scute::vector<record> array;
  scute::queue<scute::string> line;
  scute::string text;
};

struct model_shelf {
  std::map<uint64_t, std::string> hash;
  std::map<std::string, uint64_t> ordered;
  std::vector<record> array;
  std::deque<std::string> line;
  std::string text;
};

// The same steps on either shelf. Which ones depends on the dice alone, never on what is there.
struct in_pool {
  scute::tx& tx;
  shelf& s;

  void put_hash(uint64_t key, const std::string& v) { s.hash.insert_or_assign(tx, key, v); }
  void cut_hash(uint64_t key) { s.hash.erase(tx, key); }
  void put_ordered(const std::string& key, uint64_t v) { s.ordered.insert_or_assign(tx, key, v); }
  void cut_ordered(const std::string& key) { s.ordered.erase(tx, key); }
  void push_array(const record& r) { s.array.push_back(tx, r); }
  void pop_array() {
    if (!s.array.empty()) s.array.pop_back(tx);
  }
  void edit_array(uint64_t at, const record& r) {
    if (!s.array.empty()) s.array.edit(tx, at % s.array.size()) = r;
  }
  void push_line(const std::string& v) { s.line.push(tx, v); }
  void pop_line() {
    if (!s.line.empty()) s.line.pop(tx);
  }
  void set_text(const std::string& v) { s.text.assign(tx, v); }
  void add_text(const std::string& v) { s.text.append(tx, v); }
  void empty(uint64_t which) {
    switch (which) {
      case 0: s.hash.clear(tx); break;
      case 1: s.ordered.clear(tx); break;
      case 2: s.array.clear(tx); break;
      case 3: s.line.clear(tx); break;
      default: s.text.clear(tx);
    }
  }
};

struct in_model {
  model_shelf& s;

  void put_hash(uint64_t key, const std::string& v) { s.hash[key] = v; }
  void cut_hash(uint64_t key) { s.hash.erase(key); }
  void put_ordered(const std::string& key, uint64_t v) { s.ordered[key] = v; }
  void cut_ordered(const std::string& key) { s.ordered.erase(key); }
  void push_array(const record& r) { s.array.push_back(r); }
  void pop_array() {
    if (!s.array.empty()) s.array.pop_back();
  }
  void edit_array(uint64_t at, const record& r) {
    if (!s.array.empty()) s.array[at % s.array.size()] = r;
  }
  void push_line(const std::string& v) { s.line.push_back(v); }
  void pop_line() {
    if (!s.line.empty()) s.line.pop_front();
  }
  void set_text(const std::string& v) { s.text = v; }
  void add_text(const std::string& v) { s.text += v; }
  void empty(uint64_t which) {
    switch (which) {
      case 0: s.hash.clear(); break;
      case 1: s.ordered.clear(); break;
      case 2: s.array.clear(); break;
      case 3: s.line.clear(); break;
      default: s.text.clear();
    }
  }
};

std::string printable(const std::string& bytes) {
  std::string hex;
  for (size_t i = 0; i < bytes.size() && i < 12; ++i)
    hex += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  return fmt::format("{} bytes {}{}", bytes.size(), hex, bytes.size() > 12 ? "..." : "");
}
std::string printable(uint64_t number) {
  return fmt::format("{}", number);
}
std::string printable(const record& r) {
  return fmt::format("({}, {})", r.a, r.b);
}

class containers_actor final : public actor {
 public:
  containers_actor(uint64_t seed, unsigned index) : actor(seed, index, "containers") {}

  scute_oid make_root(scute::tx& tx) const override { return tx.allocate(sizeof(shelf), 1).oid; }

  void perform(const scute::pool& pool, uint64_t n, way how) override {
    pool.transact([&](scute::tx& tx) {
      shelf& s = tx.open(scute::ptr<shelf>(root_));
      s.number = n;
      play(n, how, in_pool{tx, s});
    });
  }

  void advance(uint64_t n, way how) override { play(n, how, in_model{model_}); }

  void compare(const scute::pool& pool) const override {
    const shelf& s = pool.get_verified(scute::ptr<shelf>(root_));
    s.hash.check(pool);
    s.ordered.check(pool);
    same("hash_map", s.hash.size(), model_.hash.size(), "size");
    for (const auto& [key, value] : model_.hash) {
      const scute::string* found = s.hash.get(pool, key);
      if (found == nullptr) wrong("hash_map", fmt::format("the key {} is missing", key));
      same("hash_map", found->str(pool), value, fmt::format("value of {}", key));
    }
    same("ordered_map", s.ordered.size(), model_.ordered.size(), "size");
    auto expected = model_.ordered.begin();
    for (const auto& [key, value] : s.ordered.scan(pool)) {
      same("ordered_map", key.str(pool), expected->first, "a key");
      same("ordered_map", value, expected->second, "value of " + printable(expected->first));
      ++expected;
    }
    same("vector", s.array.size(), model_.array.size(), "size");
    for (uint64_t i = 0; i < model_.array.size(); ++i)
      same("vector", s.array.at(pool, i), model_.array[i], fmt::format("element {}", i));
    same("queue", s.line.size(), model_.line.size(), "size");
    uint64_t at = 0;
    for (const scute::string& v : s.line.scan(pool)) {
      same("queue", v.str(pool), model_.line[at], fmt::format("element {}", at));
      ++at;
    }
    same("string", s.text.str(pool), model_.text, "text");
  }

  std::string describe(uint64_t n, way how) const override {
    dice d = dice_of(n);
    if (how == way::idle) return "its number only";
    if (how == way::shrinking) return fmt::format("empties the {}", kind_names[d.below(kinds)]);
    const bool bulk = d.one_in(40);
    const uint64_t only = d.below(kinds);
    return bulk ? fmt::format("60 steps on the {}", kind_names[only])
                : fmt::format("{} steps on the containers", 1 + d.below(6));
  }

  // Step by step: in a pool that is full there is no room for the log of a large transaction.
  void clear(const scute::pool& pool) override {
    const scute::ptr<shelf> root(root_);
    const shelf& now = pool.get(root);
    const auto change = [&](auto&& step) {
      pool.transact([&](scute::tx& tx) {
        shelf& s = tx.open(root);
        step(in_pool{tx, s});
      });
    };
    const auto few = [](auto&& one) {
      for (int i = 0; i < 8; ++i) one();
    };
    change([](in_pool p) { p.empty(4); });
    while (!now.line.empty()) change([&](in_pool p) { few([&] { p.pop_line(); }); });
    while (!now.array.empty()) change([&](in_pool p) { few([&] { p.pop_array(); }); });
    while (!now.hash.empty())
      change([&](in_pool p) { p.cut_hash((*now.hash.scan(pool).begin()).key); });
    while (!now.ordered.empty()) {
      const std::string key = (*now.ordered.scan(pool).begin()).key.str(pool);
      change([&](in_pool p) { p.cut_ordered(key); });
    }
    for (uint64_t which = 0; which < kinds; ++which) change([&](in_pool p) { p.empty(which); });
  }

 private:
  static constexpr uint64_t kinds = 5;

  static constexpr const char* kind_names[] = {"hash_map", "ordered_map", "vector", "queue",
                                               "string"};

  template <typename Target>
  void play(uint64_t n, way how, Target target) const {
    dice d = dice_of(n);
    if (how == way::idle) return;
    if (how == way::shrinking) return target.empty(d.below(kinds));
    const bool bulk = d.one_in(40);
    const uint64_t only = d.below(kinds);
    const uint64_t count = bulk ? 60 : 1 + d.below(6);
    const uint64_t growing = (n / 1000 + only) % 2;  // thousands of insertions, then of erasures
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t which = bulk ? only : d.below(kinds), key = d.below(400), value = d.word();
      const uint64_t length = d.one_in(8) ? d.below(300) : d.below(40);
      const bool put = d.below(8) < 3 + 2 * growing;
      switch (which) {
        case 0: put ? target.put_hash(key, text(value, length)) : target.cut_hash(key); break;
        case 1: {
          const std::string word = std::string(key % 30, '.') + std::to_string(key);
          put ? target.put_ordered(word, value) : target.cut_ordered(word);
          break;
        }
        case 2:
          if (d.one_in(3))
            target.edit_array(key, {value, n});
          else
            put ? target.push_array({value, n}) : target.pop_array();
          break;
        case 3: put ? target.push_line(text(value, length)) : target.pop_line(); break;
        default:
          if (length > 200 || d.one_in(20))
            target.set_text(text(value, length));
          else
            target.add_text(text(value, length % 50));
      }
    }
    if (d.one_in(150)) target.empty(only);
  }

  [[noreturn]] void wrong(const char* container, const std::string& what) const {
    throw violation(fmt::format("{}: {}: {}.", name(), container, what));
  }
  template <typename T>
  void same(const char* container, const T& found, const T& expected,
            const std::string& what) const {
    if (found == expected) return;
    wrong(container, fmt::format("{} is {}, not {}", what, printable(found), printable(expected)));
  }
  model_shelf model_;
};

}  // namespace

std::unique_ptr<actor> make_containers_actor(uint64_t seed, unsigned index) {
  return std::make_unique<containers_actor>(seed, index);
}

}  // namespace scute_torture
