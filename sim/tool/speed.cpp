// SPDX-License-Identifier: BSD-3-Clause
// scute-sim-speed MACHINE [REFERENCES]: how fast the model
// alone is, on one core of the machine that it runs on: references per second, for several mixes.
// Addresses and branches are drawn beforehand, so that only the model is in the time.
#include <time.h>

#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace scute::sim {
namespace {

constexpr uint64_t place = uint64_t{1} << 40;

struct mix {
  const char* name;
  double others;   // instructions without a reference, for each that has one
  double far;      // share of references outside of 16 KiB, in 8 MiB
  double flushed;  // share of stores that are written back
};
const mix mixes[] = {
    {"one other instruction per reference", 1, 0, 0},
    {"three, all hits", 3, 0, 0},
    {"the workloads' own: 1.2 others, 1 of 100 misses, 1 of 100 stores written back", 1.2, 0.01,
     0.01},
    {"one other, 1 of 10 misses", 1, 0.1, 0},
};

struct step {
  uint64_t address;
  uint16_t op;  // its number
  bool refers, stores, ends, taken;
};
// Different instructions, as those of a program are: few enough for a cache.
constexpr size_t operations = 512;

double seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void measure(const settings& s, const mix& m, uint64_t references) {
  std::mt19937_64 random(9);
  const auto chance = [&](double p) { return static_cast<double>(random() >> 11) < p * 0x1p53; };
  std::vector<operation> ops(operations), pushing(operations);
  for (size_t i = 0; i < operations; ++i) {
    ops[i].from[0] = static_cast<uint8_t>(random() % 16);
    ops[i].to[0] = static_cast<uint8_t>(random() % 16);
    ops[i].address[0] = static_cast<uint8_t>(random() % 16);
    pushing[i] = ops[i];
    pushing[i].kind = operation_kind::write_back;
  }
  ops.insert(ops.end(), pushing.begin(), pushing.end());
  static constexpr operation plain;
  std::vector<step> steps(1U << 16);
  uint64_t referring = 0;
  for (step& each : steps) {
    each = {};
    each.refers = chance(1 / (1 + m.others));
    each.stores = chance(0.35);
    const uint64_t at =
        chance(m.far) ? random() % (uint64_t{8} << 20) : random() % (uint64_t{16} << 10);
    each.address = place + at / 8 * 8;
    each.op = static_cast<uint16_t>(random() % operations);
    if (each.stores && chance(m.flushed)) {
      each.op = static_cast<uint16_t>(each.op + operations);
      each.stores = false;
    }
    each.ends = chance(0.18);
    each.taken = chance(0.9);
    referring += each.refers;
  }
  machine on(s);
  on.mem.add_persistent(place, uint64_t{16} << 20);
  core& c = on.cores[0];
  uint64_t done = 0, code = 0x400000;
  const double from = seconds();
  while (done < references) {
    for (const step& each : steps) {
      if (each.refers) {
        const reference r{each.address, 8, each.stores};
        c.run(ops[each.op], {&r, 1});
      } else {
        c.run(plain, {});
      }
      if (!each.ends) continue;
      const uint64_t next = 0x400000 + (code * 7 + 64) % 0x4000;
      c.enter_block(each.taken ? next : code + 2, {code, code + 2, block_exit::branches});
      code = next;
    }
    done += referring;
  }
  const double took = seconds() - from;
  std::printf("%-76s %7.1f million references, %7.1f million instructions per second\n", m.name,
              static_cast<double>(done) / took / 1e6,
              static_cast<double>(c.counted().instructions) / took / 1e6);
}

}  // namespace
}  // namespace scute::sim

int main(int n, char** arguments) {
  using namespace scute::sim;
  try {
    if (n < 2) throw std::invalid_argument("MACHINE [REFERENCES] are needed");
    const uint64_t references = n > 2 ? std::stoull(arguments[2]) : 20'000'000;
    for (const mix& m : mixes) measure(read_settings(arguments[1]), m, references);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "scute-sim-speed: %s\n", e.what());
    return 2;
  }
}
