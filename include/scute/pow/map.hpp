// SPDX-License-Identifier: BSD-3-Clause
//
// map.hpp: std::map and std::unordered_map that persist as they are written. Part of
// <scute/pow.hpp>.
#ifndef SCUTE_POW_MAP_HPP
#define SCUTE_POW_MAP_HPP

#include <scute/pow/table.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace scute::pow {

namespace detail {

template <class K, class V>
struct map_node {
  V value{};
  uint64_t id = 0;
};

/// A map over Container<K, map_node>. Its objects are the entries. Guarded by the program's lock,
/// as a whole.
template <class Container, class K, class V>
class basic_map : private serializer<basic_map<Container, K, V>> {
  using base = serializer<basic_map>;
  friend base;
  using inner = typename Container::const_iterator;
  static constexpr uint32_t kind = 0x6d617000;

 public:
  /// Goes over keys and const values. Valid until its entry is erased, or the section that made it
  /// aborts.
  class iterator {
   public:
    using value_type = std::pair<const K&, const V&>;
    using difference_type = ptrdiff_t;
    iterator() = default;
    explicit iterator(inner at) : at_(at) {}
    value_type operator*() const { return {at_->first, at_->second.value}; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) { return iterator(at_++); }
    bool operator==(const iterator&) const = default;

   private:
    inner at_{};
  };

  basic_map(store& s, const std::string& name) : base(s, name, map_of<K, V>(kind), 0, false, true) {
    require_writable<K>();
    require_kept<V>();
    this->open();
  }
  ~basic_map() { this->close(); }

  size_t size() const noexcept { return all_.size(); }
  bool empty() const noexcept { return all_.empty(); }
  iterator begin() const { return iterator(all_.begin()); }
  iterator end() const { return iterator(all_.end()); }
  iterator find(const K& key) const { return iterator(all_.find(key)); }
  iterator lower_bound(const K& key) const
    requires requires(const Container& c) { c.lower_bound(key); }
  {
    return iterator(all_.lower_bound(key));
  }
  bool contains(const K& key) const { return all_.find(key) != all_.end(); }
  /// Throws error(errc::noent) if there is none.
  const V& at(const K& key) const {
    const auto there = all_.find(key);
    if (there == all_.end())
      scute::detail::throw_error(errc::noent, "the map has no entry with this key");
    return there->second.value;
  }

  /// The value of that key, which may be written until the section commits, or streams; made if
  /// there is none. Throws error: errc::notx (no section), errc::conflict (another open section
  /// edits it).
  V& edit(const K& key) {
    scute_pow_section* const s = this->here_or_throw();
    const auto there = all_.find(key);
    if (there == all_.end()) return add(s, key);
    node& n = there->second;
    if (this->edit_object(s, n.id))
      this->on_abort_of(s, n.id, [&] { return saved{key, n}; }, put_back{});
    return n.value;
  }
  V& insert_or_assign(const K& key, V value) {
    V& there = edit(key);
    there = std::move(value);
    return there;
  }
  /// False if there is none.
  bool erase(const K& key) {
    scute_pow_section* const s = this->here_or_throw();
    const auto there = all_.find(key);
    if (there == all_.end()) return false;
    // All memory is taken before, and none when the section aborts.
    auto gone = std::make_shared<typename Container::node_type>();
    // If another section edits it, nothing of it may be restored.
    this->erase_object(s, there->second.id);
    this->on_abort_of(s, there->second.id, [&] { return gone; }, bring_back{});
    slab_.at(index_of(there->second.id)) = nullptr;
    *gone = all_.extract(there);
    return true;
  }
  void clear() {
    while (!all_.empty()) erase(K(all_.begin()->first));
  }

 private:
  using node = map_node<K, V>;
  using entry = typename Container::value_type;
  struct saved {
    K key;
    std::optional<node> old;
  };
  struct put_back {
    void operator()(basic_map& m, saved& s) const {
      const auto there = m.all_.find(s.key);
      if (!s.old) {
        if (there != m.all_.end()) {
          m.slab_.at(index_of(there->second.id)) = nullptr;
          m.all_.erase(there);
        }
        return;
      }
      // Entries erased after the edit have been restored by now.
      there->second = std::move(*s.old);
      m.slab_.at(index_of(there->second.id)) = &*there;
    }
  };
  struct bring_back {
    void operator()(basic_map& m, std::shared_ptr<typename Container::node_type>& gone) const {
      const auto at = m.all_.insert(std::move(*gone)).position;
      m.slab_.at(index_of(at->second.id)) = &*at;
    }
  };

  V& add(scute_pow_section* s, const K& key) {
    this->on_abort(s, saved{key, std::nullopt}, put_back{});
    const auto at = all_.try_emplace(key).first;
    try {
      this->new_object(s, SCUTE_POW_ANY, [&](uint64_t id) {
        slab_.at(index_of(id)) = &*at;
        at->second.id = id;
      });
    } catch (...) {
      all_.erase(at);
      throw;
    }
    return at->second.value;
  }
  void write(uint64_t index, bytes_out& out) {
    const entry& e = **slab_.find(index);
    out.put(e.first);
    out.put(e.second.value);
  }
  void copy(uint64_t, void*) {}
  void found(uint64_t id, bytes_in& in) {
    K key{};
    in.get(key);
    const auto at = all_.try_emplace(std::move(key)).first;
    in.get(at->second.value);
    at->second.id = id;
    slab_.at(index_of(id)) = &*at;
  }

  Container all_;
  slab<entry*> slab_;  // by index
};

}  // namespace detail

/// A std::map. Lookups and iteration are plain reads of DRAM, const; edit(), insert_or_assign() and
/// erase() write.
template <class K, class V, class Less = std::less<K>>
class map : public detail::basic_map<std::map<K, detail::map_node<K, V>, Less>, K, V> {
 public:
  using detail::basic_map<std::map<K, detail::map_node<K, V>, Less>, K, V>::basic_map;
};

/// A std::unordered_map, likewise.
template <class K, class V, class Hash = std::hash<K>>
class unordered_map
    : public detail::basic_map<std::unordered_map<K, detail::map_node<K, V>, Hash>, K, V> {
 public:
  using detail::basic_map<std::unordered_map<K, detail::map_node<K, V>, Hash>, K, V>::basic_map;
};

}  // namespace scute::pow

#endif
