// SPDX-License-Identifier: BSD-3-Clause
// Objects in DRAM that a persist-on-write store keeps: one table of objects of all sizes, edited
// through the C interface, undo included. A pointer is the address; the store's header of the
// object lies before it.
//
// Its ways are those of Figures 5 and 6 of the ENTS paper, through the store's own interface.
#pragma once

#include <scute/pow.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <type_traits>

#include "workloads/stores/field_edits.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::workloads {

/// `cached`: a section is a later one and a sync, which is how the store writes by cached stores
/// and write-backs instead of non-temporal stores; its locks are given back before the sync.
/// `padded`: an object is written in whole lines. `data`: where the objects are; null: on the heap.
struct pow_ways {
  bool cached = false, padded = false;
  std::pmr::memory_resource* data = nullptr;
};

class pow_store {
  struct alignas(16) header {
    uint64_t id;
    uint32_t size;  // of the object after it

    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  };
  static header* header_of(const void* object) noexcept {
    return reinterpret_cast<header*>(const_cast<void*>(object)) - 1;
  }

 public:
  template <class T>
  using ptr = volatile_store::ptr<T>;
  using reader = volatile_store::reader;

  class tx : public reader, public field_edits<tx> {
   public:
    template <class T>
    using made = made_object<ptr<T>, T>;
    template <class T>
    T& open(ptr<T> p) {
      header* const h = header_of(p.address());
      int first = 0;
      pow::detail::check(scute_pow_edit(section_, store_.table_, h->id, &first));
      if (first != 0) store_.save(section_, h);
      return *p.address();
    }
    template <class T>
    made<T> make() {
      static_assert(alignof(T) <= alignof(header) && std::is_trivially_copyable_v<T>);
      header* const h = store_.make(section_, sizeof(T));
      T* const at = new (h->bytes()) T();
      return {ptr<T>(at), *at};
    }
    template <class T>
    void destroy(ptr<T> p) {
      header* const h = header_of(p.address());
      pow::detail::check(scute_pow_erase(section_, store_.table_, h->id));
      pow::detail::check(scute_pow_undo(section_, nullptr, release, &store_, h));
    }

   private:
    friend class pow_store;
    tx(pow_store& s, scute_pow_section* section) : store_(s), section_(section) {}
    pow_store& store_;
    scute_pow_section* section_;
  };

  // The store stays the caller's; it has to be new.
  explicit pow_store(pow::store& s, pow_ways ways = {}) : handle_(s.native_handle()), ways_(ways) {
    scute_pow_serializer k{};
    k.struct_size = sizeof k;
    k.arg = this;
    k.measure = [](void* arg, uint64_t index) -> int64_t {
      auto* const me = static_cast<pow_store*>(arg);
      return me->written_size((*me->objects_.find(index))->size);
    };
    k.encode = [](void* arg, uint64_t index, void* to) {
      auto* const me = static_cast<pow_store*>(arg);
      header* const h = *me->objects_.find(index);
      std::memcpy(to, h->bytes(), h->size);
      std::memset(static_cast<std::byte*>(to) + h->size, 0, me->written_size(h->size) - h->size);
    };
    k.load = [](void*, uint64_t, const void*, uint32_t) -> int { return SCUTE_E_EXISTS; };
    pow::detail::check(scute_pow_table_open(handle_, "objects", &k, &table_));
  }
  ~pow_store() {
    if (root_ != nullptr) release(this, root_);
  }
  pow_store(const pow_store&) = delete;
  pow_store& operator=(const pow_store&) = delete;

  template <class F>
  auto transact(F&& body) {
    return in([](scute_pow_section*) {}, std::forward<F>(body));
  }
  // The commit releases the lock, after the fence.
  template <class Lock, class F>
  auto section(Lock& lock, F&& body) {
    lock.lock();
    bool taken = false;
    try {
      return in(
          [&](scute_pow_section* s) {
            pow::detail::check(scute_pow_lock(s, &lock, &pow::detail::unlock<Lock>, 0));
            taken = true;
          },
          std::forward<F>(body));
    } catch (...) {
      if (!taken) lock.unlock();
      throw;
    }
  }
  reader view() const { return {}; }
  template <class T>
  ptr<T> root() {
    if (root_ == nullptr)
      transact([&](tx& t) { root_ = header_of(t.template make<T>().at.address()); });
    return ptr<T>(reinterpret_cast<T*>(root_->bytes()));
  }

 private:
  template <class Begin, class F>
  auto in(Begin&& begin, F&& body) {
    scute_pow_section* s = nullptr;
    pow::detail::check(
        scute_pow_begin(handle_, ways_.cached ? SCUTE_POW_LATER : SCUTE_POW_STRICT, &s));
    struct ending {
      scute_pow_section* s;
      ~ending() {
        if (s != nullptr) scute_pow_abort(s);
      }
      void commit() { pow::detail::check(scute_pow_commit(std::exchange(s, nullptr))); }
    } end{s};
    const auto finish = [&] {
      end.commit();
      if (ways_.cached) pow::detail::check(scute_pow_sync(handle_));
    };
    begin(s);
    tx t(*this, s);
    if constexpr (std::is_void_v<decltype(body(t))>) {
      body(t);
      finish();
    } else {
      auto result = body(t);
      finish();
      return result;
    }
  }
  static void release(void* who, void* what) {
    const auto& s = *static_cast<pow_store*>(who);
    auto* const h = static_cast<header*>(what);
    if (s.ways_.data != nullptr)
      s.ways_.data->deallocate(h, sizeof(header) + h->size, alignof(header));
    else
      std::free(h);
  }
  uint32_t written_size(uint32_t size) const noexcept {
    return ways_.padded ? (size + 63) / 64 * 64 : size;
  }
  header* make(scute_pow_section* s, uint32_t size) {
    void* const place = ways_.data != nullptr
                            ? ways_.data->allocate(sizeof(header) + size, alignof(header))
                            : std::malloc(sizeof(header) + size);
    if (place == nullptr) throw std::bad_alloc();
    auto* const h = static_cast<header*>(place);
    h->size = size;
    const int made = scute_pow_new(s, table_, SCUTE_POW_ANY, &h->id);
    if (made < 0) release(this, h);
    pow::detail::check(made);
    objects_.at(h->id & SCUTE_POW_INDEX_MASK) = h;
    pow::detail::check(scute_pow_undo(s, release, nullptr, this, h));
    return h;
  }
  void save(scute_pow_section* s, header* h) {
    pow::detail::check(scute_pow_undo_copy(
        s,
        [](void* who, void* what) {
          auto* const there = static_cast<header*>(who);
          std::memcpy(there->bytes(), what, there->size);
        },
        h, h->bytes(), h->size));
  }

  scute_pow* handle_;
  pow_ways ways_;
  scute_pow_table* table_ = nullptr;
  pow::detail::slab<header*> objects_;
  header* root_ = nullptr;
};

static_assert(store<pow_store>);

}  // namespace scute::workloads
