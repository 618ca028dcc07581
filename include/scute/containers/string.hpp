// SPDX-License-Identifier: BSD-3-Clause
//
// string.hpp: text (or any bytes) inside persistent objects.
//
// A scute::string is 24 bytes and fits into any object. It holds up to 20 bytes of text itself.
// Longer text is an object of its own. The handle keeps its first 12 bytes, so that most
// comparisons need not follow the pointer:
//
//   offset 0: size (4 bytes)   4: the text (20 bytes)                      size <= 20
//                              4: first 12 bytes of the text   16: oid     size >  20
//
// All zero bytes is the empty string. The string owns its object: it cannot be copied (assign() the
// view of one to the other). Call release() before discarding it; tx.destroy() and the containers
// do so.
//
//   struct person { scute::string name; };
//   pool.transact([&](scute::tx& tx) { tx.open(p).name.assign(tx, "Ada"); });
//   std::string_view name = pool.get(p).name.view(pool);
//
// Changing members are called on a handle that is open for writing in the transaction.
#ifndef SCUTE_CONTAINERS_STRING_HPP
#define SCUTE_CONTAINERS_STRING_HPP

#include <scute/containers/misuse.hpp>
#include <scute/tx.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace scute {

class alignas(8) string {
 public:
  static constexpr size_t inline_max = 20;  ///< bytes that need no object of their own
  static constexpr size_t size_max = std::numeric_limits<uint32_t>::max() / 2;

  string() noexcept = default;
  string(string&&) noexcept = default;  // moves the bytes: the source must not be used again
  string& operator=(string&&) noexcept = default;
  /// Does not compile: a text takes memory of the pool.
  template <class Text>
    requires std::convertible_to<const Text&, std::string_view>
  string& operator=(const Text&) {
    static_assert(
        detail::never<Text>,
        "scute: a text takes memory of the pool: write name.assign(tx, text), on a string "
        "that is open in the transaction");
    return *this;
  }

  /// A string with that text, to initialise a field with: tx.make<person>(string::make(tx, "Ada")).
  static string make(tx& t, std::string_view text) {
    string made;
    made.assign(t, text);
    return made;
  }

  // ---- reading -----------------------------------------------------------------------------

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The text. Valid while the handle stays where it is and the string is not changed. Throws
  /// errc::corrupt if the stored size does not fit the stored object.
  std::string_view view(const reader& r) const {
    return {size_ <= inline_max ? text_.data() : remote(r), size_};
  }

  /// A copy of the text.
  std::string str(const reader& r) const { return std::string(view(r)); }

  /// Negative, 0 or positive, as std::string_view::compare: by bytes, shorter first.
  int compare(const reader& r, std::string_view other) const {
    if (size_ > inline_max) {
      const int order = std::memcmp(text_.data(), other.data(), std::min(prefix, other.size()));
      if (order != 0) {
        return order;
      }
      if (other.size() <= prefix) {
        return 1;  // `other` is a proper beginning of this text
      }
    }
    return view(r).compare(other);
  }

  bool equals(const reader& r, std::string_view other) const {
    return size_ == other.size() && compare(r, other) == 0;
  }

  // ---- changing ----------------------------------------------------------------------------

  /// Replaces the text. Writes into the present object if the text fits it well, else into a new
  /// one. `text` may be (part of) this string's own view. Throws errc::range beyond size_max.
  void assign(tx& t, std::string_view text) {
    require_size(text.size());
    const scute_oid old = remote_oid();
    if (text.size() <= inline_max) {
      std::memmove(text_.data(), text.data(), text.size());
      size_ = static_cast<uint32_t>(text.size());
      if (old != SCUTE_OID_NULL) {
        t.free_bytes(old);
      }
      return;
    }
    if (old != SCUTE_OID_NULL && reusable(text.size())) {
      std::memmove(t.edit_bytes(old, 0, text.size()), text.data(), text.size());
      point_at(old, text.substr(0, prefix), text.size());
      return;
    }
    const tx::allocation fresh = t.allocate(capacity_for(text.size()), type);
    std::memcpy(fresh.bytes, text.data(), text.size());
    point_at(fresh.oid, text.substr(0, prefix), text.size());
    if (old != SCUTE_OID_NULL) {
      t.free_bytes(old);
    }
  }

  /// Adds to the end. Amortised O(text.size()): objects grow by a quarter. `text` may be (part of)
  /// this string's own view.
  void append(tx& t, std::string_view text) {
    require_size(text.size());
    const size_t total = size_ + text.size();
    require_size(total);
    if (text.empty()) {
      return;
    }
    if (total <= inline_max) {
      std::memmove(text_.data() + size_, text.data(), text.size());
      size_ = static_cast<uint32_t>(total);
      return;
    }
    const scute_oid old = remote_oid();
    if (old != SCUTE_OID_NULL && capacity_for(total) == capacity_for(size_)) {
      std::memmove(t.edit_bytes(old, size_, text.size()), text.data(), text.size());
      size_ = static_cast<uint32_t>(total);
      return;
    }
    const std::string_view head = view(t);
    const tx::allocation fresh = t.allocate(capacity_for(total), type);
    std::memcpy(fresh.bytes, head.data(), head.size());
    std::memcpy(fresh.bytes + head.size(), text.data(), text.size());
    point_at(fresh.oid, {reinterpret_cast<const char*>(fresh.bytes), prefix}, total);
    if (old != SCUTE_OID_NULL) {
      t.free_bytes(old);
    }
  }

  void push_back(tx& t, char c) { append(t, {&c, 1}); }

  /// Makes the string empty and frees its object.
  void clear(tx& t) {
    release(t);
    size_ = 0;
    text_ = {};
  }

  /// Frees the string's object; the handle must not be used again. See ownership.hpp.
  void release(tx& t) const {
    if (const scute_oid oid = remote_oid(); oid != SCUTE_OID_NULL) {
      t.free_bytes(oid);
    }
  }

  /// The handle's bytes were copied from another string: gets its own copy of that one's text.
  void duplicate(tx& t) {
    if (size_ > inline_max) {
      const std::string_view text = view(t);
      const tx::allocation fresh = t.allocate(capacity_for(text.size()), type);
      std::memcpy(fresh.bytes, text.data(), text.size());
      set_remote_oid(fresh.oid);
    }
  }

 private:
  static constexpr size_t prefix = 12;
  static constexpr uint32_t type = type_hash("scute.string");

  // Invariant: a string of size n > inline_max has an object of at least capacity_for(n) bytes.
  // So the room for appending follows from the size, and no capacity need be stored.
  static constexpr uint64_t capacity_for(uint64_t n) noexcept {
    const uint64_t step = std::max<uint64_t>(32, std::bit_floor(n) / 4);
    return (n + step - 1) / step * step;
  }

  bool reusable(size_t n) const noexcept {
    return capacity_for(n) <= capacity_for(size_) && capacity_for(n) >= capacity_for(size_) / 2;
  }

  static void require_size(size_t n) {
    if (n > size_max) {
      detail::throw_error(errc::range, "a scute::string holds at most 2 GiB");
    }
  }

  scute_oid remote_oid() const noexcept {
    scute_oid oid = SCUTE_OID_NULL;
    if (size_ > inline_max) {
      std::memcpy(&oid, text_.data() + prefix, sizeof oid);
    }
    return oid;
  }

  void set_remote_oid(scute_oid oid) noexcept {
    std::memcpy(text_.data() + prefix, &oid, sizeof oid);
  }

  void point_at(scute_oid oid, std::string_view head, size_t n) noexcept {
    std::memmove(text_.data(), head.data(), prefix);  // head may lie in text_ itself
    set_remote_oid(oid);
    size_ = static_cast<uint32_t>(n);
  }

  /// The text of a long string. A transaction checks the range itself; the pool is asked for the
  /// object's size, so that a damaged size_ cannot lead beyond the object.
  const char* remote(const reader& r) const {
    const scute_oid oid = remote_oid();
    try {
      if (r.in_transaction() || r.size_of(ptr<char[]>(oid)) >= size_) {
        return reinterpret_cast<const char*>(r.bytes(oid, 0, size_));
      }
    } catch (const error& e) {
      if (e.which() != errc::range) {
        throw;
      }
    }
    detail::throw_error(errc::corrupt, "scute::string: the stored size exceeds the text's object");
  }

  uint32_t size_ = 0;
  std::array<char, inline_max> text_ = {};
};

static_assert(sizeof(string) == 24 && storable<string>);

}  // namespace scute

#endif
