// SPDX-License-Identifier: BSD-3-Clause
// A hash table of two levels in a mapped file, after level hashing (OSDI 2018). Buckets have four
// slots and a token with a bit for each. A key has two places in each level. If all are full, one
// entry is moved; growth moves the lower level only. No log. It knows nothing of the shield.
//
//     level_table FILE [--flush clwb|clflushopt|clflush] [--forget-flush]
//
// takes commands from standard input, one per line. When the effect of a command is durable, it
// answers with a line:
//     put KEY VALUE   "put", or "full"
//     get KEY         the value, or "none"
//     del KEY         "deleted", or "none"
//     list            a line "KEY VALUE" for each key, in no order
//     check           "sound, N keys", or what is wrong (and exit 3)
// Keys are words of at most 16 characters, values of at most 15.
//
// Why the table survives a power failure at any moment:
//   - A slot counts when its token's bit says so, and is durable before that.
//   - A new value is in another slot. In the same bucket, one store of the token replaces the old
//     one; elsewhere the old one is removed when the new one is durable. A movement does the same.
//     So a power failure leaves at most one key twice, and opening takes one of the two: the
//     program had reported neither.
//   - A level of 2^n buckets has its place in the file, after the smaller ones. So one word says
//     which levels exist, and whether the table grows. Opening continues the growth.
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "arguments.h"
#include "flush.h"
#include "mapped_file.h"

namespace {

constexpr uint64_t magic = 0x6c6576656c2d7221, head_size = 4096;
constexpr unsigned slots = 4, key_size = 16, value_size = 15;
constexpr unsigned exponent_first = 3;  // of the lower level of an empty table
constexpr unsigned exponent_max = 14;

struct key_type {
  std::array<char, key_size> bytes{};
  bool operator==(const key_type&) const = default;
};
using value_type = std::array<char, value_size>;

struct slot {
  key_type key;
  value_type value;
};

struct bucket {
  std::array<slot, slots> slot_at;
  uint32_t token;

  bool has(unsigned i) const { return (token >> i & 1) != 0; }
  unsigned count() const { return static_cast<unsigned>(__builtin_popcount(token)); }
};
static_assert(sizeof(slot) == 31 && sizeof(bucket) == 128);

struct head {
  uint64_t magic;
  uint64_t state;  // exponent of the upper level, times two; and one, while it grows
};

// A slot; no bucket: there is none.
struct place {
  bucket* at = nullptr;
  unsigned number = 0;
  explicit operator bool() const { return at != nullptr; }
  bool operator==(const place&) const = default;
  slot& get() const { return at->slot_at[number]; }
};

uint64_t hash_of(const key_type& key, uint64_t seed) {
  uint64_t words[2];
  std::memcpy(words, key.bytes.data(), sizeof words);
  uint64_t h = seed;
  for (const uint64_t word : words) {
    h = (h ^ word) * 0x9e3779b97f4a7c15;
    h ^= h >> 32;
  }
  return h * 0xd6e8feb86659fd93 >> 20;
}

uint64_t size_with(unsigned exponent) {
  return head_size + ((uint64_t{2} << exponent) - (1 << exponent_first)) * sizeof(bucket);
}

class table {
 public:
  table(const char* name, bool forget) : forget_(forget) {
    file_ = file_open(name, size_with(exponent_first + 1));
    if (h().magic != magic) {
      store_word(&h().state, (exponent_first + 1) * 2);
      persist(&h(), sizeof(head));
      store_word(&h().magic, magic);
      persist(&h(), sizeof(head));
    }
    if ((h().state & 1) != 0) finish_growing();
    forget_copies();
  }
  ~table() { file_close(&file_); }
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  // False: there is no room.
  bool put(const key_type& key, const value_type& value) {
    const place old = find(key);
    if (old && old.at->count() < slots) {
      const place next{old.at, free_in(*old.at)};
      write(next, key, value);
      change_token(*old.at, old.at->token ^ (1U << old.number) ^ (1U << next.number));
      return true;
    }
    const place next = room_for(key);
    if (!next) return false;
    write(next, key, value);
    change_token(*next.at, next.at->token | 1U << next.number);
    if (const place other = find(key, next)) clear(other);  // it may have been moved meanwhile
    return true;
  }

  bool del(const key_type& key) {
    const place there = find(key);
    if (there) clear(there);
    return static_cast<bool>(there);
  }

  place find(const key_type& key, const place& but = {}) {
    for (bucket* b : candidates(key))
      for (unsigned i = 0; i < slots; ++i)
        if (b->has(i) && b->slot_at[i].key == key && place{b, i} != but) return {b, i};
    return {};
  }

  // f(place) for each key, the lower level first.
  template <class F>
  void each(F f) {
    for (const unsigned level : {upper() - 1, upper()})
      for (uint64_t i = 0; i < uint64_t{1} << level; ++i)
        for (unsigned k = 0; k < slots; ++k)
          if (bucket& b = level_at(level)[i]; b.has(k)) f(place{&b, k});
  }

  void check() {
    uint64_t keys = 0;
    each([&](const place& p) {
      bool right = false;
      for (const bucket* b : candidates(p.get().key)) right |= b == p.at;
      const char* const what = !right                        ? "it cannot be found where it is"
                               : find(p.get().key, p)        ? "it is there twice"
                               : (p.at->token >> slots) != 0 ? "its token is wrong"
                                                             : nullptr;
      if (what != nullptr) {
        std::printf("a key of 16 characters, \"%.16s\": %s\n", p.get().key.bytes.data(), what);
        std::exit(3);
      }
      ++keys;
    });
    std::printf("sound, %" PRIu64 " keys\n", keys);
  }

 private:
  head& h() { return *reinterpret_cast<head*>(file_.bytes); }
  unsigned upper() { return static_cast<unsigned>(h().state / 2); }
  bucket* level_at(unsigned exponent) {
    return reinterpret_cast<bucket*>(file_.bytes + size_with(exponent - 1));
  }

  // The two of a level.
  std::array<bucket*, 2> pair(unsigned exponent, const key_type& key) {
    const uint64_t mask = (uint64_t{1} << exponent) - 1;
    bucket* const level = level_at(exponent);
    return {level + (hash_of(key, 1) & mask), level + (hash_of(key, 2) & mask)};
  }
  std::array<bucket*, 4> candidates(const key_type& key) {
    const auto above = pair(upper(), key), below = pair(upper() - 1, key);
    return {above[0], above[1], below[0], below[1]};
  }

  static unsigned free_in(const bucket& b) {
    unsigned i = 0;
    while (b.has(i)) ++i;
    return i;
  }
  static place less_loaded(const std::array<bucket*, 2>& two) {
    bucket* const b = two[1]->count() < two[0]->count() ? two[1] : two[0];
    return b->count() < slots ? place{b, free_in(*b)} : place{};
  }

  // The slot does not count yet, and is durable.
  void write(const place& p, const key_type& key, const value_type& value) {
    p.get() = {key, value};
    if (!forget_)
      persist(&p.get(), sizeof(slot));  // or the programmer's mistake, if it was asked for
  }
  static void change_token(bucket& b, uint32_t token) {
    __atomic_store_n(&b.token, token, __ATOMIC_RELEASE);
    persist(&b.token, sizeof b.token);
  }
  static void clear(const place& p) { change_token(*p.at, p.at->token & ~(1U << p.number)); }

  void move(const place& from, const place& to) {
    write(to, from.get().key, from.get().value);
    change_token(*to.at, to.at->token | 1U << to.number);
    clear(from);
  }

  // The only one of the two that it is not in, if that has room.
  static place beside(const bucket* b, const std::array<bucket*, 2>& two) {
    bucket* const other = two[0] == b ? two[1] : two[0];
    return other != b && other->count() < slots ? place{other, free_in(*other)} : place{};
  }

  // A slot for the key, after one movement: within a level, or from the lower one to the upper one.
  place room_by_moving(const key_type& key) {
    for (bucket* b : candidates(key)) {
      const bool above = b >= level_at(upper());
      for (unsigned i = 0; i < slots; ++i) {
        const key_type other = b->slot_at[i].key;
        const auto high = pair(upper(), other);
        place to = above ? beside(b, high) : less_loaded(high);
        if (!to && !above) to = beside(b, pair(upper() - 1, other));
        if (!to) continue;
        move({b, i}, to);
        return {b, i};
      }
    }
    return {};
  }

  place room_for(const key_type& key) {
    for (;;) {
      if (const place p = less_loaded(pair(upper(), key))) return p;
      if (const place p = less_loaded(pair(upper() - 1, key))) return p;
      if (const place p = room_by_moving(key)) return p;
      if (!grow()) return {};
    }
  }

  bool grow() {
    if (upper() == exponent_max || file_grow(&file_, size_with(upper() + 1)) == 0) return false;
    store_word(&h().state, h().state | 1);
    persist(&h().state, sizeof h().state);
    finish_growing();
    return true;
  }

  // Moves the lower level's entries to a new upper level. The old upper one is then the lower one.
  void finish_growing() {
    const unsigned old = upper();
    bucket* const lower = level_at(old - 1);
    for (uint64_t i = 0; i < uint64_t{1} << (old - 1); ++i) {
      for (unsigned k = 0; k < slots; ++k) {
        if (!lower[i].has(k)) continue;
        const place from{&lower[i], k};
        const auto two = pair(old + 1, from.get().key);
        if (is_in(two, from.get().key)) {
          clear(from);  // as far as this came before a power failure
          continue;
        }
        place to = less_loaded(two);
        if (!to) to = less_loaded(pair(old, from.get().key));
        if (!to) {
          std::fprintf(stderr, "%s: the keys are too much alike\n", file_.name);
          std::exit(2);
        }
        move(from, to);
      }
    }
    store_word(&h().state, (old + 1) * 2);
    persist(&h().state, sizeof h().state);
  }

  static bool is_in(const std::array<bucket*, 2>& two, const key_type& key) {
    for (const bucket* b : two)
      for (unsigned i = 0; i < slots; ++i)
        if (b->has(i) && b->slot_at[i].key == key) return true;
    return false;
  }

  void forget_copies() {
    each([&](const place& p) {
      if (find(p.get().key, p)) clear(p);
    });
  }

  bool forget_;
  mapped_file file_{};
};

template <class T>
bool take(const char* word, T& to) {
  const size_t n = std::strlen(word);
  if (n > to.size()) return false;
  std::memcpy(to.data(), word, n);
  return true;
}

void answer(table& t, const char* line) {
  char word[8], first[24], second[24];
  const int n = std::sscanf(line, "%7s %23s %23s", word, first, second);
  const auto is = [&](const char* name, int words) {
    return n == words && std::strcmp(word, name) == 0;
  };
  key_type key;
  value_type value{};
  if (is("check", 1)) return t.check();
  if (is("list", 1))
    return t.each([](const place& p) {
      std::printf("%.16s %.15s\n", p.get().key.bytes.data(), p.get().value.data());
    });
  if (n < 2 || !take(first, key.bytes) || (n == 3 && !take(second, value))) {
    std::puts("what?");
  } else if (is("put", 3)) {
    std::puts(t.put(key, value) ? "put" : "full");
  } else if (is("del", 2)) {
    std::puts(t.del(key) ? "deleted" : "none");
  } else if (is("get", 2)) {
    const place p = t.find(key);
    if (p)
      std::printf("%.15s\n", p.get().value.data());
    else
      std::puts("none");
  } else {
    std::puts("what?");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const arguments got = arguments_of(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  table t(got.file, got.forget_flush != 0);
  char line[128];
  while (std::fgets(line, sizeof line, stdin) != nullptr) answer(t, line);
  return 0;
}
