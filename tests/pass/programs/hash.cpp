// SPDX-License-Identifier: BSD-3-Clause
// A hash table in a mapped file: buckets of a line, overflow chains, words published atomically.
//
// options: detect
// flags: -mclwb
// shadow: none
#include <immintrin.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <unordered_map>

#include "view.h"

namespace {

constexpr unsigned slots = 3;

struct alignas(64) bucket {
  std::atomic<uint32_t> used;  // a bit per slot
  uint32_t lock;
  bucket* next;
  struct {
    uint64_t key, value;
  } slot[slots];
};

static_assert(sizeof(bucket) == 64);

void persist(const void* line) {
  view_flush(line);
  _mm_sfence();
}

class table {
 public:
  explicit table(char* place) : buckets_(reinterpret_cast<bucket*>(place)) {}

  uint64_t find(uint64_t key) const {
    for (const bucket* b = first(key); b; b = b->next)
      for (unsigned i = 0; i < slots; ++i)
        if ((b->used.load(std::memory_order_acquire) >> i & 1) && b->slot[i].key == key)
          return b->slot[i].value;
    return 0;
  }

  void put(uint64_t key, uint64_t value) {
    bucket* last = nullptr;
    bucket* room = nullptr;
    for (bucket* b = first(key); b; last = b, b = b->next) {
      const auto used = b->used.load(std::memory_order_relaxed);
      for (unsigned i = 0; i < slots; ++i) {
        if ((used >> i & 1) && b->slot[i].key == key) {
          b->slot[i].value = value;
          return persist(b);
        }
      }
      if (used != (1U << slots) - 1 && !room) room = b;
    }
    if (!room) {
      room = &buckets_[heads + chained_++];
      if (heads + chained_ > VIEW_SIZE / sizeof(bucket)) std::abort();
      room->used.store(0, std::memory_order_relaxed);
      room->lock = 0;
      room->next = nullptr;
      persist(room);
      last->next = room;
      persist(last);
    }
    unsigned i = 0;
    while (room->used.load(std::memory_order_relaxed) >> i & 1) ++i;
    room->slot[i].key = key;
    room->slot[i].value = value;
    persist(room);
    room->used.fetch_or(1U << i, std::memory_order_release);
    persist(room);
  }

  bool take(uint64_t key) {
    for (bucket* b = first(key); b; b = b->next) {
      for (unsigned i = 0; i < slots; ++i) {
        if (!(b->used.load(std::memory_order_relaxed) >> i & 1) || b->slot[i].key != key) continue;
        b->used.fetch_and(~(1U << i), std::memory_order_release);
        persist(b);
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr unsigned heads = 1024;

  bucket* first(uint64_t key) const { return &buckets_[key * 0x9e3779b97f4a7c15U >> 54]; }

  bucket* buckets_;
  unsigned chained_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  const unsigned rounds = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 6000;
  table shared(view_map());
  std::unordered_map<uint64_t, uint64_t> model;
  uint64_t random = 88172645463325252U;
  for (unsigned i = 0; i < rounds; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const uint64_t key = random % 5000 + 1;
    const auto what = static_cast<unsigned>(random >> 32) % 8;
    if (what < 3) {
      shared.put(key, i + 1);
      model[key] = i + 1;
    } else if (what < 7) {
      const auto known = model.find(key);
      if (shared.find(key) != (known == model.end() ? 0 : known->second)) return 1;
    } else if (shared.take(key) != (model.erase(key) != 0)) {
      return 2;
    }
  }
  return 0;
}
