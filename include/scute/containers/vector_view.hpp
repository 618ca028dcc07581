// SPDX-License-Identifier: BSD-3-Clause
//
// vector_view.hpp: the elements of a vector as a range.
#ifndef SCUTE_CONTAINERS_VECTOR_VIEW_HPP
#define SCUTE_CONTAINERS_VECTOR_VIEW_HPP

#include <scute/containers/segments.hpp>
#include <scute/reader.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace scute {

/// A random-access range over a vector, made by vector::scan(). Refers to the vector's handle and
/// remembers its reader; valid until the vector's size changes.
template <class T>
class vector_view {
 public:
  /// Keeps the segment that it stands in, so that a step within it costs nothing.
  class iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using reference = const T&;
    using pointer = const T*;
    using difference_type = ptrdiff_t;

    iterator() = default;

    reference operator*() const {
      const uint64_t in = index_ - first_;
      if (in >= run_.size()) {  // also when index_ < first_
        return step_in();
      }
      return run_[static_cast<size_t>(in)];
    }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type n) const { return *(*this + n); }

    iterator& operator+=(difference_type n) {
      index_ += static_cast<uint64_t>(n);
      return *this;
    }
    iterator& operator-=(difference_type n) { return *this += -n; }
    iterator& operator++() { return *this += 1; }
    iterator& operator--() { return *this += -1; }
    iterator operator++(int) {
      auto before = *this;
      ++*this;
      return before;
    }
    iterator operator--(int) {
      auto before = *this;
      --*this;
      return before;
    }
    friend iterator operator+(iterator it, difference_type n) { return it += n; }
    friend iterator operator+(difference_type n, iterator it) { return it += n; }
    friend iterator operator-(iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const iterator& a, const iterator& b) {
      return static_cast<difference_type>(a.index_ - b.index_);
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.index_ == b.index_; }
    friend auto operator<=>(const iterator& a, const iterator& b) { return a.index_ <=> b.index_; }

   private:
    friend class vector_view;
    iterator(const reader& r, const detail::segments<T>* segments, uint64_t size, uint64_t index)
        : reader_(r), segments_(segments), size_(size), index_(index) {}

    reference step_in() const {
      if (index_ >= size_) [[unlikely]] {
        detail::throw_at_end();
      }
      first_ = index_ - index_ % detail::segments<T>::per_segment;
      const std::span<const T> run = segments_->run(reader_, first_);
      if (index_ - first_ >= run.size()) [[unlikely]] {
        detail::throw_corrupt("scute: an array's stored size exceeds its segments");
      }
      run_ = run.first(static_cast<size_t>(std::min<uint64_t>(run.size(), size_ - first_)));
      return run_[static_cast<size_t>(index_ - first_)];
    }

    reader reader_;
    const detail::segments<T>* segments_ = nullptr;
    uint64_t size_ = 0;
    uint64_t index_ = 0;
    mutable uint64_t first_ = 0;  // index of run_[0]
    mutable std::span<const T> run_;
  };

  vector_view(const reader& r, const detail::segments<T>* segments, uint64_t size)
      : reader_(r), segments_(segments), size_(size) {}

  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// i must be less than size(); throws errc::range otherwise.
  const T& operator[](uint64_t i) const {
    if (i >= size_) [[unlikely]] {
      detail::throw_error(errc::range, "scute::vector: index beyond the end");
    }
    return segments_->get(reader_, i);
  }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size_ - 1]; }

  /// Following end(), or an iterator beyond it, throws errc::range.
  iterator begin() const { return iterator(reader_, segments_, size_, 0); }
  iterator end() const { return iterator(reader_, segments_, size_, size_); }

 private:
  reader reader_;
  const detail::segments<T>* segments_;
  uint64_t size_;
};

}  // namespace scute

#endif
