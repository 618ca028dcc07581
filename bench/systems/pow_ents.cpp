// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "systems/ents_on.hpp"
#include "systems/pow_home.hpp"

namespace scute::bench {

std::unique_ptr<ents_system> make_pow_ents(const ents_kind& kind, const ents_task& task) {
  const uint64_t objects = workloads::ents::bytes_of(task.what, task.requests);
  // The file that a cleaner at its default works on, and what is open.
  const uint64_t size = (3 * objects + (uint64_t{64} << 20)) & ~uint64_t{4095};
  return make_ents_on<pow_home>(
      task, task.path, kind.config == "pow-none" ? SCUTE_POW_NONE : SCUTE_POW_ALWAYS, size);
}

}  // namespace scute::bench
