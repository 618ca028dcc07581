// SPDX-License-Identifier: BSD-3-Clause
// scute-fuzz-shield: random inputs, or those of files. --runs N --seed S, --lie (it must then fail), FILE...
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "run.hpp"
#include "shielded_image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  scute::fuzz::run_shielded({data, size});
  return 0;
}

#ifndef SCUTE_FUZZ_GUIDED
namespace {

// A run takes milliseconds; one that takes so long hangs (SIGALRM ends the process).
constexpr unsigned seconds_max = 60;

void run_one(const std::vector<uint8_t>& in) {
  ::alarm(seconds_max);
  scute::fuzz::run_shielded(in);
  ::alarm(0);
}

void run_random(uint64_t runs, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < runs; ++i) {
    std::vector<uint8_t> in(4 + 8 * (random() % 4 == 0 ? random() % 16 : random() % 4));
    for (uint8_t& b : in) b = static_cast<uint8_t>(random());
    // The last input is there to be looked at when this process has died.
    std::ofstream("last-input", std::ios::binary)
        .write(reinterpret_cast<const char*>(in.data()), static_cast<std::streamsize>(in.size()));
    run_one(in);
  }
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 0, seed = 1;
  scute::fuzz::shielded_images();
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--lie") == 0) {
      scute::fuzz::planted_lie = true;
    } else {
      std::ifstream file(argv[i], std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      run_one({bytes.begin(), bytes.end()});
    }
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  run_random(runs, seed);
  std::printf("%llu runs\n", static_cast<unsigned long long>(runs));
  return 0;
}
#endif
