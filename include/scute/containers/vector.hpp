// SPDX-License-Identifier: BSD-3-Clause
//
// vector.hpp: a growing array.
//
//   struct root { scute::vector<sample> samples; };
//
//   pool.transact([&](scute::tx& tx) { tx.edit(root, &root_type::samples).push_back(tx, s); });
//   for (const sample& s : pool.get(root).samples.scan(pool)) ...
//
// The vector is a 24-byte handle that lives inside an object; all zero bytes is an empty vector.
// It owns its elements and what they own (see ownership.hpp), and cannot be copied. Elements lie
// in segments of at most 4 KiB (segments.hpp), not in one piece: growing never moves them, and a
// transaction writes only the elements that it changes.
//
// Reading members are const and take a reader: the pool on a handle read through the pool, or a tx
// on a handle that was read or opened through that tx. Changing members take the tx and are called
// on a handle that is open for writing in it. If one throws, let the transaction abort. Threads:
// any number may read while none changes the vector.
#ifndef SCUTE_CONTAINERS_VECTOR_HPP
#define SCUTE_CONTAINERS_VECTOR_HPP

#include <scute/containers/key.hpp>
#include <scute/containers/misuse.hpp>
#include <scute/containers/segments.hpp>
#include <scute/containers/vector_view.hpp>
#include <scute/tx.hpp>

#include <cstdint>
#include <utility>

namespace scute {

template <class T>
class vector {
 public:
  using value_type = T;
  using view = vector_view<T>;

  vector() noexcept = default;
  vector(vector&&) noexcept = default;  // moves the bytes; the source is dead
  vector& operator=(vector&&) noexcept = default;

  // ---- reading -----------------------------------------------------------------------------

  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// All elements, as a random-access range with operator[]. Valid until the size changes.
  view scan(const reader& r) const { return view(r, &segments_, size_); }
  /// `for (x : list)` does not compile: the elements are in the pool.
  template <class... None>
  const T* begin() const {
    detail::require_scan<None...>();
    return nullptr;
  }
  template <class... None>
  const T* end() const {
    return nullptr;
  }

  /// One element; O(log size), base 128. Throws errc::range beyond the end.
  const T& at(const reader& r, uint64_t i) const {
    require(i);
    return segments_.get(r, i);
  }
  const T& front(const reader& r) const { return at(r, 0); }
  const T& back(const reader& r) const { return at(r, size_ - 1); }

  // ---- changing ----------------------------------------------------------------------------

  /// One element, open for writing until the transaction ends. Throws errc::range beyond the end.
  T& edit(tx& t, uint64_t i) {
    require(i);
    return segments_.edit(t, i);
  }

  /// Appends T(args...), or for scute::string a text. Returns the element, open for writing.
  template <class... Args>
  T& emplace_back(tx& t, Args&&... args) {
    T* slot = segments_.grow(t, size_, size_);
    detail::construct(t, slot, std::forward<Args>(args)...);
    ++size_;
    return *slot;
  }

  /// The same for one argument.
  template <class A>
  T& push_back(tx& t, A&& value) {
    return emplace_back(t, std::forward<A>(value));
  }
  T& push_back(tx& t, const T& value)
    requires std::is_copy_constructible_v<T>
  {
    return emplace_back(t, value);
  }

  /// Replaces one element and frees what the old one owned.
  template <class A>
  void assign(tx& t, uint64_t i, A&& value) {
    detail::replace(t, edit(t, i), std::forward<A>(value));
  }

  /// Removes the last element and frees what it owns. Throws errc::range on an empty vector.
  void pop_back(tx& t) {
    ownership<T>::release(t, at(t, size_ - 1));
    --size_;
    segments_.shrunk(t, size_);
  }

  /// Removes element i by moving the last into its place: O(1), and changes the order.
  void swap_remove(tx& t, uint64_t i) {
    require(i);
    ownership<T>::release(t, at(t, i));
    if (i != size_ - 1) {
      detail::relocate(&edit(t, i), &at(t, size_ - 1), 1);
    }
    --size_;
    segments_.shrunk(t, size_);
  }

  /// Makes the vector n elements long; new ones are T(). O(change).
  void resize(tx& t, uint64_t n) {
    while (size_ < n) {
      emplace_back(t);
    }
    if (n < size_) {
      if constexpr (ownership<T>::owns) {
        for (uint64_t i = n; i < size_; ++i) {
          ownership<T>::release(t, at(t, i));
        }
      }
      size_ = n;
      segments_.truncate(t, n);
    }
  }

  /// Allocates the segments for n elements, so that appending up to there needs no more space.
  /// Removing elements gives up what was reserved.
  void reserve(tx& t, uint64_t n) {
    constexpr uint64_t step = segments::per_segment;
    for (uint64_t end = (size_ / step + 1) * step; end < n; end += step) {
      segments_.ensure(t, size_, end - 1);
    }
    if (n > size_) {
      segments_.ensure(t, size_, n - 1);
    }
  }

  /// Removes everything. O(size / 4 KiB), or O(size) if elements own something.
  void clear(tx& t) {
    release(t);
    *this = vector();
  }

  /// Frees everything that the vector owns; the handle must not be used again. See ownership.hpp.
  void release(tx& t) const {
    if constexpr (ownership<T>::owns) {
      for (uint64_t i = 0; i < size_; ++i) {
        ownership<T>::release(t, at(t, i));
      }
    }
    segments_.release(t);
  }

 private:
  using segments = detail::segments<T>;

  void require(uint64_t i) const {
    if (i >= size_) [[unlikely]] {
      detail::throw_error(errc::range, "scute::vector: index beyond the end");
    }
  }

  segments segments_;
  uint64_t size_ = 0;
};

}  // namespace scute

#endif
