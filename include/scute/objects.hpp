// SPDX-License-Identifier: BSD-3-Clause
//
// objects.hpp: walking over the live objects of a pool.
#ifndef SCUTE_OBJECTS_HPP
#define SCUTE_OBJECTS_HPP

#include <scute/error.hpp>
#include <scute/ptr.hpp>
#include <scute/type_number.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace scute {

/// The live objects of one type, or of all types for T = void, in address order: an input range of
/// ptr<T>. Made by pool::objects(). Each step costs a search of the space between two objects. The
/// step that comes to the end throws errc::corrupt if damage beyond repair hides objects: see
/// scute_next().
template <class T>
class object_range {
 public:
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = ptr<T>;
    using difference_type = ptrdiff_t;

    iterator() = default;
    ptr<T> operator*() const noexcept { return ptr<T>(oid_); }
    iterator& operator++() {
      detail::check(scute_next(pool_, oid_, type, &oid_));
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
      return it.oid_ == SCUTE_OID_NULL;
    }

   private:
    friend class object_range;
    explicit iterator(scute_pool* pool) : pool_(pool) {
      detail::check(scute_first(pool_, type, &oid_));
    }

    scute_pool* pool_ = nullptr;
    scute_oid oid_ = SCUTE_OID_NULL;
  };

  iterator begin() const { return iterator(pool_); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  friend class pool;
  explicit object_range(scute_pool* pool) noexcept : pool_(pool) {}

  static constexpr uint32_t number() noexcept {
    if constexpr (std::is_void_v<T>) {
      return SCUTE_TYPE_ANY;
    } else {
      return type_number<T>;
    }
  }
  static constexpr uint32_t type = number();

  scute_pool* pool_;
};

}  // namespace scute

#endif
