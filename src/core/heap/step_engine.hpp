// SPDX-License-Identifier: BSD-3-Clause
// The operation that the heap needs of a commit engine: making a few header changes durable and
// atomic at once, before the transaction that needs them (docs/internals/architecture.md,
// "Glossary": step).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/shared/lane.hpp"

namespace scute::core::heap {

class step_engine {
 public:
  virtual ~step_engine() = default;
  // All or nothing, and durable on return. The patches together must fit the lane's log.
  virtual void step(pool::lane& l, std::span<const pool::patch> patches) = 0;
  // True if commits take patches of the heap along (core/heap/pending_steps.hpp). They request
  // nothing of the heap then, not even a chunk for a log. For engines with expensive fences.
  virtual bool takes_steps_along() const noexcept { return false; }
  // Writes bytes that no valid header vouches for yet (the payload of a new object, the zeros of a
  // chunk that a log gets), with their parity. Durable on return, but not atomic: after a crash
  // recovery makes the columns add up, whatever part of the bytes is there. It keeps the log of
  // large allocations small, and formats further slots of a run.
  virtual void prewrite(pool::lane& l, std::span<const pool::patch> patches) = 0;
  // The same for a pool that is being made, which is not recovered. Durable at the lane's next
  // fence, at the latest.
  virtual void write_unlogged(pool::lane& l, std::span<const pool::patch> patches) = 0;
  // Called before [chunk, chunk + length) of the file, where objects have lain, gets another use.
  // The engine ends everything that it keeps of transactions that had written there (HEAP-3).
  virtual void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) = 0;
  // Bytes of records, their heads included, that one transaction can certainly log while the heap
  // has so many chunks to lend. None: as much as a lane and these chunks hold, as lane logs do. Any
  // thread without the heap's lock.
  virtual std::optional<uint64_t> record_room(uint64_t /*chunks*/) { return {}; }
};

}  // namespace scute::core::heap
