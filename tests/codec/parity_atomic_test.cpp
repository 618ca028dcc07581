// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "codec/parity/parity.hpp"
#include "guarded_buffer.hpp"
#include "seeded.hpp"

namespace scute::core::codec {
namespace {

using test::guarded_buffer;

TEST(ParityAtomic, EqualsThePlainOne) {
  SCUTE_RANDOM(random);
  constexpr size_t size = 512;
  guarded_buffer deltas(size);
  for (int k = 0; k < 4000; ++k) {
    alignas(8) unsigned char words[size];
    random.fill(words, size);
    std::vector<unsigned char> expected(words, words + size);
    const size_t begin =
        k < 2000 ? static_cast<size_t>(random.between(0, 16)) : random.length(size);
    const size_t n = random.length(std::min<size_t>(size - begin, k < 2000 ? 40 : size));
    unsigned char* delta = deltas.place(n, random.between(0, 1) != 0);
    random.fill(delta, n);
    if (random.between(0, 3) == 0) std::fill_n(delta, n / 2, static_cast<unsigned char>(0));

    xor_into_atomic(words + begin, delta, n);
    for (size_t i = 0; i < n; ++i) expected[begin + i] ^= delta[i];
    ASSERT_EQ(std::vector<unsigned char>(words, words + size), expected) << begin << " " << n;
  }
}

// A word that does not change is not even dirtied: the memory here cannot be written.
TEST(ParityAtomic, ZeroWordsAreNotTouched) {
  constexpr size_t size = 4096;
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::vector<unsigned char> zeros(size);
  xor_into_atomic(memory, zeros.data(), size);
  xor_into_atomic(static_cast<unsigned char*>(memory) + 3, zeros.data(), 90);
  ::munmap(memory, size);
}

// Threads hit overlapping ranges that share words. Whatever the order, the result is the XOR of all
// deltas. The ranges lie in two cache lines and are made beforehand, so that the threads do little
// else than collide: with plain XORs this fails.
TEST(ParityAtomic, ThreadsCommute) {
  SCUTE_RANDOM(random);
  constexpr size_t size = 128;
  constexpr unsigned threads = 4;
  constexpr int rounds = 150000;
  struct piece {
    size_t begin;
    std::vector<unsigned char> delta;
  };
  alignas(64) static unsigned char parity[size];
  std::fill_n(parity, size, static_cast<unsigned char>(0));

  std::vector<std::vector<piece>> work(threads);
  for (auto& pieces : work) {
    for (int k = 0; k < 101; ++k) {
      const auto n = static_cast<size_t>(random.between(8, 40));
      pieces.push_back({static_cast<size_t>(random.between(0, size - n)), random.bytes(n)});
    }
  }
  std::vector<std::vector<unsigned char>> sums(threads, std::vector<unsigned char>(size));
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> pool;
  pool.reserve(threads);
  for (unsigned t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] {
      ready.fetch_add(1);
      while (ready.load() < threads) std::this_thread::yield();
      for (int k = 0; k < rounds; ++k) {
        const piece& p = work[t][static_cast<size_t>(k) % work[t].size()];
        xor_into_atomic(parity + p.begin, p.delta.data(), p.delta.size());
        xor_into(sums[t].data() + p.begin, p.delta.data(), p.delta.size());
      }
    });
  }
  for (auto& thread : pool) thread.join();
  for (const auto& sum : sums) xor_into(parity, sum.data(), size);
  EXPECT_TRUE(is_zero(parity, size));
}

}  // namespace
}  // namespace scute::core::codec
