// SPDX-License-Identifier: BSD-3-Clause
// The engines, as data: how a pool may be made, and the properties of the running engine that other
// parts need. Engines are not compared by their numbers; core/session/factory.hpp makes one.
#pragma once

#include <cstdint>
#include <span>

#include "scute/scute.h"

namespace scute::core::pool {

struct engine_facts {
  scute_engine id;         // its number in the superblock
  const char* name;        // its name in options
  scute_protection least;  // the least protection that it needs
  uint32_t parities_max;
  // The parity is the undo log: a commit leaves columns open for a while, and a crash leaves some
  // to be resolved. An inconsistency in a column may then be a transaction's. Windows cover whole
  // fragments.
  bool parity_is_log;
  // it has a short path for small objects that are changed or made, not only freed
  // (core/tx/engine.hpp)
  bool takes_small;
  // it has one for pools without object checksums, but not for ranges in place
  bool takes_unchecked;
  bool automatic;  // SCUTE_ENGINE_AUTO may choose it
  // SCUTE_ENGINE_AUTO prefers it if the log has a file of its own, as on disks.
  bool first_on_disks;
  // the heap lends its log permanently; so a pool is made with another engine and switched to it
  bool log_in_chunks;
};

// The protection of a new pool.
constexpr scute_protection level_of(const scute_options& o) noexcept {
  return o.protection == SCUTE_PROTECT_AUTO ? SCUTE_PROTECT_MLPC : o.protection;
}

// In the order in which SCUTE_ENGINE_AUTO searches for one for which the protection suffices, the
// last one first.
std::span<const engine_facts> engines() noexcept;
// The engine that it chooses among these, at least one of which suits every protection.
const engine_facts& automatic_engine(std::span<const engine_facts> all, scute_protection protection,
                                     bool on_disk) noexcept;
// The engine under which chunks are lent to the log of an engine with log_in_chunks, for this
// number of parities.
const engine_facts& lender_of_logs(uint32_t parities) noexcept;
// Null: there is no such engine.
const engine_facts* find_engine(uint32_t id) noexcept;

}  // namespace scute::core::pool
