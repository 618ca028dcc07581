// SPDX-License-Identifier: BSD-3-Clause
// Random transactions of all kinds, on lanes in turn. A
// step's action follows from its number, the seed, and the pool's content.
#include "scenarios/catalogue.hpp"
#include "scenarios/random_change.hpp"

namespace scute::explore {
namespace {

testing::scenario random(const std::string& name, scute_options o, uint64_t seed, unsigned steps) {
  testing::scenario s(name, o);
  s.may_run_full().lanes_in_turn();
  s.setup([seed](scute::pool& p) {
    make_directories(p);
    for (unsigned k = 0; k < 4; ++k) {
      try {
        change_at_random(p, 0, seed * 1000 + 900 + k);
      } catch (const scute::error& e) {
        if (e.which() != errc::nospc) throw;
      }
    }
  });
  for (unsigned k = 0; k < steps; ++k)
    s.step("random transaction " + std::to_string(k),
           [n = seed * 1000 + k](scute::pool& p) { change_at_random(p, 0, n); });
  s.observe([](scute::pool& p) { return contents(p, 0); });
  return s;
}

}  // namespace

void add_random_scenarios(std::vector<entry>& to) {
  constexpr unsigned steps = 16;
  for (const level& l : every_level)
    to.push_back({std::string("random/") + l.name, "random transactions", [l](uint64_t seed) {
                    return random(std::string("random/") + l.name,
                                  testing::small_pool(l.protection), seed, steps);
                  }});
  to.push_back(
      {"random/adler32", "random transactions, with Adler-32 checksums", [](uint64_t seed) {
         scute_options o = testing::small_pool(redo);
         o.checksum = SCUTE_CHECKSUM_ADLER32;
         return random("random/adler32", o, seed, steps);
       }});
  to.push_back({"random/adler32-logfree", "the same, log-free", [](uint64_t seed) {
                  scute_options o = testing::small_pool(logfree);
                  o.checksum = SCUTE_CHECKSUM_ADLER32;
                  return random("random/adler32-logfree", o, seed, steps);
                }});
  for (const level& l : {levels[3], levels[4], levels[5], spec_levels[0], spec_levels[1]}) {
    const std::string name = l.protection.engine == SCUTE_ENGINE_REDO
                                 ? "random/larger"
                                 : "random/larger-" + std::string(l.name);
    to.push_back({name, "random transactions in a pool of 1 MiB", [l, name](uint64_t seed) {
                    scute_options o = testing::small_pool(l.protection);
                    o.size = 1u << 20;
                    return random(name, o, seed, 2 * steps);
                  }});
  }
}

}  // namespace scute::explore
