// SPDX-License-Identifier: BSD-3-Clause
// Engine spec, and memory that runs out between the room that a transaction takes in the log and
// its record.
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <thread>

#include "core/engine/speculative/log_file/log_in_pool.hpp"
#include "core/engine/speculative/log_file/log_room.hpp"
#include "hostile/fault_injector.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

using engine::commit_log;

// CLOG-6. A lane once took segments for a commit that then failed. The segments stayed its own, and
// counted as about to come back: threads that needed them waited for ever.
TEST(spec_memory, AHelperThatFindsNoMemoryTakesNoSegments) {
  constexpr uint64_t begin = 1000;
  pool_file f;
  scute_options o = options(8 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  o.rows = 4;  // of many blocks
  f.create(o);
  f.in().idle.stop();
  pool::state& s = f.in().s;
  const engine::segment_list list = *engine::read_list(s);
  engine::block_table table(s);
  engine::log_in_pool location(s, *f.in().heap);
  commit_log log(s, location, list, begin, {});
  engine::checkpoint checkpoint(s, table, log, begin, nullptr);
  engine::log_room room(s, location, log, checkpoint, list);
  // A range is open in place, so a thread that checkpoints takes memory.
  std::byte old[64] = {};
  const uint64_t at = s.geo.zone_offset(0) + s.geo.row_size + 7 * engine::block_table::page;
  const uint64_t b = table.number_of(at);
  {
    const pool::held_stripe held(s.locks, table.stripe_of(b));
    s.overlaid.add(at, sizeof old, old, 0);
    table.recorded(b, begin + 1);
    table.stored(b, at, sizeof old, engine::block_table::bytes_are::elsewhere);
  }
  // Three quarters of the log are in use.
  medium::writer w(*s.medium);
  ASSERT_TRUE(log.make_room(1, {1, 0, 0}));
  const engine::log_range record{at, old, sizeof old, format::record_kind::undo};
  log.append(w, 1, {&record, 1}, engine::frame_final, begin + 2, 1);
  ASSERT_TRUE(log.make_room(2, {log.segments() * 3 / 4, 0, 0}));
  ASSERT_TRUE(log.is_nearly_full());
  const uint64_t used = log.how_full().used;
  pool::lane& mine = s.lanes.front();
  const engine::log_range one{at, old, sizeof old, format::record_kind::data};
  // One allocation after the other fails, of the lane's own and of the checkpoint's.
  unsigned refused = 0;
  for (uint64_t nth = 1; refused + 1 == nth; ++nth) {
    faults::arm(call::memory, nth, ENOMEM);
    try {
      room.help();
      commit_log::stream_guard turn(log);
      EXPECT_TRUE(room.make(mine, {&one, 1}, turn));
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    faults::disarm();
    if (refused == nth) {
      EXPECT_EQ(log.how_full().used, used) << nth;
    }
  }
  EXPECT_GE(refused, 2U);
  f.in().abandon();
}

// The room that was reserved for a refused range is released at once: a thread that then commits
// nothing has nothing to end.
TEST(spec_memory, ARefusedRangeKeepsNoRoom) {
  pool_file f;
  scute_options o = options(32 * mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
  o.lanes = 4;
  o.log_cap = 2 * mib;
  f.create(o);
  const scute_oid large = f.alloc(bytes(600 * kib, 1)), small = f.alloc(bytes(64, 1));
  SCUTE_OKAY(scute_drain(f.pool));
  f.reopen();
  const uint64_t cap = f.info().log_cap;
  bool refused = false;
  for (uint64_t nth = 1; nth < 200; ++nth) {
    scute_tx* tx = nullptr;
    void* to = nullptr;
    SCUTE_OKAY(scute_tx_begin(f.pool, &tx));
    faults::arm(call::memory, nth, ENOMEM);
    const int e = scute_tx_inplace(tx, large, 0, 600 * kib, &to);
    const bool hit = faults::disarm().hit;
    if (e == SCUTE_OK) {
      scute_tx_abort(tx);
      if (!hit) break;
      continue;
    }
    refused = true;
    SCUTE_OKAY(scute_tx_commit(tx));
    // In another thread, whose lane has nothing of it.
    std::thread([&] {
      for (int k = 0; k < 2; ++k) f.overwrite(large, bytes(600 * kib, 2));
      // The room that was lent for the range itself is released as well.
      for (int k = 0; k < 3; ++k) {
        SCUTE_OKAY(scute_drain(f.pool));
        f.overwrite(small, bytes(64, 3));
      }
    }).join();
    EXPECT_EQ(f.info().log_cap, cap) << "allocation " << nth;
  }
  EXPECT_TRUE(refused);
  f.expect_sound();
}

}  // namespace
}  // namespace scute::test
