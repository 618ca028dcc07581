// SPDX-License-Identifier: BSD-3-Clause
// Objects of one size, side by side in DRAM, that a persist-on-write file keeps: for workloads that
// are about the file.
#pragma once

#include <scute/pow.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "systems/scute_pool.hpp"

namespace scute::bench {

class pow_objects {
 public:
  // Makes the table, or loads what it has. The store stays the caller's, and is closed first.
  pow_objects(scute_pow* store, uint32_t size, uint64_t most)
      : store_(store),
        size_(size),
        back_(back_of(size)),
        places_(most + spare),
        bytes_(new std::byte[places_ * uint64_t{size}]) {
    scute_pow_serializer k{};
    k.struct_size = sizeof k;
    k.size = size;
    k.arg = this;
    k.encode = [](void* arg, uint64_t index, void* to) {
      auto* const me = static_cast<pow_objects*>(arg);
      std::memcpy(to, me->at(index), me->size_);
    };
    k.load = [](void* arg, uint64_t id, const void* bytes, uint32_t n) -> int {
      auto* const me = static_cast<pow_objects*>(arg);
      const uint64_t index = id & SCUTE_POW_INDEX_MASK;
      if (index >= me->places_ || n != me->size_) return SCUTE_E_RANGE;
      std::memcpy(me->at(index), bytes, n);
      me->ids_.push_back(id);
      return SCUTE_OK;
    };
    must(scute_pow_table_open(store, "objects", &k, &table_));
  }
  pow_objects(const pow_objects&) = delete;
  pow_objects& operator=(const pow_objects&) = delete;

  uint64_t count() const noexcept { return ids_.size(); }
  // The content of the i-th.
  const std::byte* content(uint64_t i) const noexcept { return at(ids_[i] & SCUTE_POW_INDEX_MASK); }

  // Another object, in a section of its own. One thread.
  void add(const std::byte* content) {
    scute_pow_section* s = nullptr;
    must(scute_pow_begin(store_, SCUTE_POW_STRICT, &s));
    uint64_t id = 0;
    must(scute_pow_new(s, table_, SCUTE_POW_ANY, &id));
    if ((id & SCUTE_POW_INDEX_MASK) >= places_) must(SCUTE_E_RANGE);
    std::memcpy(at(id & SCUTE_POW_INDEX_MASK), content, size_);
    must(scute_pow_commit(s));
    ids_.push_back(id);
  }
  // Writes the i-th object again, in a section of its own. Threads may do so concurrently, each
  // with objects of its own.
  void write(uint64_t i, const std::byte* content) {
    scute_pow_section* s = nullptr;
    must(scute_pow_begin(store_, SCUTE_POW_STRICT, &s));
    std::byte* const there = at(ids_[i] & SCUTE_POW_INDEX_MASK);
    int first = 0;
    must(scute_pow_edit(s, table_, ids_[i], &first));
    must(scute_pow_undo_copy(s, back_, there, there, size_));
    std::memcpy(there, content, size_);
    must(scute_pow_commit(s));
  }

 private:
  static constexpr uint64_t spare = 64;  // no index of a first object is promised

  using back = void (*)(void* who, void* what);
  template <uint32_t N>
  static void put_back(void* who, void* what) {
    std::memcpy(who, what, N);
  }
  // The sizes that benchmarks have.
  static back back_of(uint32_t size) {
    switch (size) {
      case 64: return put_back<64>;
      case 256: return put_back<256>;
      case 1024: return put_back<1024>;
      case 4096: return put_back<4096>;
      default: throw std::runtime_error("no work has objects of this size");
    }
  }
  std::byte* at(uint64_t index) const noexcept { return bytes_.get() + index * size_; }

  scute_pow* store_;
  uint32_t size_;
  back back_;
  uint64_t places_;
  std::unique_ptr<std::byte[]> bytes_;
  std::vector<uint64_t> ids_;
  scute_pow_table* table_ = nullptr;
};

}  // namespace scute::bench
