// SPDX-License-Identifier: BSD-3-Clause
//
// queue.hpp: first in, first out.
//
//   struct root { scute::queue<job> jobs; };
//
//   pool.transact([&](scute::tx& tx) { tx.edit(root, &root_type::jobs).push(tx, job); });
//   pool.transact([&](scute::tx& tx) {
//     auto& jobs = tx.edit(root, &root_type::jobs);
//     run(jobs.front(tx));
//     jobs.pop(tx);
//   });
//
// The queue is a 32-byte handle that lives inside an object; all zero bytes is an empty queue. It
// owns its elements and what they own (see ownership.hpp), and cannot be copied. Elements lie in a
// chain of segments of about 1 KiB; every operation is O(1) and touches at most two of them.
//
// Readers, changing members and threads: as for vector.hpp.
#ifndef SCUTE_CONTAINERS_QUEUE_HPP
#define SCUTE_CONTAINERS_QUEUE_HPP

#include <scute/containers/key.hpp>
#include <scute/containers/misuse.hpp>
#include <scute/tx.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace scute {

template <class T>
class queue {
  struct segment {
    static constexpr uint32_t scute_type = type_hash("scute.queue.segment");
    static constexpr size_t capacity =
        std::max<size_t>(1, (1024 - std::max<size_t>(8, alignof(T))) / sizeof(T));
    ptr<segment> next;
    T items[capacity];
  };

 public:
  using value_type = T;

  queue() noexcept = default;
  queue(queue&&) noexcept = default;  // moves the bytes; the source is dead
  queue& operator=(queue&&) noexcept = default;

  // ---- reading -----------------------------------------------------------------------------

  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The oldest element. Throws errc::range on an empty queue.
  const T& front(const reader& r) const {
    require_some();
    return item(r, head_, first_);
  }
  /// The newest element. Throws errc::range on an empty queue.
  const T& back(const reader& r) const {
    require_some();
    return item(r, tail_, end_ - 1U);
  }

  /// A forward iterator from the oldest element to the newest; valid until the queue changes.
  class iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using reference = const T&;
    using pointer = const T*;
    using difference_type = ptrdiff_t;

    iterator() = default;
    reference operator*() const {
      if (left_ == 0) [[unlikely]] {
        detail::throw_at_end();
      }
      return item(reader_, segment_, position_);
    }
    pointer operator->() const { return &**this; }
    iterator& operator++() {
      --left_;
      if (++position_ >= segment::capacity && left_ > 0) {
        segment_ = reader_.read(segment_, &segment::next);
        position_ = 0;
      }
      return *this;
    }
    iterator operator++(int) {
      auto before = *this;
      ++*this;
      return before;
    }
    /// Of the same queue.
    friend bool operator==(const iterator& a, const iterator& b) { return a.left_ == b.left_; }

   private:
    friend queue;
    iterator(const reader& r, ptr<segment> where, size_t position, uint64_t left)
        : reader_(r), segment_(where), position_(position), left_(left) {}

    reader reader_;
    ptr<segment> segment_;
    size_t position_ = 0;
    uint64_t left_ = 0;  // elements from here to the end
  };

  class range {
   public:
    iterator begin() const { return first_; }
    iterator end() const { return {}; }

   private:
    friend queue;
    explicit range(iterator first) : first_(first) {}
    iterator first_;
  };

  /// All elements, oldest first.
  range scan(const reader& r) const { return range(iterator(r, head_, first_, size_)); }
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

  // ---- changing ----------------------------------------------------------------------------

  /// Appends T(args...), or for scute::string a text. Returns the element, open for writing.
  template <class... Args>
  T& push(tx& t, Args&&... args) {
    if (size_ == 0 || end_ >= segment::capacity) {
      extend(t);
    }
    T& slot = t.edit(tail_, &segment::items, end_);
    detail::construct(t, &slot, std::forward<Args>(args)...);
    ++end_;
    ++size_;
    return slot;
  }

  /// Removes the oldest element and frees what it owns. Throws errc::range on an empty queue.
  void pop(tx& t) {
    require_some();
    ownership<T>::release(t, item(t, head_, first_));
    ++first_;
    --size_;
    if (size_ == 0) {
      // The last segment stays for the elements to come, so that a queue that runs empty again and
      // again does not allocate each time.
      first_ = 0;
      end_ = 0;
    } else if (first_ >= segment::capacity) {
      const ptr<segment> next = t.read(head_, &segment::next);
      t.free_bytes(head_.oid());
      head_ = next;
      first_ = 0;
    }
  }

  /// The oldest element, open for writing. Throws errc::range on an empty queue.
  T& edit_front(tx& t) {
    require_some();
    return t.edit(head_, &segment::items, first_);
  }

  /// Removes everything. O(n / elements in 1 KiB), or O(n) if elements own something.
  void clear(tx& t) {
    release(t);
    *this = queue();
  }

  /// Frees everything that the queue owns; the handle must not be used again. See ownership.hpp.
  void release(tx& t) const {
    if constexpr (ownership<T>::owns) {
      for (const T& value : scan(t)) {
        ownership<T>::release(t, value);
      }
    }
    for (ptr<segment> s = head_; s;) {
      const ptr<segment> next = t.read(s, &segment::next);
      t.free_bytes(s.oid());
      s = next;
    }
  }

 private:
  static const T& item(const reader& r, ptr<segment> where, size_t position) {
    if (position >= segment::capacity) [[unlikely]] {
      detail::throw_corrupt("scute::queue: a stored position lies beyond its segment");
    }
    return r.get(where).items[position];
  }

  void require_some() const {
    if (size_ == 0) [[unlikely]] {
      detail::throw_error(errc::range, "scute::queue: empty");
    }
  }

  /// Makes tail_ a segment with room at end_. An empty queue may still have its last segment.
  void extend(tx& t) {
    if (size_ == 0 && head_) {
      return;
    }
    const ptr<segment> fresh(t.allocate(sizeof(segment), segment::scute_type).oid);
    if (tail_) {
      t.edit(tail_, &segment::next) = fresh;
    } else {
      head_ = fresh;
    }
    tail_ = fresh;
    end_ = 0;
  }

  ptr<segment> head_;
  ptr<segment> tail_;
  uint64_t size_ = 0;
  uint32_t first_ = 0;  // position of the oldest element in head_
  uint32_t end_ = 0;    // position after the newest element in tail_
};

}  // namespace scute

#endif
