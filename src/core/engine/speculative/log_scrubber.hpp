// SPDX-License-Identifier: BSD-3-Clause
// Finds and repairs damage to the log of engine `spec` while the pool is open, before a crash
// could need the missing bytes. (replay.hpp and gap_detection.hpp handle damage that a crash
// meets.)
//
//   frame, head   stored again in all copies, from the copy or the tracks that have it
//   beyond that   everything is checkpointed at once: then nothing of it is needed
//   list, truncation point
//                 written again from memory; so are the heads of a log in a file of its own,
//                 which are its list
//   lost page     of a file of its own: written as a whole, when nothing in it counts any more.
//                 Part of it cannot be written
//
// LOGSCRUB-1 Only bytes that count are examined: the list and the truncation point that count, and
//    frames above the durable truncation point that are fenced (CLOG-5). Everything else is void,
//    or being written, and no damage.
// LOGSCRUB-2 A frame is stored with the bytes that its writer has stored, and no lane begins its
//    segment again meanwhile. So it does no harm where nothing was wrong, and no lane has to wait.
// LOGSCRUB-3 Bytes that no copy has any more are in the pool itself, until a crash: a checkpoint
//    makes them durable there, and void here.
// LOGSCRUB-4 When a pool is closed properly all copies of the list and the truncation point are
//    durable. So a copy that differs from the one that counts was damaged: an opening repairs it,
//    and reports it. (After a crash recovery writes all of them, and cannot tell damage from an
//    unfinished write.)
// LOGSCRUB-5 No lane continues after a gap, not even one of void frames. After a crash recovery
//    could not see that nothing is missing there (GAP-2), and would report it as lost.
#pragma once

#include "base/locks/waiting.hpp"
#include "core/engine/speculative/checkpoint.hpp"
#include "core/engine/speculative/commit_log.hpp"
#include "core/engine/speculative/log_file/log_room.hpp"
#include "core/log/segment_reader.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

class log_scrubber {
 public:
  log_scrubber(pool::state& s, log_location& location, commit_log& log, checkpoint& f,
               log_room& room);

  // Examines all of the log. Any thread without locks. Throws SCUTE_E_IO, std::bad_alloc.
  void look(bool repair, const tx::log_finding_fn& report);
  // Examines the list and the truncation point of a pool that was closed properly, as it is opened:
  // alone in the pool. Throws SCUTE_E_IO.
  void repair_heads();
  // Repairs the segments with pages that were lost (core/shared/pool/lost_log_pages.hpp). Returns
  // false if an append is under way there, so that it has to be done again.
  bool repair_lost_pages();
  // Calls fn(offset, length) for the places in the pool of frames that count. A log in a file of
  // its own has none.
  void for_each_live(const std::function<void(uint64_t offset, uint64_t length)>& fn);

 private:
  enum class condition : uint8_t { fenced, under_way };
  struct seen {
    condition is = condition::fenced;
    bool missing = false;  // frames that no copy has
  };
  bool can_store(const log::segment& where, uint64_t position,
                 std::span<const std::byte> lines) const;
  void renew_lost_pages(const log::segment& where, const tx::log_finding_fn& report);
  void touch_lost_pages();
  // The caller of any of these has mutex_.
  seen look_at(size_t segment, bool repair, const tx::log_finding_fn& report);
  seen look_at(const commit_log::live_segment& x, bool repair, const tx::log_finding_fn& report);
  void look_at_list(bool repair, const tx::log_finding_fn& report);
  void look_at_truncation_point(bool repair, const tx::log_finding_fn& report);
  void store_again(uint64_t offset, std::span<const std::byte> bytes, const char* what, bool repair,
                   const tx::log_finding_fn& report);
  void end();
  void checkpoint_all();

  pool::state& s_;
  log_location& location_;
  commit_log& log_;
  checkpoint& checkpoint_;
  log_room& room_;
  waiting_mutex mutex_;  // taken before the list's, the checkpoint's and the log's
  medium::writer w_;     // of the thread that has it, as are the next two
  log::segment_reader reader_;
  bool wrote_ = false;
};

// For segment_reader: pages of the log's file that cannot be read are left out one by one.
log::segment_reader reader_of(const pool::state& s, const log_location& location,
                              const log::segment_layout& layout);

}  // namespace scute::core::engine
