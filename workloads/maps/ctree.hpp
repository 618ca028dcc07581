// SPDX-License-Identifier: BSD-3-Clause
// A crit-bit tree: a binary trie of which only the nodes exist at which keys part.
//
// A node tests one bit of the key and has an entry for each value of that bit. An entry is either a
// key with its value, or leads to a further node; its key and value are stale then. The root holds
// the topmost entry. So n keys need n - 1 nodes, and the keys lie in the nodes.
//
//   CTREE-1  A node tests a lower bit than the node above it.
//   CTREE-2  All keys below a node agree in the bits above the one it tests.
//   CTREE-3  The keys below entries[s] have s in that bit. With CTREE-2: keys ascend from left to
//            right.
//   CTREE-4  The root is in use (used == 1) or the map is empty (0) and its entry is stale.
//
// A transaction changes: to insert, one pointer, and it makes one node; to remove, one entry or
// only its pointer, and it frees one node; to replace, one value.
//
// After D. J. Bernstein's description of crit-bit trees and A. Langley's notes on it; with entries
// inside the nodes as in the ctree of PMDK's examples, which the papers measure.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

#include "workloads/maps/trail.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
class ctree {
  static_assert(std::is_trivially_copyable_v<V>);
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using key = uint64_t;
  using value = V;

  struct node;
  struct entry {
    uint64_t key;
    ptr<node> child;
    V value;
  };
  struct node {
    uint64_t bit;
    entry entries[2];
  };
  struct root {
    entry top;
    uint64_t used;
  };

  explicit ctree(ptr<root> at) noexcept : root_(at) {}

  bool insert(tx& t, key k, const V& v) {
    const root& r = t.get(root_);
    if (r.used == 0) {
      t.open(root_) = root{entry{k, {}, v}, 1};
      return true;
    }
    trail<step, bits> way;
    const entry* e = &r.top;
    while (e->child) {
      const node& n = t.get(e->child);
      way.push({e->child, n.bit});
      e = &n.entries[side(k, n.bit)];
    }
    if (e->key == k) {
      entry_at(t, way, k).value = v;
      return false;
    }
    const uint64_t bit = bits - 1 - static_cast<unsigned>(std::countl_zero(e->key ^ k));
    while (!way.empty() && way.back().bit < bit) way.pop();
    const auto [at, fresh] = t.template make<node>();
    entry& above = entry_at(t, way, k);
    fresh.bit = bit;
    fresh.entries[side(k, bit)] = entry{k, {}, v};
    fresh.entries[1 - side(k, bit)] = above;
    above.child = at;
    return true;
  }

  bool remove(tx& t, key k) {
    const root& r = t.get(root_);
    if (r.used == 0) return false;
    ptr<node> at, above;
    unsigned from = 0, from_above = 0;
    const node* last = nullptr;
    const entry* e = &r.top;
    while (e->child) {
      above = at, from_above = from;
      at = e->child;
      last = &t.get(at);
      from = side(k, last->bit);
      e = &last->entries[from];
    }
    if (e->key != k) return false;
    if (last == nullptr) {
      t.edit(root_, &root::used) = 0;
      return true;
    }
    const entry& other = last->entries[1 - from];
    entry& to = above ? t.edit(above, &node::entries, from_above) : t.edit(root_, &root::top);
    if (other.child)
      to.child = other.child;
    else
      to = other;
    t.destroy(at);
    return true;
  }

  template <class R>
  const V* get(const R& reader, key k) const {
    const root& r = reader.get(root_);
    if (r.used == 0) return nullptr;
    const entry* e = &r.top;
    while (e->child) {
      const node& n = reader.get(e->child);
      e = &n.entries[side(k, n.bit)];
    }
    return e->key == k ? &e->value : nullptr;
  }

  template <class R, class F>
  void for_each(const R& reader, F&& f) const {
    const root& r = reader.get(root_);
    if (r.used != 0) visit(reader, r.top, f);
  }

  template <class R>
  std::string check(const R& reader) const {
    const root& r = reader.get(root_);
    if (r.used > 1) return "ctree: the root is neither in use nor empty";
    span keys{};
    return r.used == 0 ? "" : checked(reader, r.top, bits, keys);
  }

  void clear(tx& t) {
    const root& r = t.get(root_);
    if (r.used == 0) return;
    free(t, r.top);
    t.edit(root_, &root::used) = 0;
  }

 private:
  static constexpr unsigned bits = 64;

  struct step {
    ptr<node> at;
    uint64_t bit;
  };
  struct span {
    uint64_t first, last;
  };

  static unsigned side(key k, uint64_t bit) { return (k >> (bit % bits)) & 1; }

  // The entry for k in the last node of the way.
  entry& entry_at(tx& t, trail<step, bits>& way, key k) const {
    if (way.empty()) return t.edit(root_, &root::top);
    return t.edit(way.back().at, &node::entries, side(k, way.back().bit));
  }

  template <class R, class F>
  static void visit(const R& reader, const entry& e, F& f) {
    if (!e.child) {
      f(e.key, e.value);
      return;
    }
    const node& n = reader.get(e.child);
    visit(reader, n.entries[0], f);
    visit(reader, n.entries[1], f);
  }

  // `keys` becomes the lowest and the highest key below the entry. CTREE-1 ends the recursion.
  template <class R>
  static std::string checked(const R& reader, const entry& e, uint64_t bit_above, span& keys) {
    if (!e.child) {
      keys = {e.key, e.key};
      return "";
    }
    const node& n = reader.get(e.child);
    if (n.bit >= bit_above)
      return "ctree: a node tests bit " + std::to_string(n.bit) + " below one that tests bit " +
             std::to_string(bit_above);
    span low{}, high{};
    std::string wrong = checked(reader, n.entries[0], n.bit, low);
    if (wrong.empty()) wrong = checked(reader, n.entries[1], n.bit, high);
    if (!wrong.empty()) return wrong;
    // Every key between two keys that agree in their upper bits agrees with them as well.
    const std::string where = " below the node of bit " + std::to_string(n.bit) + " and keys " +
                              std::to_string(low.first) + " to " + std::to_string(high.last);
    if (((low.first ^ high.last) >> n.bit) != 1) return "ctree: keys do not agree" + where;
    if (side(low.last, n.bit) != 0 || side(high.first, n.bit) != 1 || low.last >= high.first)
      return "ctree: a key is on the wrong side" + where;
    keys = {low.first, high.last};
    return "";
  }

  static void free(tx& t, const entry& e) {
    if (!e.child) return;
    const node& n = t.get(e.child);
    free(t, n.entries[0]);
    free(t, n.entries[1]);
    t.destroy(e.child);
  }

  ptr<root> root_;
};

}  // namespace scute::workloads
