// SPDX-License-Identifier: BSD-3-Clause
// The changes that go through a log in a log-free pool: steps of the allocator; transactions with
// more cells in one column than it can decode; in-place ranges that were spilled; changes of the
// root anchor. The prewritten payload of large objects has no log, but is here for its window.
//
//   1. lock the blocks that will be written
//   2. log entry with all new bytes, both replicas; fence                     -- decided --
//   3. new bytes and parity; fence
//   4. status line: the entry is applied; fence
//   5. unlock
//
// LOGGED-1 The blocks are locked from before the entry can be durable until it durably cannot be
//    replayed. So no log-free transaction ever has a torn cell, or an old parity, in a column that
//    a replay writes or whose parity it recomputes. No replay undoes a later transaction.
// LOGGED-2 In-place ranges are stored to before that, with their old bytes in an undo entry. Their
//    parity is the old one until 3. So a column is decoded, and after a crash restored, with those
//    bytes.
// LOGGED-3 Each member is in a ring of its own: the log entry decides it.
// LOGGED-4 Members are tested under 1, as in a window (core/engine/logfree/logfree.hpp, LF-9). An
//    in-place range is announced, as an overlay, under the stripes of its fragments, before its old
//    bytes are written to the undo entry. So these stay the old bytes until the transaction ends.
#pragma once

#include "core/engine/common/lane_log.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

class logged {
 public:
  logged(pool::state& s, lane_log& log) : s_(s), log_(log) {}

  void commit(pool::lane& l, const tx::write_set& w);
  void step(pool::lane& l, std::span<const pool::patch> patches);
  void prewrite(pool::lane& l, std::span<const pool::patch> patches);
  void save(pool::lane& l, const tx::inplace_range& r, std::span<const tx::member> fragments);
  void restore(pool::lane& l, std::span<const tx::inplace_range> ranges);
  void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length);

  bool has_undo(const pool::lane& l) const noexcept { return log_.has_undo(l); }

 private:
  void open_window(pool::lane& l);
  void wait_for_window(pool::lane& l);
  void run(pool::lane& l, entry_image& image, const tx::write_set& w, ending of);
  void announce(pool::lane& l, const tx::inplace_range& r, std::span<const tx::member> fragments);
  void add_in_place(pool::lane& l, std::span<const tx::inplace_range> ranges);

  pool::state& s_;
  lane_log& log_;
};

}  // namespace scute::core::engine
