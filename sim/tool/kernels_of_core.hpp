// SPDX-License-Identifier: BSD-3-Clause
// Loops of a few instructions that show what a core does by itself: branches, what a store leaves
// to a load, reads.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace scute::sim {

constexpr size_t home_bytes = size_t{96} << 20, line = 64, huge = size_t{2} << 20;
constexpr unsigned times_max = 21, coins_max = 1U << 20;

struct scene {
  char* home;                     // persistent memory, cold
  alignas(line) char near[8192];  // in DRAM, warm
  std::vector<uint32_t> order;    // blocks of home, at random
  std::vector<uint8_t> coins, pattern;
  uint64_t from = 0;  // the used part of `order`
};
inline scene* the;
inline uint64_t kept;  // results, so that they are computed

// A place that was not used before, in blocks of that size.
inline char* fresh(size_t block) {
  const uint64_t at = the->from++;
  // Small ones somewhere in their page.
  return the->home + size_t{the->order[at % the->order.size()]} * 4096 +
         at * 2654435761 % (4096 / block) * block;
}

inline void flush(const void* at) {
  asm volatile("clwb (%0)" ::"r"(at) : "memory");
}
inline void fence() {
  asm volatile("sfence" ::: "memory");
}
inline void compute(unsigned rounds) {
  asm volatile("1: add $1, %%rax; add $1, %%rax; add $1, %%rax; dec %0; jnz 1b"
               : "+r"(rounds)::"rax", "cc");
}

inline void adds(unsigned n) {
  for (unsigned i = 0; i < n; ++i) asm volatile(".rept 20\n add $1, %%rax\n .endr" ::: "rax", "cc");
}

// ---- branches -----------------------------------------------------------------------------------
inline void branch(const std::vector<uint8_t>& by, unsigned n, unsigned period) {
  uint64_t sum = 0;
  const uint8_t* const p = by.data();
  unsigned at = static_cast<unsigned>(the->from);
  for (unsigned i = 0; i < n; ++i) {
    asm volatile("testb $1, (%1)\n jz 1f\n add $3, %0\n 1:" : "+r"(sum) : "r"(p + at) : "cc");
    at = at + 1 == period ? 0 : at + 1;
  }
  the->from = at;
  kept += sum;
}
inline void branches_random(unsigned n) {
  branch(the->coins, n, coins_max);
}
inline void branches_pattern(unsigned n) {
  branch(the->coins, n, 24);
}
inline void branches_loop(unsigned n) {
  for (unsigned i = 0; i < n; ++i) compute(9);
}
inline uint64_t one(uint64_t x) {
  return x + 1;
}
inline uint64_t two(uint64_t x) {
  return x ^ 2;
}
inline uint64_t three(uint64_t x) {
  return x * 3;
}
inline void calls_widely(unsigned n) {
  static uint64_t (*const volatile all[])(uint64_t) = {one, two, three};
  uint64_t x = 1;
  for (unsigned i = 0; i < n; ++i) x = all[the->pattern[i % 12]](x);
  kept += x;
}

// ---- stores that are loaded ---------------------------------------------------------------------
inline void forward(unsigned n) {
  uint64_t* const p = reinterpret_cast<uint64_t*>(the->near);
  for (unsigned i = 0; i < n; ++i) asm volatile("addq $1, (%0)" ::"r"(p) : "memory", "cc");
}
inline void forward_renamed(unsigned n) {
  uint64_t* p = reinterpret_cast<uint64_t*>(the->near);
  uint64_t x = 0;
  for (unsigned i = 0; i < n; ++i) {
    // The address of the load is known late, and is no register of the store's.
    asm volatile("mov %0, (%1)\n lea 8(%1), %%rax\n mov -8(%%rax), %0\n add $1, %0"
                 : "+r"(x)
                 : "r"(p)
                 : "rax", "memory", "cc");
  }
  kept += x;
}
inline void forward_cold(unsigned n) {
  uint64_t x = 0;
  for (unsigned i = 0; i < n; ++i) {
    // The next address hangs on what was loaded.
    char* const p = fresh(line) + x;
    asm volatile("mov %0, (%1)\n mov (%1), %0\n .rept 100\n add $1, %0\n .endr\n and $0, %0"
                 : "+r"(x)
                 : "r"(p)
                 : "memory", "cc");
  }
  kept += x;
}

// ---- reads --------------------------------------------------------------------------------------
template <size_t Bytes>
void chase(unsigned n) {
  // A ring through all lines, made beforehand by prepare_chase().
  uint64_t* p = reinterpret_cast<uint64_t*>(the->from != 0 ? the->from
                                                           : reinterpret_cast<uint64_t>(the->home));
  for (unsigned i = 0; i < n; ++i)
    p = reinterpret_cast<uint64_t*>(*static_cast<volatile uint64_t*>(p));
  the->from = reinterpret_cast<uint64_t>(p);
}
inline void prepare_chase(size_t bytes) {
  const size_t lines = bytes / line;
  std::vector<uint32_t> ring(lines);
  std::iota(ring.begin(), ring.end(), 0);
  std::shuffle(ring.begin() + 1, ring.end(), std::mt19937_64(11));
  for (size_t i = 0; i < lines; ++i)
    *reinterpret_cast<uint64_t*>(the->home + ring[i] * line) =
        reinterpret_cast<uint64_t>(the->home + ring[(i + 1) % lines] * line);
}
inline void misses(unsigned n) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += *reinterpret_cast<volatile uint64_t*>(fresh(line));
  kept += sum;
}
template <size_t Bytes>
void read_block(unsigned n) {
  __m256i sum = _mm256_setzero_si256();
  for (unsigned i = 0; i < n; ++i) {
    const char* const p = fresh(Bytes);
    for (size_t at = 0; at < Bytes; at += 32)
      sum = _mm256_add_epi64(sum, _mm256_load_si256(reinterpret_cast<const __m256i*>(p + at)));
    asm volatile("lfence" ::: "memory");
  }
  kept += static_cast<uint64_t>(_mm256_extract_epi64(sum, 0));
}

}  // namespace scute::sim
