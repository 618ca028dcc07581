// SPDX-License-Identifier: BSD-3-Clause
#include "core/layout/engines.hpp"

#include "codec/parity/reed_solomon.hpp"

namespace scute::core::pool {
namespace {

// On disks one sequential write and one sync of a small file replace those of random pages
// (docs/internals/speculative.md).
constexpr bool spec_first_on_disks = true;

constexpr engine_facts all[] = {
    {SCUTE_ENGINE_REDO, "redo", SCUTE_PROTECT_NONE, 1, false, false, true, true, false, false},
    {SCUTE_ENGINE_SPEC, "spec", SCUTE_PROTECT_NONE, codec::reed_solomon::parities_max, false, true,
     true, false, spec_first_on_disks, true},
    {SCUTE_ENGINE_LOGFREE, "logfree", SCUTE_PROTECT_MLPC, codec::reed_solomon::parities_max, true,
     true, false, true, false, false},
};

}  // namespace

std::span<const engine_facts> engines() noexcept {
  return all;
}

const engine_facts& automatic_engine(std::span<const engine_facts> all, scute_protection protection,
                                     bool on_disk) noexcept {
  if (on_disk)
    for (const engine_facts& e : all)
      if (e.first_on_disks && protection >= e.least) return e;
  size_t i = all.size() - 1;
  while (i != 0 && (!all[i].automatic || protection < all[i].least)) --i;
  return all[i];
}

const engine_facts& lender_of_logs(uint32_t parities) noexcept {
  return *find_engine(
      static_cast<uint32_t>(parities > 1 ? SCUTE_ENGINE_LOGFREE : SCUTE_ENGINE_REDO));
}

const engine_facts* find_engine(uint32_t id) noexcept {
  for (const engine_facts& e : all)
    if (static_cast<uint32_t>(e.id) == id) return &e;
  return nullptr;
}

}  // namespace scute::core::pool
