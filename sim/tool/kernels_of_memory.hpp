// SPDX-License-Identifier: BSD-3-Clause
// Loops of a few instructions that show how lines become durable; fetching of code; and some
// ordinary code.
#pragma once

#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tool/kernels_of_core.hpp"

namespace scute::sim {

// ---- writes -------------------------------------------------------------------------------------
template <size_t Bytes, bool Stream, bool Flush>
void write_block(unsigned n) {
  const __m256i v = _mm256_set1_epi8(7);
  for (unsigned i = 0; i < n; ++i) {
    char* const p = fresh(Bytes);
    for (size_t at = 0; at < Bytes; at += 32) {
      if constexpr (Stream)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(p + at), v);
      else
        _mm256_store_si256(reinterpret_cast<__m256i*>(p + at), v);
    }
    if constexpr (Flush)
      for (size_t at = 0; at < Bytes; at += line) flush(p + at);
    fence();
    asm volatile("mfence" ::: "memory");
  }
}
// As an overwrite with an undo log does it: the old content into the log, then the new one over it.
template <size_t Bytes, bool Stream>
void copy_and_write(unsigned n) {
  char* const log = the->home;
  for (unsigned i = 0; i < n; ++i) {
    char* const p = fresh(Bytes);
    for (size_t at = 0; at < Bytes; at += 32) {
      const __m256i old = _mm256_load_si256(reinterpret_cast<const __m256i*>(p + at));
      if constexpr (Stream)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(log + at), old);
      else
        _mm256_store_si256(reinterpret_cast<__m256i*>(log + at), old);
    }
    if constexpr (!Stream)
      for (size_t at = 0; at < Bytes; at += line) flush(log + at);
    fence();
    const __m256i v = _mm256_set1_epi8(static_cast<char>(i));
    for (size_t at = 0; at < Bytes; at += 32)
      _mm256_store_si256(reinterpret_cast<__m256i*>(p + at), v);
    for (size_t at = 0; at < Bytes; at += line) flush(p + at);
    fence();
  }
}
inline void flush_fence(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
  }
}
inline void flush_fence_compute(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
    compute(150);
  }
}
inline void flush_fence_lock(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
    asm volatile("lock addq $1, (%0)" ::"r"(the->near) : "memory", "cc");
    compute(150);
  }
}
inline void flush_lock(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    asm volatile("lock addq $1, (%0)" ::"r"(the->near) : "memory", "cc");
    compute(150);
  }
}
inline void flush_then_load(unsigned n) {
  // The line again after its write-back.
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
    kept += *static_cast<volatile uint64_t*>(static_cast<void*>(the->home));
    compute(150);
  }
}
// Each time another line of a few that are in the caches.
inline char* other_line(unsigned i) {
  return the->home + i % 64 * line;
}
inline void flush_others(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(other_line(i)) = static_cast<char>(i);
    flush(other_line(i));
    fence();
  }
}
inline void flush_others_lock(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(other_line(i)) = static_cast<char>(i);
    flush(other_line(i));
    fence();
    asm volatile("lock addq $1, (%0)" ::"r"(the->near) : "memory", "cc");
    compute(150);
  }
}
// Four lines at once.
inline void flush_four(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned k = 0; k < 4; ++k)
      *static_cast<volatile char*>(other_line(4 * i + k)) = static_cast<char>(i);
    for (unsigned k = 0; k < 4; ++k) flush(other_line(4 * i + k));
    fence();
  }
}
// Long after: is a line that was written back still in the caches?
inline void flush_later_load(unsigned n) {
  uint64_t zero = 0;
  for (unsigned i = 0; i < n; ++i) {
    *static_cast<volatile char*>(the->home) = static_cast<char>(i);
    flush(the->home);
    fence();
    compute(1500);
    asm volatile("lfence\n mov (%1), %0\n and $0, %0\n lfence"
                 : "=r"(zero)
                 : "r"(the->home)
                 : "memory", "cc");
    compute(150);
  }
}
inline void later_load(unsigned n) {
  uint64_t zero = 0;
  for (unsigned i = 0; i < n; ++i) {
    compute(1500);
    asm volatile("lfence\n mov (%1), %0\n and $0, %0\n lfence"
                 : "=r"(zero)
                 : "r"(the->home)
                 : "memory", "cc");
    compute(150);
  }
}
inline void stream_fence(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    char* const p = other_line(i);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), _mm256_set1_epi8(1));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p + 32), _mm256_set1_epi8(1));
    fence();
  }
}
// A line of non-temporal stores, and a load of it that the next one hangs on.
template <bool Fence, size_t Bytes>
void stream_load(unsigned n) {
  uint64_t x = 0;
  for (unsigned i = 0; i < n; ++i) {
    char* const p = other_line(i) + x;
    for (size_t at = 0; at < Bytes; at += 32)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(p + at), _mm256_set1_epi8(1));
    if constexpr (Fence) fence();
    asm volatile("mov (%1), %0\n and $0, %0" : "=r"(x) : "r"(p) : "memory", "cc");
  }
  kept += x;
}
// Two small stores after a fence, and a load of both.
inline void blocked_load(unsigned n) {
  uint64_t x = 0;
  for (unsigned i = 0; i < n; ++i) {
    char* const p = other_line(i) + x;
    *static_cast<volatile char*>(p) = static_cast<char>(i);
    flush(p);
    fence();
    asm volatile(
        "movq %1, (%2)\n movq %1, 8(%2)\n movdqu (%2), %%xmm0\n movq %%xmm0, %0\n and $0, %0"
        : "=r"(x)
        : "r"(x), "r"(the->near)
        : "memory", "cc", "xmm0");
  }
  kept += x;
}
inline void lock(unsigned n) {
  for (unsigned i = 0; i < n; ++i)
    asm volatile("lock addq $1, (%0)" ::"r"(the->near) : "memory", "cc");
}
inline void computes(unsigned n) {
  for (unsigned i = 0; i < n; ++i) compute(150);
}

// ---- code ---------------------------------------------------------------------------------------
inline char* code;
template <size_t Bytes>
void fetch_code(unsigned n) {
  for (unsigned i = 0; i < n; ++i) reinterpret_cast<void (*)()>(code)();
}
// Blocks of a line each, in a random order, each of ten additions and a jump to the next.
inline void prepare_code(size_t bytes) {
  code = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const size_t blocks = bytes / line;
  std::vector<uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(5));
  for (size_t i = 0; i < blocks; ++i) {
    char* at = code + size_t{order[i]} * line;
    for (int k = 0; k < 10; ++k) {
      const unsigned char add[] = {0x48, 0x83, 0xc0, 1};  // add $1, %rax
      std::memcpy(at, add, 4);
      at += 4;
    }
    if (i + 1 == blocks) {
      *at = static_cast<char>(0xc3);
      break;
    }
    const char* const to = code + size_t{order[i + 1]} * line;
    *at = static_cast<char>(0xe9);
    const auto by = static_cast<int32_t>(to - (at + 5));
    std::memcpy(at + 1, &by, 4);
  }
}

// ---- ordinary code ------------------------------------------------------------------------------
inline void prints(unsigned n) {
  char text[80];
  for (unsigned i = 0; i < n; ++i)
    kept += static_cast<uint64_t>(
        std::snprintf(text, sizeof text, "%u %s %lx", i * 7919, "word", kept));
}
inline void allocates(unsigned n) {
  static void* held[64];
  for (unsigned i = 0; i < n; ++i) {
    void*& at = held[the->coins[i] * 32 + i * 7 % 32];
    std::free(at);
    at = std::malloc(24 + i % 9 * 40);
  }
}
inline void sorts(unsigned n) {
  std::array<uint64_t, 256> all;
  for (unsigned i = 0; i < n; ++i) {
    uint64_t x = i + 1;
    for (uint64_t& each : all) each = x = x * 6364136223846793005 + 1442695040888963407;
    std::ranges::sort(all);
    kept += all[3];
  }
}
inline void trees(unsigned n) {
  std::map<uint64_t, uint64_t> tree;
  uint64_t x = 1;
  for (unsigned i = 0; i < n; ++i) {
    x = x * 6364136223846793005 + 1442695040888963407;
    tree[x >> 50] += i;
  }
  kept += tree.size();
}
inline void strings(unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    std::string s = "a string that does not fit where it lies";
    s += static_cast<char>('a' + i % 26);
    kept += std::hash<std::string>()(s);
  }
}

}  // namespace scute::sim
