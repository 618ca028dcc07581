// SPDX-License-Identifier: BSD-3-Clause
//
// sequence.hpp: a vector and a queue that persist as they are written. Part of <scute/pow.hpp>.
#ifndef SCUTE_POW_SEQUENCE_HPP
#define SCUTE_POW_SEQUENCE_HPP

#include <scute/pow/table.hpp>

#include <map>
#include <memory>

namespace scute::pow {

/// Elements with numbers from 0; each is an object of its own. Guarded by the program's lock, as a
/// whole.
template <class T>
class vector : private detail::serializer<vector<T>> {
  using base = detail::serializer<vector<T>>;
  friend base;
  static constexpr uint32_t kind = 0x76656300;

 public:
  vector(store& s, const std::string& name)
      : base(s, name, detail::kind_of_table<T>(kind), detail::is_plain<T> ? sizeof(T) : 0, true) {
    detail::require_kept<T>();
    this->open();
  }
  ~vector() { this->close(); }
  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Throws error(errc::range) past the end.
  const T& operator[](uint64_t i) const {
    require(i);
    return *slab_.find(i);
  }
  const T& back() const { return (*this)[size_ - 1]; }
  /// It may be written until the section commits, or streams.
  T& edit(uint64_t i) {
    require(i);
    scute_pow_section* const s = this->here_or_throw();
    T& x = *slab_.find(i);
    if (this->edit_object(s, i))
      this->on_abort_of(s, i, [&] { return saved{size_, i, x}; }, put_back{});
    return x;
  }
  T& push_back(T x) {
    scute_pow_section* const s = this->here_or_throw();
    T& there = slab_.at(size_);
    this->on_abort(s, saved{size_, size_, there}, put_back{});
    this->new_object(s, size_, [&](uint64_t) { there = std::move(x); });
    ++size_;
    return there;
  }
  void pop_back() {
    require(size_ - 1);
    scute_pow_section* const s = this->here_or_throw();
    T& there = *slab_.find(size_ - 1);
    T nothing{};
    this->erase_object(s, size_ - 1);
    this->on_abort_of(s, size_ - 1, [&] { return saved{size_, size_ - 1, there}; }, put_back{});
    --size_;
    there = std::move(nothing);
  }

 private:
  struct saved {
    uint64_t size, index;
    T old;
  };
  struct put_back {
    void operator()(vector& v, saved& s) const {
      v.size_ = s.size;
      *v.slab_.find(s.index) = std::move(s.old);
    }
  };
  void require(uint64_t i) const {
    if (i >= size_) scute::detail::throw_error(errc::range, "the vector has no such element");
  }
  void write(uint64_t index, bytes_out& out) { out.put(*slab_.find(index)); }
  void copy(uint64_t index, void* to) {
    if constexpr (detail::is_plain<T>) std::memcpy(to, slab_.find(index), sizeof(T));
  }
  void found(uint64_t id, bytes_in& in) {
    const uint64_t i = detail::index_of(id);
    in.get(slab_.at(i));
    size_ = std::max(size_, i + 1);
  }
  detail::slab<T> slab_;
  uint64_t size_ = 0;
};

/// First in, first out. Guarded by the program's lock, as a whole.
template <class T>
class queue : private detail::serializer<queue<T>> {
  using base = detail::serializer<queue<T>>;
  friend base;
  static constexpr uint32_t kind = 0x71756500;

 public:
  queue(store& s, const std::string& name)
      : base(s, name, detail::queue_of<T>(kind), 0, false, true) {
    detail::require_kept<T>();
    this->open();
  }
  ~queue() { this->close(); }
  size_t size() const noexcept { return all_.size(); }
  bool empty() const noexcept { return all_.empty(); }
  /// Throws error(errc::range) if it is empty.
  const T& front() const {
    require();
    return all_.begin()->second.value;
  }
  void push(T x) {
    scute_pow_section* const s = this->here_or_throw();
    const uint64_t n = next_;
    this->on_abort(s, n, take_out{});
    const auto at = all_.try_emplace(n, node{std::move(x), 0}).first;
    try {
      this->new_object(s, SCUTE_POW_ANY, [&](uint64_t id) {
        order_.at(detail::index_of(id)) = n;
        at->second.id = id;
      });
    } catch (...) {
      all_.erase(at);
      throw;
    }
    ++next_;
  }
  /// Takes the first one out.
  T pop() {
    require();
    scute_pow_section* const s = this->here_or_throw();
    const auto at = all_.begin();
    // All memory is taken before, and none when the section aborts.
    T x = at->second.value;
    auto gone = std::make_shared<extracted>();
    this->erase_object(s, at->second.id);
    this->on_abort_of(s, at->second.id, [&] { return gone; }, bring_back{});
    *gone = all_.extract(at);
    return x;
  }

 private:
  struct node {
    T value{};
    uint64_t id = 0;
  };
  using extracted = typename std::map<uint64_t, node>::node_type;
  struct take_out {
    void operator()(queue& q, uint64_t n) const { q.all_.erase(n); }
  };
  struct bring_back {
    void operator()(queue& q, const std::shared_ptr<extracted>& gone) const {
      q.all_.insert(std::move(*gone));
    }
  };
  void require() const {
    if (all_.empty()) scute::detail::throw_error(errc::range, "the queue is empty");
  }
  void write(uint64_t index, bytes_out& out) {
    const uint64_t n = *order_.find(index);
    out.put(n);
    out.put(all_.at(n).value);
  }
  void copy(uint64_t, void*) {}
  void found(uint64_t id, bytes_in& in) {
    uint64_t n = 0;
    in.get(n);
    in.get(all_[n].value);
    all_[n].id = id;
    order_.at(detail::index_of(id)) = n;
    next_ = std::max(next_, n + 1);
  }
  std::map<uint64_t, node> all_;  // in their order
  detail::slab<uint64_t> order_;  // by index
  uint64_t next_ = 0;
};

}  // namespace scute::pow

#endif
