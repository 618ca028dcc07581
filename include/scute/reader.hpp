// SPDX-License-Identifier: BSD-3-Clause
//
// reader.hpp: following persistent pointers for reading.
//
// A reader says which state is read. A scute::pool is a reader of the committed state: it computes
// direct addresses inline. A scute::tx is a reader that sees its own transaction's writes too.
// Functions that only read (all lookups and iterators of the containers) take a `const reader&`
// and so work with both. A reader is a small value; it stays valid until its pool is closed and,
// if it came from a transaction, until that ends.
//
// It holds by value what turns a pointer into an address: the pool's place and one bound. For a
// search that follows many pointers make a local reader first, r.local(). It stays in registers,
// and each object costs one comparison and one addition.
//
// References that a reader returns point into the pool or into a micro-buffer. They stay valid
// until the object is freed, the pool is closed, or the transaction ends. A reference obtained
// through a tx before an object was opened for writing keeps showing the old bytes. Any thread may
// read through a pool. Lock objects that other threads may change meanwhile, as with any shared
// memory.
#ifndef SCUTE_READER_HPP
#define SCUTE_READER_HPP

#include <scute/scute.h>
#include <scute/error.hpp>
#include <scute/ptr.hpp>
#include <scute/storable.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace scute {

class transaction;

namespace detail {

/// The state of an open pool that readers need. Lives at a fixed address while the pool is open,
/// wherever the pool object moves.
struct mapping {
  scute_pool* handle = nullptr;
  uintptr_t base = 0;  ///< address = base + oid, modulo 2^64
  uint64_t first = 0;  ///< lowest conceivable oid: the pool's tag, offset 0
  /// units: see scute_tx_reads. 0 while reading takes more than an address: then every access is
  /// found to be outside, and the library is asked. That costs the others nothing.
  mutable scute_tx_reads reads{0, 0};
  bool recovering = false;  ///< units are 0 only until recovery has finished
  uint64_t limit = 0;       ///< file size

  /// The units as they are now: they may change when recovery has finished.
  uint64_t units() const noexcept { return __atomic_load_n(&reads.units, __ATOMIC_RELAXED); }

  /// `size` bytes at this oid do not lie in the file.
  bool beyond(scute_oid oid, uint64_t size) const noexcept {
    const uint64_t offset = oid - first;
    return std::rotr(offset, 5) - 1 >= limit / 32 || size > limit - offset;
  }
};

/// Stands in for the mapping of a transaction or pool that has ended.
inline constexpr mapping no_mapping{};

/// The field that a chain of member pointers leads to. `object` is an address at which a T could
/// be; only addresses are computed from it.
template <class T, class C, class F, class... Rest>
const auto& field_at(const T& object, F C::* member, Rest... rest) noexcept {
  const F& field = static_cast<const C&>(object).*member;
  if constexpr (sizeof...(Rest) == 0) {
    return field;
  } else {
    return field_at(field, rest...);
  }
}

/// The type of the field at the end of a chain of member pointers.
template <class T, class... Members>
using field_type =
    std::remove_cvref_t<decltype(field_at(std::declval<const T&>(), std::declval<Members>()...))>;

}  // namespace detail

class reader {
 public:
  /// Reads nothing, until it is assigned to: every use throws errc::notx.
  reader() noexcept = default;

  /// The object, whole. Throws errc::oid if p is null, belongs to another pool or lies outside this
  /// one. On a pool this is one comparison and one addition, and tests neither that a live object
  /// is there nor its checksum: see pool::get_verified(). In a transaction the same, for an object
  /// that it has not opened. Under policy conservative it tests both, repairs what is damaged, and
  /// throws errc::freed or errc::corrupt.
  template <class T>
  const T& get(ptr<T> p) const {
    detail::require_storable<T>();
    return *static_cast<const T*>(static_cast<const void*>(whole(p.oid(), sizeof(T))));
  }

  /// The array, whole; its length comes from the object's header.
  template <class T>
  std::span<const T> get(ptr<T[]> p) const {
    detail::require_storable<T>();
    const uint64_t size = size_of(p);
    return {static_cast<const T*>(static_cast<const void*>(whole(p.oid(), size))),
            static_cast<size_t>(size / sizeof(T))};
  }

  /// One field: read(p, &T::field), or of a nested struct: read(p, &T::outer, &Outer::field).
  /// In a transaction that has only ranges of the object open, no more than the field is touched.
  template <class T, class... Members>
    requires(sizeof...(Members) > 0 && (std::is_member_object_pointer_v<Members> && ...))
  const auto& read(ptr<T> p, Members... members) const {
    using F = detail::field_type<T, Members...>;
    const uint64_t offset = offset_in<T>(p, members...);
    return *static_cast<const F*>(static_cast<const void*>(bytes(p.oid(), offset, sizeof(F))));
  }

  /// One element of an array. Throws errc::range beyond its end.
  template <class T>
  const T& read(ptr<T[]> p, uint64_t index) const {
    detail::require_storable<T>();
    require_index(index, size_of(p) / sizeof(T));
    return *static_cast<const T*>(
        static_cast<const void*>(bytes(p.oid(), index * sizeof(T), sizeof(T))));
  }

  /// `length` bytes of an object from `offset` on. Through a pool they are known to lie in the
  /// pool; through a tx, in the object.
  const std::byte* bytes(scute_oid oid, uint64_t offset, uint64_t length) const {
    if (tx_ != nullptr) {
      const void* address = nullptr;
      detail::check(scute_tx_get_range(tx_, oid, offset, length, &address));
      return static_cast<const std::byte*>(address);
    }
    if (length > SCUTE_DIRECT_MAX || offset > SCUTE_DIRECT_MAX - length || outside(oid))
        [[unlikely]] {
      return check_on_read(map_, reads_, tx_, oid, offset, length);
    }
    return reinterpret_cast<const std::byte*>(base_ + oid) + offset;
  }

  /// Bytes that were asked for when the object was allocated. Throws errc::oid or errc::freed.
  template <class T>
  uint64_t size_of(ptr<T> p) const {
    uint64_t size = 0;
    // Reads through a pool return committed bytes.
    const auto info = tx_ != nullptr ? &scute_object_info : &scute_committed_info;
    detail::check(info(handle(), p.oid(), &size, nullptr, nullptr));
    return size;
  }

  /// Elements of an array object.
  template <class T>
  uint64_t length(ptr<T[]> p) const {
    return size_of(p) / sizeof(T);
  }

  /// Bytes that one transaction can overwrite for certain, at present, as one range of an object.
  /// More may find no room for its log (errc::nospc): do it in parts.
  uint64_t overwrite_max() const {
    uint64_t bytes = 0;
    detail::check(scute_overwrite_max(handle(), &bytes));
    return bytes;
  }

  /// The pool that is read, for the C interface. Throws errc::notx if pool or transaction ended.
  scute_pool* handle() const {
    if (map_->handle == nullptr) [[unlikely]] {
      throw_oid(map_);
    }
    return map_->handle;
  }

  /// The same reader, for a local variable of a function that follows many pointers. Its address is
  /// not shared, so the compiler need not load it again for every pointer.
  reader local() const noexcept { return tx_ != nullptr ? *this : reader(map_); }

  /// Reads go through a transaction.
  bool in_transaction() const noexcept { return tx_ != nullptr; }

  /// Both read the same state of the same pool.
  friend bool operator==(const reader& a, const reader& b) noexcept {
    return a.map_ == b.map_ && a.tx_ == b.tx_;
  }

 protected:
  explicit reader(const detail::mapping* map, scute_tx* tx = nullptr) noexcept
      : base_(map->base),
        shift_(uint64_t{0} - 32 - map->first),
        units_(tx == nullptr ? map->units() : 0),
        map_(map),
        reads_(tx == nullptr ? &map->reads : scute_tx_reading(tx)),
        tx_(tx) {}

  /// One unsigned comparison refuses null, other pools' oids and offsets outside the file. So a
  /// damaged pointer in the pool cannot make the program read outside it. Objects begin at
  /// multiples of 32, and none at 0. Other offsets, less 32 and rotated, are larger than any file,
  /// so no reference gets an address that its type cannot have. An object so close to the end of
  /// the file that it could reach beyond is refused as well, and check_on_read() examines it. The
  /// instructions are few, and their operands stay in registers: while one search waits for memory
  /// the processor continues with the next. If the bound held by value refuses, the current bound
  /// decides. A transaction's bound changes while others hold copies of its reader, a pool's when
  /// recovery has finished.
  bool outside(scute_oid oid) const noexcept {
    const uint64_t unit = std::rotr(oid + shift_, 5);
    return unit >= units_ && unit >= __atomic_load_n(&reads_->units, __ATOMIC_RELAXED);
  }

  /// Address of `size` bytes at an oid, of which nothing is tested.
  const std::byte* address(scute_oid oid, uint64_t size) const {
    if (map_->beyond(oid, size)) [[unlikely]] {
      throw_oid(map_);
    }
    return reinterpret_cast<const std::byte*>(base_ + oid);
  }

  /// Handles an access that the inline test refused. Either it is wrong, or the transaction has
  /// changed objects, or the library checks every access to this pool, or the access is valid. The
  /// arguments are passed by value, so that the reader's own address does not escape.
  [[gnu::noinline]] static const std::byte* check_on_read(const detail::mapping* map,
                                                          const scute_tx_reads* reads, scute_tx* tx,
                                                          scute_oid oid, uint64_t offset,
                                                          uint64_t length) {
    if (length > map->limit || offset > map->limit - length || map->beyond(oid, offset + length)) {
      throw_oid(map);
    }
    const bool apart = tx != nullptr && (reads->touched & SCUTE_TOUCHED_BIT(oid)) != 0;
    if (map->units() != 0 && !apart) {
      return reinterpret_cast<const std::byte*>(map->base + oid) + offset;
    }
    const void* found = nullptr;
    if (tx != nullptr) {
      detail::check(scute_tx_get(tx, oid, &found));
      return static_cast<const std::byte*>(found);
    }
    detail::check(scute_get_committed(map->handle, oid, offset, length, &found));
    if (map->recovering) {
      uint64_t done = 0, total = 0;
      detail::check(scute_recovery_progress(map->handle, &done, &total));
      if (done == total) {
        __atomic_store_n(&map->reads.units, (map->limit - SCUTE_DIRECT_MAX) / 32, __ATOMIC_RELAXED);
      }
    }
    return static_cast<const std::byte*>(found);
  }

  const std::byte* whole(scute_oid oid, uint64_t size) const {
    if (size > SCUTE_DIRECT_MAX || outside(oid)) [[unlikely]] {
      return check_on_read(map_, reads_, tx_, oid, 0, size);
    }
    return reinterpret_cast<const std::byte*>(base_ + oid);
  }

  template <class T, class... Members>
  uint64_t offset_in(ptr<T>, Members... members) const {
    detail::require_storable<T>();
    // Any address at which a T could be will do; code that uses the offset examines the oid.
    const uintptr_t somewhere = (map_->base | 4096) & ~uintptr_t{alignof(T) - 1};
    const auto* object = reinterpret_cast<const std::byte*>(somewhere);
    const auto& field =
        detail::field_at(*static_cast<const T*>(static_cast<const void*>(object)), members...);
    return static_cast<uint64_t>(reinterpret_cast<const std::byte*>(&field) - object);
  }

  static void require_index(uint64_t index, uint64_t length) {
    if (index >= length) [[unlikely]] {
      detail::throw_error(errc::range, "index beyond the end");
    }
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void throw_oid(const detail::mapping* map) {
    if (map == &detail::no_mapping) {
      throw error(errc::notx, "the pool was closed or the transaction has ended");
    }
    throw error(errc::oid,
                "null pointer, pointer into another pool, or pointer outside this pool: was it "
                "assigned before it was stored?");
  }

  friend class transaction;

  void attach(const detail::mapping* map) noexcept { *this = reader(map); }
  /// From here on every use throws errc::notx.
  void detach() noexcept { *this = reader(); }

  uintptr_t base_ = 0;  ///< the mapping's
  uint64_t shift_ = 0;  ///< subtracted from an oid it gives the offset, less 32
  uint64_t units_ = 0;  ///< the mapping's when this was made; 0 in a transaction: reads_ has them
  const detail::mapping* map_ = &detail::no_mapping;
  const scute_tx_reads* reads_ =
      &detail::no_mapping.reads;  ///< the mapping's, or the transaction's
  scute_tx* tx_ = nullptr;
};

}  // namespace scute

template <>
inline constexpr bool scute::process_bound<scute::reader> = true;

#endif
