// SPDX-License-Identifier: BSD-3-Clause
// Where the log of engine `spec` lies: in chunks that the heap lends permanently, each divided into
// segments. The list of these chunks is in the first lane's ring, which this engine uses for
// nothing else. It is there in two places, and in all copies of the lane.
//
// LIST-1 A chunk is listed, durably, before anything is appended to it (SPEC-8). It is lent,
//    durably, before it is listed.
// LIST-2 Of the two places the valid one with the higher number counts. One place is durable before
//    the other one is written, so one is whole at any moment. The place of the list's number is
//    written first, also when a list that was read is made durable: the other place may have the
//    only durable list, if a dead process has stored this one.
// LIST-3 Nothing rests on a list before both places have it: neither frames in chunks that it adds
//    (LIST-1), nor the return to the heap of chunks that it leaves out (ROOM-1). So if either place
//    is damaged in all copies, the other one has all that the log needs, and names no chunk that
//    objects may have by now.
//
// On LIST-3: if the places of a pool that was closed properly differ, one was damaged, or a library
// that did not follow this rule has written it. An opening makes them alike, and reports it
// (LOGSCRUB-4). (A log in a file of its own has the list in its head, in two copies that are kept
// alike in the same way: LOGFILE-3.)
#pragma once

#include <optional>
#include <vector>

#include "core/heap/heap.hpp"
#include "core/log/segment.hpp"
#include "core/shared/state.hpp"

namespace scute::core::engine {

// No LSN of a log, and no number of a list, comes near it (TRUNC-3).
inline constexpr uint64_t lsn_max = uint64_t{1} << 62;

struct segment_list {
  uint64_t number = 0;  // of this list; grows
  uint64_t segment_size = 0;
  log::redundancy how = log::redundancy::one_copy;
  uint32_t kept =
      0;  // chunks of the log as it was made; those after them were lent for a large transaction
  std::vector<uint64_t> chunks;  // file offsets; copies of a chunk follow one another

  log::segment_layout layout() const noexcept { return {how, segment_size}; }
  std::vector<log::segment> segments(const pool::geometry& g) const;
};

// Lends a log of `cap` bytes (0: the default size), and lists it, durably. The running engine has
// nothing left to do. An existing list is replaced.
void lend_log(pool::state& s, heap::heap& h, pool::lane& l, medium::writer& w, uint64_t cap);

// The plan of a log of about `cap` bytes, all copies, in this pool: everything but the chunks. cap
// 0: by the pool's size. apart: in a file of its own, where two copies take fewer pages than
// tracks.
segment_list plan_log(const pool::geometry& g, uint64_t cap, bool apart = false);
// Number of chunks that such a log takes, its copies included.
size_t chunks_of_log(const pool::geometry& g, const segment_list& plan, uint64_t cap,
                     bool apart = false);
// Checks that a pool made with these options has room for the log, and for objects. Throws
// SCUTE_E_RANGE, with the least size that has.
void require_room_for_log(const scute_options& o);
// Throws SCUTE_E_INVALID for a cap of a log that the engine does not have. 0: none is requested.
void require_log_to_cap(const std::string& path, const pool::engine_facts& of, uint64_t cap);
// Number of chunks that so many segments take, their copies included.
size_t chunks_of_segments(const pool::geometry& g, const segment_list& plan, uint64_t segments);
// The fewest chunks of such a log as it was made: fewer have no room for any transaction.
size_t chunks_least(const pool::geometry& g, const segment_list& plan);
// The most chunks that a list can name.
size_t chunks_max(const pool::state& s) noexcept;

// The list that counts; none if there is none. Throws failure(SCUTE_E_CORRUPT) if a list is valid
// and makes no sense.
std::optional<segment_list> read_list(const pool::state& s);
// Writes the list, durably. At most chunks_max() chunks. The list that counted before is durable.
void write_list(const pool::state& s, medium::writer& w, segment_list& list);
// Makes a list that was read durable, in both places and all copies (REPLAY-1).
void keep_list(const pool::state& s, medium::writer& w, const segment_list& list);

// The bytes of the list that counts, and where they have to be: in each replica of the place of its
// number, then of the other.
std::vector<std::byte> list_image(const pool::state& s, const segment_list& list);
std::vector<uint64_t> list_copies(const pool::state& s, const segment_list& list);

}  // namespace scute::core::engine
