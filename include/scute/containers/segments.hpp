// SPDX-License-Identifier: BSD-3-Clause
//
// segments.hpp: a growing array in pieces of at most 4 KiB, under vector and hash_map. Internal.
//
// A radix tree: segments of 2^k elements at the bottom, directories of 128 pointers above them.
// Growth never copies elements, except that the first segment starts small and doubles up to its
// full size. So no transaction copies more than 4 KiB. Reaching an element takes one step per
// level: 2 MiB of elements need one directory level per factor of 128.
//
// The array does not know how many elements are in use: its owner does. Stored values are not
// trusted: an index beyond the capacity of this height, or beyond the first segment's object,
// throws.
#ifndef SCUTE_CONTAINERS_SEGMENTS_HPP
#define SCUTE_CONTAINERS_SEGMENTS_HPP

#include <scute/containers/key.hpp>
#include <scute/tx.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace scute::detail {

template <class T>
class segments {
 public:
  static constexpr size_t segment_size_max = 4096;
  /// Elements of a full segment; a power of two. An element above 4 KiB is a segment by itself.
  static constexpr uint64_t per_segment =
      std::bit_floor(std::max<size_t>(1, segment_size_max / sizeof(T)));

  segments() noexcept = default;
  segments(segments&&) noexcept = default;
  segments& operator=(segments&&) noexcept = default;

  /// The elements from `index` to the end of its segment. Throws errc::corrupt if there is no such
  /// element.
  std::span<const T> run(const reader& r, uint64_t index) const {
    const uint64_t in = index % per_segment;
    const uint64_t n = length_of(r, index) - in;
    const std::byte* bytes = r.bytes(find(r, index), in * sizeof(T), n * sizeof(T));
    return {reinterpret_cast<const T*>(bytes), static_cast<size_t>(n)};
  }

  /// One element. Throws as run() does.
  const T& get(const reader& r, uint64_t index) const {
    const uint64_t in = index % per_segment;
    length_of(r, index);
    return *reinterpret_cast<const T*>(r.bytes(find(r, index), in * sizeof(T), sizeof(T)));
  }

  /// One element, open for writing.
  T& edit(tx& t, uint64_t index) const {
    length_of(t, index);
    return *element(t, find(t, index), index);
  }

  /// Makes room for element `index` while the first `used` elements are in use, and opens it for
  /// writing; its bytes are garbage.
  T* grow(tx& t, uint64_t used, uint64_t index) {
    return element(t, ensure(t, used, index), index);
  }

  /// The same without opening it. Returns the segment.
  scute_oid ensure(tx& t, uint64_t used, uint64_t index) {
    if (height_ == 0) {
      const uint64_t length = std::max(smallest, std::bit_ceil(index % per_segment + 1));
      first_length_ = static_cast<uint32_t>(std::min(per_segment, length));
      root_ = allocate_segment(t, first_length_);
      height_ = 1;
    }
    if (height_ == 1 && index >= first_length_ && first_length_ < per_segment) {
      enlarge_first(t, used, index + 1);
    }
    while (index >= capacity(height())) {
      const tx::allocation top = t.allocate(sizeof(directory), directory::scute_type);
      reinterpret_cast<directory*>(top.bytes)->children[0] = root_;
      root_ = top.oid;
      ++height_;
    }
    scute_oid node = root_;
    for (uint32_t level = height_ - 1; level > 0; --level) {
      const ptr<directory> above(node);
      const size_t child = child_at(level, index);
      node = t.get(above).children[child];
      if (node == SCUTE_OID_NULL) {
        node = level > 1 ? t.allocate(sizeof(directory), directory::scute_type).oid
                         : allocate_segment(t, per_segment);
        t.edit(above, &directory::children, child) = node;
      }
    }
    return node;
  }

  /// The owner has shrunk to `size` elements one by one. An empty segment at the end is kept until
  /// the one before it is half empty. So growing and shrinking at a boundary costs nothing.
  void shrunk(tx& t, uint64_t size) {
    if (size == 0) {
      truncate(t, 0);
    } else if (height_ > 1 && size % per_segment == per_segment / 2) {
      truncate(t, size);
    }
  }

  /// Frees all segments that lie wholly beyond `size` elements.
  void truncate(tx& t, uint64_t size) {
    const uint64_t keep = size / per_segment + (size % per_segment != 0 ? 1 : 0);
    if (height() > 0 && prune(t, root_, height_ - 1, keep)) {
      *this = segments();
    }
  }

  /// Frees everything; the handle must not be used again.
  void release(tx& t) const {
    if (height() > 0) {
      prune(t, root_, height_ - 1, 0);
    }
  }

 private:
  static constexpr uint64_t fanout = 128;
  static constexpr uint32_t height_max = 8;  // 128^7 segments: more than any pool holds
  static constexpr uint64_t smallest = std::max<size_t>(1, 64 / sizeof(T));
  static constexpr uint32_t segment_type = type_hash("scute.segment");

  struct directory {
    static constexpr uint32_t scute_type = type_hash("scute.segments");
    scute_oid children[fanout];  // null: nothing there yet
  };

  uint32_t height() const {
    if (height_ > height_max) [[unlikely]] {
      throw_corrupt("scute: an array's directory is too high to be true");
    }
    return height_;
  }

  static constexpr uint64_t capacity(uint32_t height) noexcept {
    uint64_t n = per_segment;
    for (; height > 1; --height) {
      n *= fanout;
    }
    return n;
  }

  static constexpr size_t child_at(uint32_t level, uint64_t index) noexcept {
    return static_cast<size_t>(index / capacity(level) % fanout);
  }

  /// Elements of the segment that holds `index`, which must be one of them.
  uint64_t length_of(const reader& r, uint64_t index) const {
    uint64_t length = per_segment;
    if (height() == 1) {
      // A transaction checks ranges by itself; for the pool, the object's own size decides.
      const bool ours =
          r.in_transaction() || r.size_of(ptr<T[]>(root_)) >= first_length_ * sizeof(T);
      length = ours ? std::min<uint64_t>(first_length_, per_segment) : 0;
    }
    if (height_ == 0 || index >= (height_ == 1 ? length : capacity(height_))) [[unlikely]] {
      throw_corrupt("scute: an array's stored size exceeds its segments");
    }
    return length;
  }

  scute_oid find(const reader& r, uint64_t index) const {
    scute_oid node = root_;
    for (uint32_t level = height_ - 1; level > 0; --level) {
      node = r.get(ptr<directory>(node)).children[child_at(level, index)];
    }
    return node;
  }

  static T* element(tx& t, scute_oid segment, uint64_t index) {
    const uint64_t in = index % per_segment;
    return reinterpret_cast<T*>(t.edit_bytes(segment, in * sizeof(T), sizeof(T)));
  }

  static scute_oid allocate_segment(tx& t, uint64_t length) {
    return t.allocate(length * sizeof(T), segment_type).oid;
  }

  void enlarge_first(tx& t, uint64_t used, uint64_t wanted) {
    const uint64_t length = wanted >= per_segment
                                ? per_segment
                                : std::max<uint64_t>(first_length_ * 2ULL, std::bit_ceil(wanted));
    const tx::allocation larger = t.allocate(length * sizeof(T), segment_type);
    if (used != 0) {
      std::memcpy(larger.bytes, t.bytes(root_, 0, used * sizeof(T)), used * sizeof(T));
    }
    t.free_bytes(root_);
    root_ = larger.oid;
    first_length_ = static_cast<uint32_t>(length);
  }

  /// Frees the segments from number `keep` on below a node, and the node if nothing is left of it.
  static bool prune(tx& t, scute_oid node, uint32_t level, uint64_t keep) {
    if (level == 0) {
      if (keep == 0) {
        t.free_bytes(node);
      }
      return keep == 0;
    }
    const uint64_t below = capacity(level) / per_segment;  // segments under one child
    const ptr<directory> self(node);
    const directory& all = t.get(self);  // an edit below leaves the children still to come alone
    for (size_t i = static_cast<size_t>(std::min(keep / below, fanout)); i < fanout; ++i) {
      const scute_oid child = all.children[i];
      const uint64_t before = i * below;
      if (child != SCUTE_OID_NULL &&
          prune(t, child, level - 1, keep > before ? keep - before : 0) && keep != 0) {
        t.edit(self, &directory::children, i) = SCUTE_OID_NULL;
      }
    }
    if (keep == 0) {
      t.free_bytes(node);
    }
    return keep == 0;
  }

  scute_oid root_ = SCUTE_OID_NULL;  // height 1: the first segment; above: a directory
  uint32_t height_ = 0;              // levels, segments included
  uint32_t first_length_ = 0;        // elements of the first segment while it is the only one
};

}  // namespace scute::detail

#endif
