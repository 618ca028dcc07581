// SPDX-License-Identifier: BSD-3-Clause
// Objects in DRAM, and what a log of whole objects has to write for them: at the end of a
// transaction each object that it has edited or made is appended to a log, and one that it has
// destroyed by a head without bytes; one fence. It is the floor of POW files and the ways of
// Figures 5 and 6 of the ENTS paper, and for comparison only: nothing is checked, found again,
// cleaned or undone, and a full lane of the log begins again and overwrites its content.
//
// A batch is a head of 32 bytes and records of 16 bytes and the object, as those of POW files.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/stores/field_edits.hpp"
#include "workloads/stores/store.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::workloads {

/// How bytes get to the medium: those of the library.
struct append_medium {
  void (*copy_nt)(void* to, const void* from, size_t n) noexcept;  // all multiples of 64
  void (*flush)(const void* p, size_t n) noexcept;
  void (*fence)() noexcept;
};

/// The ways of ENTS's Figures 5 and 6. `cached`: cached stores and write-backs instead of
/// non-temporal stores. `padded`: a record begins in a line of its own.
struct append_ways {
  bool cached, padded;
};

class append_store {
  struct lane;

 public:
  static constexpr bool aborts = false;

  template <class T>
  using ptr = volatile_store::ptr<T>;
  using reader = volatile_store::reader;

  struct counts {
    uint64_t fences = 0, lines = 0, bytes = 0;
  };

  class tx : public reader, public field_edits<tx> {
   public:
    explicit tx(append_store& s) : store_(s), lane_(s.mine()) {}

    template <class T>
    using made = made_object<ptr<T>, T>;
    template <class T>
    T& open(ptr<T> p) {
      lane_.note(p.address(), sizeof(T));
      return *p.address();
    }
    template <class T>
    made<T> make() {
      T* const at = new (store_.data_->allocate(sizeof(T), object_alignment)) T();
      lane_.note(at, sizeof(T));
      return {ptr<T>(at), *at};
    }
    template <class T>
    void destroy(ptr<T> p) {
      static_assert(std::is_trivially_destructible_v<T>);
      lane_.forget(p.address(), sizeof(T));
    }

   private:
    friend class append_store;
    append_store& store_;
    lane& lane_;
  };

  /// The log and the data stay the caller's. Threads share the log, a lane of `lane_bytes` for
  /// each.
  append_store(std::span<std::byte> log, size_t lane_bytes, const append_medium& medium,
               append_ways ways, std::pmr::memory_resource* data = std::pmr::new_delete_resource())
      : log_(log), lane_bytes_(lane_bytes), medium_(medium), ways_(ways), data_(data) {}
  ~append_store() {
    if (root_ != nullptr) data_->deallocate(root_, root_size_, object_alignment);
  }
  append_store(const append_store&) = delete;
  append_store& operator=(const append_store&) = delete;

  template <class F>
  auto transact(F&& body) {
    tx t(*this);
    if constexpr (std::is_void_v<decltype(body(t))>) {
      body(t);
      append(t.lane_);
    } else {
      auto result = body(t);
      append(t.lane_);
      return result;
    }
  }
  reader view() const { return {}; }
  template <class T>
  ptr<T> root() {
    if (root_ == nullptr) {
      root_ = new (data_->allocate(sizeof(T), object_alignment)) T();
      root_size_ = sizeof(T);
    }
    return ptr<T>(static_cast<T*>(root_));
  }
  /// From here on the log stays as it is: what is left to do is to free the objects.
  void stop_writing() noexcept { writes_ = false; }
  /// Of all threads; none is in a transaction.
  counts total() const {
    const std::lock_guard hold(mutex_);
    counts all;
    for (const auto& [who, l] : lanes_) {
      all.fences += l->total.fences;
      all.lines += l->total.lines;
      all.bytes += l->total.bytes;
    }
    return all;
  }

 private:
  static constexpr size_t line = 64, object_alignment = 16;
  struct batch_head {
    uint64_t words[4];
  };
  struct record_head {
    uint64_t size, id;
  };
  struct lane {
    struct object {
      void* at;
      size_t size;
    };
    // Those that were noted last are looked for first: they are edited again.
    void note(void* at, size_t size) {
      for (auto o = changed.rbegin(); o != changed.rend(); ++o)
        if (o->at == at) return;
      changed.push_back({at, size});
    }
    void forget(void* at, size_t size) {
      std::erase_if(changed, [at](const object& o) { return o.at == at; });
      gone.push_back({at, size});
    }

    std::span<std::byte> bytes;
    size_t end = 0;                  // of the written part, in bytes
    std::vector<std::byte> staging;  // the batch, from the beginning of its first line
    std::vector<object> changed, gone;
    counts total;
  };

  lane& mine() {
    static thread_local std::pair<uint64_t, lane*> last{};
    if (last.first == number_) return *last.second;
    const std::lock_guard hold(mutex_);
    std::unique_ptr<lane>& l = lanes_[std::this_thread::get_id()];
    if (l == nullptr) {
      if (lanes_.size() * lane_bytes_ > log_.size()) throw std::bad_alloc();
      l = std::make_unique<lane>();
      l->bytes = log_.subspan((lanes_.size() - 1) * lane_bytes_, lane_bytes_);
    }
    last = {number_, l.get()};
    return *l;
  }

  static void push(lane& l, const void* from, size_t n) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    l.staging.insert(l.staging.end(), bytes, bytes + n);
  }
  static void pad(lane& l, size_t to) { l.staging.resize((l.staging.size() + to - 1) / to * to); }
  void append(lane& l) {
    if (l.changed.empty() && l.gone.empty()) return;
    if (!writes_) {
      finish(l);
      return;
    }
    // The last line of the earlier bytes is written again, with the bytes that join it.
    const size_t from = l.end / line * line;
    l.staging.resize(l.end - from);
    const batch_head head{{l.changed.size(), l.gone.size(), l.total.fences, 0}};
    push(l, &head, sizeof head);
    for (const lane::object& o : l.changed) {
      if (ways_.padded) pad(l, line);
      const record_head r{o.size, reinterpret_cast<uint64_t>(o.at)};
      push(l, &r, sizeof r);
      push(l, o.at, o.size);
      pad(l, ways_.padded ? line : 8);
    }
    for (const lane::object& o : l.gone) {
      const record_head r{0, reinterpret_cast<uint64_t>(o.at)};
      push(l, &r, sizeof r);
    }
    const size_t used = l.staging.size();
    if (ways_.padded) pad(l, line);
    try {
      write(l, from, used);
    } catch (...) {
      finish(l);
      throw;
    }
    finish(l);
  }
  void finish(lane& l) {
    for (const lane::object& o : l.gone) data_->deallocate(o.at, o.size, object_alignment);
    l.changed.clear();
    l.gone.clear();
  }
  void write(lane& l, size_t from, size_t used) {
    pad(l, line);
    const size_t n = l.staging.size();
    if (n > l.bytes.size()) throw std::bad_alloc();
    const size_t carried = l.end - from;
    if (from + n > l.bytes.size()) from = 0;
    std::byte* const to = l.bytes.data() + from;
    if (ways_.cached) {
      std::memcpy(to, l.staging.data(), n);
      medium_.flush(to, n);
    } else {
      medium_.copy_nt(to, l.staging.data(), n);
    }
    medium_.fence();
    ++l.total.fences;
    l.total.lines += n / line;
    l.total.bytes += used - carried;
    l.end = from + (ways_.padded ? n : used);
    // The content of the last line stays for the next batch; the staging begins there.
    const size_t last = l.end / line * line - from;
    std::copy(l.staging.begin() + static_cast<ptrdiff_t>(last),
              l.staging.begin() + static_cast<ptrdiff_t>(l.end - from), l.staging.begin());
    l.staging.resize(l.end - from - last);
  }

  static uint64_t next_number() {
    static std::atomic<uint64_t> next{1};
    return next++;
  }

  std::span<std::byte> log_;
  size_t lane_bytes_;
  append_medium medium_;
  append_ways ways_;
  std::pmr::memory_resource* data_;
  const uint64_t number_ = next_number();  // an address may be that of another store
  mutable std::mutex mutex_;
  std::unordered_map<std::thread::id, std::unique_ptr<lane>> lanes_;
  void* root_ = nullptr;
  size_t root_size_ = 0;
  bool writes_ = true;
};

static_assert(store<append_store>);

}  // namespace scute::workloads
