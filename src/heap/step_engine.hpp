// SPDX-License-Identifier: BSD-3-Clause
// What the heap needs of a commit engine: to make a few header changes durable and atomic at once,
// before the transaction that needs them (docs/architecture.md, "Glossary": step).
#pragma once

#include <span>

#include "pool/lane.hpp"

namespace scute::core::heap {

class step_engine {
 public:
  virtual ~step_engine() = default;
  // All or nothing, and durable when it returns. The patches together must fit the lane's log.
  virtual void step(pool::lane& l, std::span<const pool::patch> patches) = 0;
  // Writes bytes that nothing vouches for, with their parity; durable when it returns. Not atomic: a crash leaves any
  // of them, but columns that add up, or that the engine's recovery makes so. At most 64 patches.
  virtual void write_unlogged(pool::lane& l, std::span<const pool::patch> patches) = 0;
  // Before [chunk, chunk + length) of the file, where objects have lain, gets another use: whatever the
  // engine keeps of transactions that had written there is over (HEAP-3).
  virtual void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) = 0;
};

}  // namespace scute::core::heap
