// SPDX-License-Identifier: BSD-3-Clause
// A store with the data model of POW files, for tests of code that is written for them. Objects
// lie in DRAM, and references to them are 8-byte numbers and no addresses. Every change is in a
// section that begins with the lock. At the end of a section, whole objects are appended to a
// journal. A use that such a store would lose or refuse fails the test:
//
//   - an object that is edited in two open sections at once, or used after it was destroyed, throws
//   - an object that was changed without edit() differs from the journal: verify()
//   - back_to(n) is what is left if the power fails after n sections
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "workloads/stores/field_edits.hpp"
#include "workloads/stores/store.hpp"

namespace scute::test {

class section_store {
 public:
  template <class T>
  class ptr {
   public:
    constexpr ptr() noexcept = default;
    constexpr explicit ptr(uint64_t id) noexcept : id_(id) {}
    constexpr explicit operator bool() const noexcept { return id_ != 0; }
    constexpr uint64_t id() const noexcept { return id_; }
    friend constexpr bool operator==(ptr, ptr) noexcept = default;

   private:
    uint64_t id_ = 0;
  };

  class reader {
   public:
    explicit reader(const section_store& s) : store_(const_cast<section_store*>(&s)) {}
    template <class T>
    const T& get(ptr<T> p) const {
      return *static_cast<const T*>(store_->object_of(p.id(), sizeof(T)));
    }

   protected:
    section_store* store_;
  };

  class tx : public reader, public workloads::field_edits<tx> {
   public:
    using reader::reader;

    template <class T>
    using made = workloads::made_object<ptr<T>, T>;
    template <class T>
    T& open(ptr<T> p) {
      void* const at = store_->object_of(p.id(), sizeof(T));
      own(p.id(), true);
      return *static_cast<T*>(at);
    }
    template <class T>
    made<T> make() {
      const uint64_t id = store_->create(sizeof(T));
      own(id, false);
      return {ptr<T>(id), *new (store_->object_of(id, sizeof(T))) T()};
    }
    template <class T>
    void destroy(ptr<T> p) {
      static_assert(std::is_trivially_destructible_v<T>);
      open(p);
      for (entry& e : mine_)
        if (e.id == p.id()) e.destroyed = true;
    }

   private:
    friend class section_store;
    struct entry {
      uint64_t id;
      bool there, destroyed;
      std::vector<std::byte> before;
    };

    void own(uint64_t id, bool there) {
      slot& s = store_->slot_of(id);
      const void* const me = this;
      const void* nobody = nullptr;
      if (s.owner.compare_exchange_strong(nobody, me)) {
        entry e{id, there, false, {}};
        if (there) e.before.assign(s.bytes.get(), s.bytes.get() + s.size);
        mine_.push_back(std::move(e));
      } else if (nobody != me) {
        throw std::logic_error("an object is edited in two sections at once");
      }
    }
    std::vector<entry> mine_;
  };

  template <class F>
  auto transact(F&& body) {
    tx mine(*this);
    try {
      if constexpr (std::is_void_v<decltype(body(mine))>) {
        body(mine);
        commit(mine);
      } else {
        auto result = body(mine);
        commit(mine);
        return result;
      }
    } catch (...) {
      abort(mine);
      throw;
    }
  }
  template <class Lock, class F>
  auto section(Lock& lock, F&& body) {
    const std::lock_guard<Lock> hold(lock);
    return transact(std::forward<F>(body));
  }
  reader view() const { return reader(*this); }
  template <class T>
  ptr<T> root() {
    const std::lock_guard hold(mutex_);
    if (ids_ == 0) {
      place(1, sizeof(T));
      ids_ = 1;
      new (slot_of(1).bytes.get()) T();
      journal_.push_back({{1, bytes_of(1)}});
    }
    return ptr<T>(1);
  }

  size_t sections() const {
    const std::lock_guard hold(mutex_);
    return journal_.size();
  }
  // No thread is in a section. Later sections are gone, from the journal as well.
  void back_to(size_t n) {
    const std::lock_guard hold(mutex_);
    journal_.resize(n);
    for (uint64_t id = 1; id <= ids_; ++id) slot_of(id).bytes.reset();
    for (const batch& b : journal_)
      for (const record& r : b) {
        if (r.bytes.empty()) {
          slot_of(r.id).bytes.reset();
          continue;
        }
        place(r.id, r.bytes.size());
        std::memcpy(slot_of(r.id).bytes.get(), r.bytes.data(), r.bytes.size());
      }
  }
  // As another store was after n sections.
  void repeat(const section_store& other, size_t n) {
    {
      const std::scoped_lock hold(mutex_, other.mutex_);
      journal_.assign(other.journal_.begin(), other.journal_.begin() + static_cast<ptrdiff_t>(n));
      for (; ids_ < other.ids_; ++ids_) place(ids_ + 1, 1);
    }
    back_to(n);
  }
  size_t objects() const {
    size_t n = 0;
    for (uint64_t id = 2; id <= ids_; ++id) n += slot_of(id).bytes != nullptr;
    return n;
  }
  // "" if every object is as it was last written to the journal.
  std::string differs() const {
    std::vector<const std::vector<std::byte>*> last(ids_ + 1, nullptr);
    for (const batch& b : journal_)
      for (const record& r : b) last[r.id] = r.bytes.empty() ? nullptr : &r.bytes;
    for (uint64_t id = 1; id <= ids_; ++id) {
      const slot& s = slot_of(id);
      if ((s.bytes != nullptr) != (last[id] != nullptr)) return "object " + std::to_string(id);
      if (last[id] != nullptr && std::memcmp(last[id]->data(), s.bytes.get(), s.size) != 0)
        return "object " + std::to_string(id) + " was changed without edit()";
    }
    return "";
  }

 private:
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  struct slot {
    std::unique_ptr<std::byte, release> bytes;
    size_t size = 0;
    std::atomic<const void*> owner{nullptr};
  };
  struct record {
    uint64_t id;
    std::vector<std::byte> bytes;  // empty: destroyed
  };
  using batch = std::vector<record>;
  static constexpr uint64_t per_chunk = 4096, chunks_max = 1024;
  using chunk = std::array<slot, per_chunk>;

  slot& slot_of(uint64_t id) const {
    return (*chunks_[id / per_chunk].load(std::memory_order_acquire))[id % per_chunk];
  }
  void* object_of(uint64_t id, size_t size) const {
    if (id == 0 || id / per_chunk >= chunks_max) throw std::logic_error("no such object");
    const slot& s = slot_of(id);
    if (s.bytes == nullptr || s.size != size) throw std::logic_error("an object that is gone");
    return s.bytes.get();
  }
  void place(uint64_t id, size_t size) {
    if (id / per_chunk >= chunks_max) throw std::bad_alloc();
    std::atomic<chunk*>& c = chunks_[id / per_chunk];
    if (c.load(std::memory_order_relaxed) == nullptr) {
      owned_.push_back(std::make_unique<chunk>());
      c.store(owned_.back().get(), std::memory_order_release);
    }
    slot& s = slot_of(id);
    s.bytes.reset(static_cast<std::byte*>(::operator new(size, std::align_val_t{64})));
    std::memset(s.bytes.get(), 0, size);
    s.size = size;
  }
  std::vector<std::byte> bytes_of(uint64_t id) const {
    const slot& s = slot_of(id);
    return {s.bytes.get(), s.bytes.get() + s.size};
  }
  uint64_t create(size_t size) {
    const std::lock_guard hold(mutex_);
    place(++ids_, size);
    return ids_;
  }
  void commit(tx& t) {
    if (t.mine_.empty()) return;
    const std::lock_guard hold(mutex_);
    batch b;
    for (const tx::entry& e : t.mine_) {
      slot& s = slot_of(e.id);
      if (e.destroyed) s.bytes.reset();
      if (e.there || !e.destroyed)
        b.push_back({e.id, e.destroyed ? std::vector<std::byte>() : bytes_of(e.id)});
      s.owner = nullptr;
    }
    journal_.push_back(std::move(b));
    t.mine_.clear();
  }
  void abort(tx& t) {
    for (const tx::entry& e : t.mine_) {
      slot& s = slot_of(e.id);
      if (e.there)
        std::memcpy(s.bytes.get(), e.before.data(), e.before.size());
      else
        s.bytes.reset();
      s.owner = nullptr;
    }
    t.mine_.clear();
  }

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<chunk>> owned_;
  mutable std::array<std::atomic<chunk*>, chunks_max> chunks_{};
  uint64_t ids_ = 0;
  std::vector<batch> journal_;
};

static_assert(workloads::store<section_store>);

}  // namespace scute::test
