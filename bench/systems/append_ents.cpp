// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>

#include "systems/append_home.hpp"
#include "systems/ents_on.hpp"

namespace scute::bench {

// The name says which of the ways of ENTS's Figures 5 and 6 it is.
std::unique_ptr<ents_system> make_append_ents(const ents_kind& kind, const ents_task& task) {
  const auto has = [&kind](const char* word) { return kind.name.find(word) != std::string::npos; };
  const workloads::append_ways ways{has("-cached"), has("-padded")};
  // A lane is larger than the caches, where there are enough requests to fill it.
  const uint64_t lane = std::clamp<uint64_t>(std::bit_ceil(task.requests << 10), 1 << 20, 32 << 20);
  const uint64_t objects = workloads::ents::bytes_of(task.what, task.requests);
  return make_ents_on<append_home>(task, task.path, task.threads, lane, ways,
                                   has("-medium") ? (2 * objects + (8 << 20)) & ~4095ULL : 0);
}

}  // namespace scute::bench
