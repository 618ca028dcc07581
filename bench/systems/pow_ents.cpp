// SPDX-License-Identifier: BSD-3-Clause
#include "systems/ents_on.hpp"
#include "systems/pow_home.hpp"

namespace scute::bench {

// The name says which of the ways of ENTS's Figures 5 and 6 it is.
std::unique_ptr<ents_system> make_pow_ents(const ents_kind& kind, const ents_task& task) {
  const auto has = [&kind](const char* word) { return kind.name.find(word) != std::string::npos; };
  const uint64_t objects = workloads::ents::bytes_of(task.what, task.requests);
  // The file that a cleaner at its default works on, and what is open.
  const uint64_t size = (3 * objects + (uint64_t{64} << 20)) & ~uint64_t{4095};
  const workloads::pow_ways ways{has("-cached"), has("-padded")};
  return make_ents_on<pow_home>(task, task.path, has("-none") ? SCUTE_POW_NONE : SCUTE_POW_ALWAYS,
                                size, ways,
                                has("-medium") ? (2 * objects + (8 << 20)) & ~4095ULL : 0);
}

}  // namespace scute::bench
