// SPDX-License-Identifier: BSD-3-Clause
// The engines, as data: how a pool may be made, and the properties of the running engine that other
// parts need. Engines are not compared by their numbers; session/factory.hpp makes one.
#pragma once

#include <cstdint>
#include <span>

#include "scute/scute.h"

namespace scute::core::pool {

struct engine_facts {
  scute_engine id;         // in the superblock
  const char* name;        // in options
  scute_protection least;  // the least protection that it needs
  uint32_t parities_max;
  // The parity is the undo log: a commit leaves columns open for a while, a crash leaves some to be
  // resolved, and what is not in step in a column may be a transaction's. Windows cover whole
  // fragments.
  bool parity_is_log;
  // it has a short way for small objects that are changed or made, not only freed (tx/engine.hpp)
  bool takes_small;
  // it has one where objects have no checksums, though not for ranges in place
  bool takes_unchecked;
  bool automatic;  // SCUTE_ENGINE_AUTO may choose it
  // SCUTE_ENGINE_AUTO takes it before all others where the log has a file of its own, which is on
  // disks.
  bool first_on_disks;
  // its log is lent by the heap permanently; so a pool is made with another engine and switched to
  // it
  bool log_in_chunks;
};

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
