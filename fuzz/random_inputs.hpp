// SPDX-License-Identifier: BSD-3-Clause
// The main program of fuzzers whose inputs are a head of 4 bytes and changes of 8: --runs N random
// ones of --seed S, --lie (it must then fail), and those of files.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <vector>

namespace scute::fuzz {

// run(input); lie(): from now on.
template <typename Run, typename Lie>
int run_inputs(int argc, char** argv, size_t changes_max, Run&& run, Lie&& lie) {
  // A run takes milliseconds; one that takes so long hangs (SIGALRM ends the process).
  constexpr unsigned seconds_max = 60;
  const auto one = [&](std::span<const uint8_t> in) {
    ::alarm(seconds_max);
    run(in);
    ::alarm(0);
  };
  uint64_t runs = 0, seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--lie") == 0) {
      lie();
    } else {
      std::ifstream file(argv[i], std::ios::binary);
      const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
      one({reinterpret_cast<const uint8_t*>(content.data()), content.size()});
    }
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < runs; ++i) {
    std::vector<uint8_t> in(4 + 8 * (random() % 4 == 0 ? random() % changes_max : random() % 4));
    for (uint8_t& b : in) b = static_cast<uint8_t>(random());
    // The last input is there to be looked at when this process has died.
    std::ofstream("last-input", std::ios::binary)
        .write(reinterpret_cast<const char*>(in.data()), static_cast<std::streamsize>(in.size()));
    one(in);
  }
  std::printf("%llu runs\n", static_cast<unsigned long long>(runs));
  return 0;
}

}  // namespace scute::fuzz
