// SPDX-License-Identifier: BSD-3-Clause
// Chunks that stay lent between two logs, so that a transaction whose log overflows its lane finds
// them without a step.
//
//   free -- lend: zeros, a step --> in a log
//   in a log -- the log is void --> in the chunk cache
//   in the chunk cache -- lend: nothing --> in a log
//   in the chunk cache -- a step --> free
//
// A crash leaves a chunk in the chunk cache as it leaves one in a log, since only memory knows the
// difference: its header says lent, parity takes it for zeros, and the next session frees it.
//
// CCACHE-1 A thread puts a chunk in the chunk cache only when it is durable that nothing in it is
//    replayed or rolled back any more (LOG-3). So any lane may overwrite it at once, and the heap
//    may give it another use without asking a lane (HEAP-3).
// CCACHE-2 The bytes of an earlier log are not erased. Links and undo entries carry epoch, lane and
//    transaction, and a lane counts each of its transactions once in an epoch. A transaction's
//    chunks come here only at its end. So these bytes never pass for a part of a later log.
// CCACHE-3 Chunks in the chunk cache count as free. A thread that finds no room for objects takes
//    all of them back before it gives up, whichever thread put them there, and so does closing: no
//    pool that was closed properly has lent chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/layout/geometry.hpp"

namespace scute::core::heap {

class chunk_cache {
 public:
  // A quarter of a small pool; in a large one, enough for logs of a chunk each of 32 threads.
  explicit chunk_cache(const pool::geometry& g)
      : room_(std::min<uint64_t>(uint64_t{g.chunks} * g.zone_count / 4, 64)) {
    chunks_.reserve(room_);
  }

  size_t size() const noexcept { return chunks_.size(); }
  // Adds a chunk by its file offset. Returns false if the chunk cache is full. Needs no memory.
  bool put(uint64_t chunk) noexcept {
    if (chunks_.size() == room_) return false;
    chunks_.push_back(chunk);
    return true;
  }
  // Takes the chunk that was put there last, whose lines may still be in a CPU cache. There must be
  // one.
  uint64_t take() noexcept {
    const uint64_t chunk = chunks_.back();
    chunks_.pop_back();
    return chunk;
  }

 private:
  size_t room_;
  std::vector<uint64_t> chunks_;
};

}  // namespace scute::core::heap
