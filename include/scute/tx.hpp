// SPDX-License-Identifier: BSD-3-Clause
//
// tx.hpp: changing objects, all or nothing.
//
//   pool.transact([&](scute::tx& tx) {
//     account& from = tx.open(a);                        // a copy in DRAM of the whole object
//     auto& balance = tx.edit(b, &account::balance);     // a copy of one field only
//     from.balance -= 5;
//     balance += 5;
//   });                                                  // returns: committed; throws: undone
//
// Every reference that opens something for writing points into a micro-buffer (or, for in_place,
// into the pool) and is valid until the transaction ends. Opening again returns the same buffer.
// Use open() for small objects, edit() for small changes to large ones: it copies, verifies and
// later writes no more than the range.
//
// A transaction belongs to the thread that started it; calls from others throw errc::notx. Errors
// throw; letting the exception leave transact() aborts everything. To catch one inside and continue
// is safe only if the failed call changed nothing. That holds for the calls of tx itself but not
// for the containers' mutating ones.
#ifndef SCUTE_TX_HPP
#define SCUTE_TX_HPP

#include <scute/ownership.hpp>
#include <scute/reader.hpp>
#include <scute/type_number.hpp>

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace scute {

class tx : public reader {
 public:
  tx(const tx&) = delete;
  tx& operator=(const tx&) = delete;

  // ---- opening for writing -----------------------------------------------------------------

  /// The whole object. Verifies its checksum first and repairs it if it is damaged. Throws
  /// errc::range if it is smaller than a T.
  template <class T>
  T& open(ptr<T> p) {
    detail::require_storable<T>();
    return *as<T>(edit_bytes(p.oid(), 0, sizeof(T)));
  }

  /// The whole array.
  template <class T>
  std::span<T> open(ptr<T[]> p) {
    detail::require_storable<T>();
    const uint64_t size = size_of(p);
    return {as<T>(open_bytes(p.oid())), static_cast<size_t>(size / sizeof(T))};
  }

  /// Fetches objects that are about to be opened into the processor's caches, all at once: a hint
  /// (scute_tx_prefetch).
  template <class... Pointers>
    requires(sizeof...(Pointers) > 0)
  void will_open(Pointers... p) {
    const scute_oid oids[] = {p.oid()...};
    detail::check(scute_tx_prefetch(native_handle(), oids, sizeof...(Pointers)));
  }

  /// One field: edit(p, &T::field), or of a nested struct: edit(p, &T::outer, &Outer::field).
  template <class T, class... Members>
    requires(sizeof...(Members) > 0 && (std::is_member_object_pointer_v<Members> && ...))
  auto& edit(ptr<T> p, Members... members) {
    using F = detail::field_type<T, Members...>;
    return *as<F>(edit_bytes(p.oid(), offset_in<T>(p, members...), sizeof(F)));
  }

  /// One element of an array field: edit(p, &T::array, i). Throws errc::range beyond its end.
  template <class T, class C, class E, size_t N>
  E& edit(ptr<T> p, E (C::*array)[N], uint64_t index) {
    require_index(index, N);
    return *as<E>(edit_bytes(p.oid(), offset_in<T>(p, array) + index * sizeof(E), sizeof(E)));
  }

  /// `n` elements of an array field from `index` on. Throws errc::range beyond its end.
  template <class T, class C, class E, size_t N>
  std::span<E> edit(ptr<T> p, E (C::*array)[N], uint64_t index, uint64_t n) {
    require_elements<E>(index, n);
    require_index(index + n - 1, N);
    return {as<E>(edit_bytes(p.oid(), offset_in<T>(p, array) + index * sizeof(E), n * sizeof(E))),
            static_cast<size_t>(n)};
  }

  /// One element of an array. Throws errc::range beyond its end.
  template <class T>
  T& edit(ptr<T[]> p, uint64_t index) {
    return edit(p, index, 1).front();
  }

  /// `n` elements of an array from `index` on. Throws errc::range beyond its end.
  template <class T>
  std::span<T> edit(ptr<T[]> p, uint64_t index, uint64_t n) {
    detail::require_storable<T>();
    require_elements<T>(index, n);
    return {as<T>(edit_bytes(p.oid(), index * sizeof(T), n * sizeof(T))), static_cast<size_t>(n)};
  }

  /// The same as edit(p, index).
  template <class T>
  T& at(ptr<T[]> p, uint64_t index) {
    return edit(p, index);
  }

  /// The whole object, written where it lies: no copy, but one fence now, and other threads see
  /// the new bytes before the transaction commits. An abort or crash brings the old ones back.
  template <class T>
  T& in_place(ptr<T> p) {
    detail::require_storable<T>();
    return *as<T>(in_place_bytes(p.oid(), 0, sizeof(T)));
  }

  /// One field, written where it lies.
  template <class T, class... Members>
    requires(sizeof...(Members) > 0 && (std::is_member_object_pointer_v<Members> && ...))
  auto& in_place(ptr<T> p, Members... members) {
    using F = detail::field_type<T, Members...>;
    return *as<F>(in_place_bytes(p.oid(), offset_in<T>(p, members...), sizeof(F)));
  }

  /// `n` elements of an array from `index` on, written where they lie.
  template <class T>
  std::span<T> in_place(ptr<T[]> p, uint64_t index, uint64_t n) {
    detail::require_storable<T>();
    require_elements<T>(index, n);
    return {as<T>(in_place_bytes(p.oid(), index * sizeof(T), n * sizeof(T))),
            static_cast<size_t>(n)};
  }

  // ---- allocating and freeing --------------------------------------------------------------

  /// A new object, constructed as T(args...); T() leaves plain fields zero. It exists once the
  /// transaction commits. Throws errc::nospc if the pool is full.
  template <class T, class... Args>
    requires(!std::is_array_v<T>)
  ptr<T> make(Args&&... args) {
    detail::require_storable<T>();
    const auto [oid, bytes] = allocate(sizeof(T), type_number<T>);
    try {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // the others are zero: that is meant
      ::new (static_cast<void*>(bytes)) T(std::forward<Args>(args)...);
#pragma GCC diagnostic pop
    } catch (...) {
      scute_tx_free(tx_, oid);
      throw;
    }
    return ptr<T>(oid);
  }

  /// A new array of n >= 1 elements, each T().
  template <class T>
  ptr<T[]> make_array(uint64_t n) {
    detail::require_storable<T>();
    if (n == 0 || n > std::numeric_limits<size_t>::max() / sizeof(T)) {
      detail::throw_error(errc::range, "an array has at least one element and fits the pool");
    }
    const auto [oid, bytes] = allocate(n * sizeof(T), type_number<T[]>);
    if constexpr (!std::is_trivially_default_constructible_v<T>) {
      std::uninitialized_value_construct_n(as<T>(bytes), n);
    }
    return ptr<T[]>(oid);
  }

  /// Frees the object at commit, and what it owns (ownership.hpp). p must not be null.
  template <class T>
  void destroy(ptr<T> p) {
    if constexpr (std::is_array_v<T>) {
      using element = std::remove_extent_t<T>;
      if constexpr (ownership<element>::owns) {
        for (const element& value : get(p)) {
          ownership<element>::release(*this, value);
        }
      }
    } else if constexpr (!std::is_void_v<T>) {
      if constexpr (ownership<T>::owns) {
        ownership<T>::release(*this, get(p));
      }
    }
    free_bytes(p.oid());
  }

  // ---- untyped, for containers -------------------------------------------------------------

  /// Opens the whole object and returns its first byte.
  std::byte* open_bytes(scute_oid oid) {
    void* address = nullptr;
    detail::check(scute_tx_open(native_handle(), oid, &address));
    return static_cast<std::byte*>(address);
  }

  /// Opens [offset, offset + length) of the object and returns the range's first byte.
  std::byte* edit_bytes(scute_oid oid, uint64_t offset, uint64_t length) {
    void* address = nullptr;
    detail::check(scute_tx_add_range(native_handle(), oid, offset, length, &address));
    return static_cast<std::byte*>(address);
  }

  /// Opens the range in place.
  std::byte* in_place_bytes(scute_oid oid, uint64_t offset, uint64_t length) {
    void* address = nullptr;
    detail::check(scute_tx_inplace(native_handle(), oid, offset, length, &address));
    return static_cast<std::byte*>(address);
  }

  struct allocation {
    scute_oid oid;
    std::byte* bytes;  ///< zeroed, aligned to 32, writable until the transaction ends
  };

  /// A new object of `size` bytes.
  allocation allocate(uint64_t size, uint32_t type) {
    scute_oid oid = SCUTE_OID_NULL;
    void* address = nullptr;
    detail::check(scute_tx_alloc(native_handle(), size, type, &oid, &address));
    return {oid, static_cast<std::byte*>(address)};
  }

  /// Frees an object without looking at what it owns.
  void free_bytes(scute_oid oid) { detail::check(scute_tx_free(native_handle(), oid)); }

  /// The transaction, for the C interface. Throws errc::notx if it has ended.
  scute_tx* native_handle() const {
    if (tx_ == nullptr) [[unlikely]] {
      detail::throw_error(errc::notx, "the transaction has ended");
    }
    return tx_;
  }

 protected:
  tx(const detail::mapping* map, scute_tx* handle) noexcept : reader(map, handle) {}
  ~tx() = default;

  /// From here on every use throws errc::notx.
  void end() noexcept { detach(); }

 private:
  template <class T>
  static T* as(std::byte* bytes) noexcept {
    return static_cast<T*>(static_cast<void*>(bytes));
  }

  template <class T>
  static void require_elements(uint64_t index, uint64_t n) {
    constexpr uint64_t limit = std::numeric_limits<uint64_t>::max() / sizeof(T);
    if (n == 0 || n > limit || index > limit - n) [[unlikely]] {
      detail::throw_error(errc::range,
                          "an element range has at least one element and ends within "
                          "the array");
    }
  }
};

/// A transaction tied to a scope, for code that a lambda does not suit. Ends by commit(); without
/// it, the destructor aborts. Inside another transaction of the thread on the same pool it is a
/// level of that one: only the outermost commit makes anything durable, and an inner abort dooms
/// the whole. Levels end in the reverse order of their beginning.
class transaction : public tx {
 public:
  /// Begins. Waits while as many transactions run as the pool has lanes. Throws errc::invalid if
  /// the thread is in a transaction on another pool.
  explicit transaction(const reader& where) : tx(where.map_, begin(where.handle())) {}

  ~transaction() {
    if (tx_ != nullptr) {
      scute_tx_abort(tx_);
    }
  }

  /// Leaves this level; at the outermost makes everything durable. Throws errc::aborted if an inner
  /// level aborted, errc::canary if a write ran over a micro-buffer, errc::nospc if there is no
  /// room for the log. Then nothing has happened, and the transaction has ended in any case.
  void commit() {
    scute_tx* const handle = native_handle();
    end();
    detail::check(scute_tx_commit(handle));
  }

  /// Leaves this level and dooms the whole transaction.
  void abort() {
    scute_tx* const handle = native_handle();
    end();
    detail::check(scute_tx_abort(handle));
  }

 private:
  static scute_tx* begin(scute_pool* pool) {
    scute_tx* handle = nullptr;
    detail::check(scute_tx_begin(pool, &handle));
    return handle;
  }
};

}  // namespace scute

template <>
inline constexpr bool scute::process_bound<scute::tx> = true;

#endif
