// SPDX-License-Identifier: BSD-3-Clause
// What the heap needs of a commit engine: to make a few header changes durable and atomic at once,
// before the transaction that needs them (docs/internals/architecture.md, "Glossary": step).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "pool/lane.hpp"

namespace scute::core::heap {

class step_engine {
 public:
  virtual ~step_engine() = default;
  // All or nothing, and durable when it returns. The patches together must fit the lane's log.
  virtual void step(pool::lane& l, std::span<const pool::patch> patches) = 0;
  // True if commits take patches of the heap along (heap/pending_steps.hpp): they ask nothing of
  // the heap then, no chunk for a log either. For engines to which a fence is dear.
  virtual bool takes_steps_along() const noexcept { return false; }
  // Writes bytes that no valid header vouches for yet (the payload of a new object, the zeros of a
  // chunk that a log gets), with their parity; durable when it returns, but not atomic: after a
  // crash recovery sees to it that the columns add up, whatever of it is there. Keeps the log of
  // large allocations small, and is how further slots of a run are formatted.
  virtual void prewrite(pool::lane& l, std::span<const pool::patch> patches) = 0;
  // The same where recovery does not come: in a pool in the making. Durable at the lane's next
  // fence, at the latest.
  virtual void write_unlogged(pool::lane& l, std::span<const pool::patch> patches) = 0;
  // Before [chunk, chunk + length) of the file, where objects have lain, gets another use: whatever
  // the engine keeps of transactions that had written there is over (HEAP-3).
  virtual void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) = 0;
  // Bytes of records, their heads included, that one transaction can log for certain while the heap
  // has so many chunks to lend. None: what a lane and these chunks hold, as lane logs do. Any
  // thread without the heap's lock.
  virtual std::optional<uint64_t> record_room(uint64_t /*chunks*/) { return {}; }
};

}  // namespace scute::core::heap
