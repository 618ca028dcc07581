// SPDX-License-Identifier: BSD-3-Clause
// Many values live in registers, general and vector ones, while hooks spoil all they may (HOOK-7).
//
// options: detect,loads
// flags: -mavx2 -mfma -ffast-math
// log: any
#include <immintrin.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "view.h"

namespace {

// Every round stores, loads and fences between computations over 12 words and 12 vectors.
template <bool Tell>
__attribute__((noinline)) uint64_t compute(uint64_t* place, int rounds) {
  uint64_t w[12];
  __m256 v[12];
  for (int i = 0; i < 12; ++i) {
    w[i] = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15U + 1;
    v[i] = _mm256_set1_ps(static_cast<float>(i + 1));
  }
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 12; ++i) {
      w[i] = (w[i] ^ w[(i + 5) % 12]) * 0xff51afd7ed558ccdU + static_cast<uint64_t>(round);
      v[i] = _mm256_fmadd_ps(v[i], _mm256_set1_ps(0.25F), v[(i + 7) % 12]);
      v[i] = _mm256_min_ps(v[i], _mm256_set1_ps(100.0F));
      if (Tell) {
        place[w[i] % 64] = w[i];
        if (i % 4 == 0) std::atomic_ref<uint64_t>(place[64]).fetch_add(1);
        w[i] += place[100];
      }
    }
  }
  float lanes[8];
  uint64_t sum = 0;
  for (int i = 0; i < 12; ++i) {
    _mm256_storeu_ps(lanes, v[i]);
    uint32_t bits[8];
    std::memcpy(bits, lanes, sizeof bits);
    for (const auto b : bits) sum = sum * 31 + b;
    sum = sum * 31 + w[i];
  }
  return sum;
}

}  // namespace

int main() {
  auto* place = reinterpret_cast<uint64_t*>(view_map());
  return compute<true>(place, 300) == compute<false>(place, 300) ? 0 : 1;
}
