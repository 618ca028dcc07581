// SPDX-License-Identifier: BSD-3-Clause
// The function that libFuzzer calls. The stand-alone driver links this file too, so that it is
// compiled, but does not use it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

#include "input_mutator.hpp"
#include "program.hpp"
#include "run.hpp"

// libFuzzer's own; null without it.
extern "C" [[gnu::weak]] size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  scute::fuzz::run({data, size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned seed) {
  if (LLVMFuzzerMutate != nullptr && seed % 3 == 0) return LLVMFuzzerMutate(data, size, size_max);
  std::mt19937_64 random(seed);
  scute::fuzz::input in(data, data + size);
  if (random() % 16 == 0) in = scute::fuzz::fresh_input(random);
  scute::fuzz::mutate_input(in, random);
  const size_t n = std::min({in.size(), size_max, scute::fuzz::input_size_max});
  std::memcpy(data, in.data(), n);
  return n;
}
