// SPDX-License-Identifier: BSD-3-Clause
// scute-sim-count I1 D1 LL: counts misses of the references
// that valgrind's lackey prints (standard input), with the simulator's tags, the way cachegrind
// counts: a write is a reference like a read, one that spans two lines is one reference and one
// miss at most, and what the first level misses goes to the last one. A cache is SETS,WAYS of
// 64-byte lines.
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "machine/line_cache.hpp"

namespace scute::sim {
namespace {

struct tag {
  uint64_t key;
};
using tags = line_cache<tag>;

tags cache_of(std::string_view text) {
  unsigned sets = 0, ways = 0;
  const auto comma = text.find(',');
  const auto number = [&](std::string_view part, unsigned& to) {
    return std::from_chars(part.data(), part.data() + part.size(), to).ec == std::errc() && to != 0;
  };
  if (comma == std::string_view::npos || !number(text.substr(0, comma), sets) ||
      !number(text.substr(comma + 1), ways))
    throw std::invalid_argument("a cache is SETS,WAYS: " + std::string(text));
  return {sets, ways};
}

bool hits(tags& c, uint64_t address, uint64_t bytes) {
  bool all = true;
  for (uint64_t line = address / 64; line <= (address + bytes - 1) / 64; ++line) {
    if (c.use(line) != nullptr) continue;
    c.insert(line);
    all = false;
  }
  return all;
}

// Of each kind: references, misses of the first level, misses of the last one.
enum count : uint8_t { fetches = 0, reads = 3, writes = 6, counts = 9 };

int count_all(char** arguments) {
  tags i1 = cache_of(arguments[1]), d1 = cache_of(arguments[2]), last = cache_of(arguments[3]);
  std::array<uint64_t, counts> n{};
  const auto refer = [&](tags& first, count base, uint64_t address, uint64_t bytes) {
    ++n[base];
    if (hits(first, address, bytes)) return;
    ++n[base + 1];
    if (!hits(last, address, bytes)) ++n[base + 2];
  };
  for (std::string line; std::getline(std::cin, line);) {
    unsigned long long address = 0, bytes = 0;
    char kind = 0;
    if (std::sscanf(line.c_str(), " %c %llx,%llu", &kind, &address, &bytes) != 3) continue;
    if (kind == 'I') refer(i1, fetches, address, bytes);
    // A modification is a read to cachegrind: the write that follows hits.
    if (kind == 'L' || kind == 'M') refer(d1, reads, address, bytes);
    if (kind == 'S') refer(d1, writes, address, bytes);
  }
  const char* const names[] = {"Ir", "I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw"};
  for (unsigned i = 0; i < counts; ++i)
    std::printf("%s %llu\n", names[i], static_cast<unsigned long long>(n[i]));
  return 0;
}

}  // namespace
}  // namespace scute::sim

int main(int n, char** arguments) {
  try {
    if (n != 4) throw std::invalid_argument("three caches are needed: I1 D1 LL");
    return scute::sim::count_all(arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "scute-sim-count: %s\n", e.what());
    return 2;
  }
}
