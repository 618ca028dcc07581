// SPDX-License-Identifier: BSD-3-Clause
// Nodes in a libpmemobj pool, through its transactional C interface, used as fast as it goes:
// ranges are saved, not objects; new objects are not saved at all; no setjmp; offsets instead of
// oids. A run of an array is one range. A program whose stores have been instrumented one by one
// saves each element by itself: that is the other form.
#pragma once

#include <libpmemobj.h>

#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

enum class saving : uint8_t { runs, elements };

template <saving How>
class basic_pmemobj_store {
 public:
  template <class T>
  class ptr {
   public:
    constexpr ptr() noexcept = default;
    constexpr explicit ptr(uint64_t offset) noexcept : offset_(offset) {}
    constexpr explicit operator bool() const noexcept { return offset_ != 0; }
    constexpr uint64_t offset() const noexcept { return offset_; }
    friend constexpr bool operator==(ptr, ptr) noexcept = default;

   private:
    uint64_t offset_ = 0;
  };

  class reader {
   public:
    explicit reader(PMEMobjpool* pool) : base_(reinterpret_cast<char*>(pool)) {}
    template <class T>
    const T& get(ptr<T> p) const {
      return *at(p);
    }

   protected:
    template <class T>
    T* at(ptr<T> p) const {
      return static_cast<T*>(static_cast<void*>(base_ + p.offset()));
    }
    char* base_;
  };

  class tx : public reader {
   public:
    tx(PMEMobjpool* pool, uint64_t uuid) : reader(pool), uuid_(uuid) {}

    template <class T>
    struct made {
      ptr<T> at;
      T& object;
    };
    template <class T, class F, class C>
    F& edit(ptr<T> p, F C::* field) {
      return *saved(&(at(p)->*field), 1);
    }
    template <class T, class C, class E, size_t N>
    E& edit(ptr<T> p, E (C::*array)[N], uint64_t index) {
      return *saved(&(at(p)->*array)[index], 1);
    }
    template <class T, class C, class E, size_t N>
    std::span<E> edit(ptr<T> p, E (C::*array)[N], uint64_t index, uint64_t n) {
      E* const first = &(at(p)->*array)[index];
      if constexpr (How == saving::elements)
        for (uint64_t i = 0; i < n; ++i) saved(first + i, 1);
      else
        saved(first, n);
      return {first, static_cast<size_t>(n)};
    }
    template <class T>
    T& open(ptr<T> p) {
      return *saved(at(p), 1);
    }
    template <class T>
    made<T> make() {
      const PMEMoid oid = pmemobj_tx_alloc(sizeof(T), 1);
      if (OID_IS_NULL(oid)) [[unlikely]]
        fail();
      const ptr<T> p(oid.off);
      return {p, *new (at(p)) T()};
    }
    template <class T>
    void destroy(ptr<T> p) {
      static_assert(std::is_trivially_destructible_v<T>);
      if (pmemobj_tx_free(PMEMoid{uuid_, p.offset()}) != 0) [[unlikely]]
        fail();
    }

   private:
    using reader::at;

    template <class T>
    static T* saved(T* first, uint64_t n) {
      if (pmemobj_tx_add_range_direct(first, n * sizeof(T)) != 0) [[unlikely]]
        fail();
      return first;
    }
    uint64_t uuid_;
  };

  // The pool stays the caller's. One root object of `root_size` bytes at most.
  explicit basic_pmemobj_store(PMEMobjpool* pool) : pool_(pool) {
    uuid_ = pmemobj_oid(pmemobj_direct(pmemobj_root(pool, root_size))).pool_uuid_lo;
  }

  template <class F>
  auto transact(F&& body) {
    if (pmemobj_tx_begin(pool_, nullptr, TX_PARAM_NONE) != 0) [[unlikely]]
      fail();
    tx mine(pool_, uuid_);
    try {
      if constexpr (std::is_void_v<decltype(body(mine))>) {
        body(mine);
        commit();
      } else {
        auto result = body(mine);
        commit();
        return result;
      }
    } catch (...) {
      if (pmemobj_tx_stage() == TX_STAGE_WORK) pmemobj_tx_abort(ECANCELED);
      if (pmemobj_tx_stage() != TX_STAGE_NONE) (void)pmemobj_tx_end();
      throw;
    }
  }
  reader view() const { return reader(pool_); }
  template <class T>
  ptr<T> root() {
    static_assert(sizeof(T) <= root_size);
    return ptr<T>(pmemobj_root(pool_, root_size).off);
  }

 private:
  static constexpr size_t root_size = 4096;

  [[noreturn]] static void fail() {
    throw std::runtime_error(std::string("libpmemobj: ") + pmemobj_errormsg());
  }
  static void commit() {
    pmemobj_tx_commit();
    if (pmemobj_tx_end() != 0) [[unlikely]]
      fail();
  }

  PMEMobjpool* pool_;
  uint64_t uuid_ = 0;
};

using pmemobj_store = basic_pmemobj_store<saving::runs>;
using pmemobj_elements_store = basic_pmemobj_store<saving::elements>;

static_assert(store<pmemobj_store> && store<pmemobj_elements_store>);

}  // namespace scute::workloads
