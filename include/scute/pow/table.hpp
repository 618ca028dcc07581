// SPDX-License-Identifier: BSD-3-Clause
//
// table.hpp: objects that refer to each other by ref<T>: lists, trees, graphs. Part of
// <scute/pow.hpp>.
#ifndef SCUTE_POW_TABLE_HPP
#define SCUTE_POW_TABLE_HPP

#include <scute/pow/serializer.hpp>

#include <atomic>
#include <bit>
#include <functional>
#include <mutex>

namespace scute::pow {

/// Names an object of a table<T>, for ever: 8 bytes that may be stored in objects. When its object
/// is erased no other one gets the same ref. A null one names nothing.
template <class T>
struct ref {
  uint64_t id = 0;

  explicit operator bool() const noexcept { return id != 0; }
  bool operator==(const ref&) const = default;
};

namespace detail {

/// Places that never move; chunk c has 64 << c of them. New chunks may come while others read.
template <class T>
class slab {
 public:
  ~slab() {
    for (auto& c : chunks_) delete[] c.load(std::memory_order_relaxed);
  }
  T* find(uint64_t i) const noexcept {
    const unsigned c = chunk_of(i);
    T* const chunk = c < count ? chunks_[c].load(std::memory_order_acquire) : nullptr;
    return chunk == nullptr ? nullptr : chunk + (i + 64 - (uint64_t{64} << c));
  }
  T& at(uint64_t i) {
    const unsigned c = chunk_of(i);
    if (c >= count) throw std::bad_alloc();
    T* chunk = chunks_[c].load(std::memory_order_acquire);
    if (chunk == nullptr) {
      const std::lock_guard guard(lock_);
      chunk = chunks_[c].load(std::memory_order_acquire);
      if (chunk == nullptr) {
        chunk = new T[uint64_t{64} << c]();
        chunks_[c].store(chunk, std::memory_order_release);
      }
    }
    return chunk[i + 64 - (uint64_t{64} << c)];
  }

 private:
  static constexpr unsigned count = 40;
  static unsigned chunk_of(uint64_t i) noexcept {
    return static_cast<unsigned>(std::bit_width((i + 64) / 64)) - 1;
  }
  std::atomic<T*> chunks_[count]{};
  std::mutex lock_;
};

}  // namespace detail

/// Objects of one type, in DRAM, at addresses that do not change while the store is open. Reading
/// is a plain read, under the program's locks. The references from edit() and make() may be written
/// until the section commits, or streams.
template <class T>
class table : private detail::serializer<table<T>> {
  using base = detail::serializer<table<T>>;
  friend base;

 public:
  /// Opens the table of that name, or makes it. Throws error: errc::type (it has other objects),
  /// errc::busy.
  table(store& s, const std::string& name)
      : base(s, name, detail::table_of<T>, detail::is_plain<T> ? sizeof(T) : 0, false) {
    detail::require_kept<T>();
    this->open();
  }
  ~table() { this->close(); }

  /// Throws error(errc::freed): it was erased. errc::oid: the ref is null.
  const T& get(ref<T> r) const {
    const place* const p = slab_.find(detail::index_of(r.id));
    if (p == nullptr || p->id != r.id || r.id == 0) [[unlikely]]
      refuse(r);
    return p->value;
  }
  const T* find(ref<T> r) const noexcept {
    const place* const p = slab_.find(detail::index_of(r.id));
    return p == nullptr || p->id != r.id || r.id == 0 ? nullptr : &p->value;
  }
  const T& operator[](ref<T> r) const { return get(r); }

  /// Throws error: errc::notx (no section), errc::freed, errc::conflict (another open section edits
  /// it).
  T& edit(ref<T> r) {
    static_cast<void>(get(r));
    scute_pow_section* const s = this->here_or_throw();
    place& p = *slab_.find(detail::index_of(r.id));
    if (this->edit_object(s, r.id)) save_of(s, r.id, p);
    return p.value;
  }
  /// A new one, from these arguments.
  template <class... Args>
  ref<T> make(Args&&... args) {
    scute_pow_section* const s = this->here_or_throw();
    T value{std::forward<Args>(args)...};
    return {this->new_object(s, SCUTE_POW_ANY, [&](uint64_t id) {
      place& p = slab_.at(detail::index_of(id));
      this->on_abort(s, saved{&p, p}, put_back{});
      p.value = std::move(value);
      p.id = id;
      count_.fetch_add(1, std::memory_order_relaxed);
    })};
  }
  void erase(ref<T> r) {
    static_cast<void>(get(r));
    scute_pow_section* const s = this->here_or_throw();
    place& p = *slab_.find(detail::index_of(r.id));
    T nothing{};
    this->erase_object(s, r.id);
    save_of(s, r.id, p);
    p.id = 0;
    count_.fetch_sub(1, std::memory_order_relaxed);
    p.value = std::move(nothing);
  }
  uint64_t size() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Calls fn(ref, object) for each object, in an unspecified order. No thread may change the table
  /// meanwhile.
  template <class Fn>
  void for_each(Fn&& fn) const {
    for (uint64_t i = 0, left = size(); left != 0; ++i) {
      const place* const p = slab_.find(i);
      if (p == nullptr || p->id == 0) continue;
      fn(ref<T>{p->id}, std::as_const(p->value));
      --left;
    }
  }

 private:
  struct place {
    uint64_t id = 0;  // 0: nothing
    T value{};
  };
  struct saved {
    place* where;
    place old;
  };
  struct put_back {
    void operator()(table& t, saved& s) const {
      t.count_.fetch_add(static_cast<uint64_t>(s.old.id != 0) - (s.where->id != 0),
                         std::memory_order_relaxed);
      *s.where = std::move(s.old);
    }
  };
  void save_of(scute_pow_section* s, uint64_t id, place& p) {
    this->on_abort_of(s, id, [&] { return saved{&p, p}; }, put_back{});
  }

  [[noreturn]] static void refuse(ref<T> r) {
    if (r.id == 0) scute::detail::throw_error(errc::oid, "the ref is null");
    scute::detail::throw_error(errc::freed, "the object was erased, or never made in this table");
  }
  void write(uint64_t index, bytes_out& out) { out.put(slab_.find(index)->value); }
  void copy(uint64_t index, void* to) {
    if constexpr (detail::is_plain<T>) std::memcpy(to, &slab_.find(index)->value, sizeof(T));
  }
  void found(uint64_t id, bytes_in& in) {
    place& p = slab_.at(detail::index_of(id));
    in.get(p.value);
    p.id = id;
    count_.fetch_add(1, std::memory_order_relaxed);
  }

  detail::slab<place> slab_;
  std::atomic<uint64_t> count_{0};
};

/// A single object.
template <class T>
class value : private detail::serializer<value<T>> {
  using base = detail::serializer<value<T>>;
  friend base;
  static constexpr uint32_t kind = 0x76616c00;

 public:
  /// initial: what it is until it is edited first.
  value(store& s, const std::string& name, T initial = T{})
      : base(s, name, detail::kind_of_table<T>(kind), detail::is_plain<T> ? sizeof(T) : 0, true),
        value_(std::move(initial)) {
    detail::require_kept<T>();
    this->open();
  }
  ~value() { this->close(); }
  const T& get() const noexcept { return value_; }
  const T& operator*() const noexcept { return value_; }
  const T* operator->() const noexcept { return &value_; }
  T& edit() {
    scute_pow_section* const s = this->here_or_throw();
    if (!there_)
      static_cast<void>(this->new_object(s, 0));
    else if (!this->edit_object(s, 0))
      return value_;
    this->on_abort_of(s, 0, [&] { return saved{there_, value_}; }, put_back{});
    there_ = true;
    return value_;
  }

 private:
  struct saved {
    bool there;
    T old;
  };
  struct put_back {
    void operator()(value& v, saved& s) const {
      v.there_ = s.there;
      v.value_ = std::move(s.old);
    }
  };
  void write(uint64_t, bytes_out& out) { out.put(value_); }
  void copy(uint64_t, void* to) {
    if constexpr (detail::is_plain<T>) std::memcpy(to, &value_, sizeof(T));
  }
  void found(uint64_t, bytes_in& in) {
    in.get(value_);
    there_ = true;
  }
  T value_;
  bool there_ = false;
};

}  // namespace scute::pow

#endif
