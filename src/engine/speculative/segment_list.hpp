// SPDX-License-Identifier: BSD-3-Clause
// Where the log of engine `spec` lies: in chunks that the heap lends for good, each divided into
// segments. The list of these chunks is in the first lane's ring, which this engine uses for
// nothing else, in two places, and in all copies of the lane.
//
// LIST-1 A chunk is listed, durably, before anything is appended to it (SPEC-8). It is lent,
//        durably, before it is listed.
// LIST-2 Of the two places the valid one with the higher number counts. One place is durable before
//    the other one is written, so one is whole at any moment. The place of its number is written
//    first, also where a list that was read is made durable: a dead process may have stored it
//    there, and then the other place has the only list that outlives a power failure.
// LIST-3 Nothing rests on a list before both places have it: neither what is appended to chunks
//    that it adds (LIST-1), nor that chunks go back to the heap which it leaves out (ROOM-1). So
//    whichever place is damaged in all copies, the other one has all that the log needs, and names
//    no chunk that objects may have by now. Where the places of a pool that was closed properly
//    differ damage has been there, or a library that did not do so; an opening makes them alike,
//    and tells it (LOGSCRUB-4). (A log in a file of its own has the list in its head, in two copies
//    that are alike in the same way: LOGFILE-3.)
#pragma once

#include <optional>
#include <vector>

#include "heap/heap.hpp"
#include "log/segment.hpp"
#include "pool/state.hpp"

namespace scute::core::engine {

// No LSN of a log, and no number of a list, comes near it (TRUNC-3).
inline constexpr uint64_t sequence_max = uint64_t{1} << 62;

struct segment_list {
  uint64_t number = 0;  // of this list; grows
  uint64_t segment_size = 0;
  log::redundancy how = log::redundancy::one_copy;
  uint32_t kept =
      0;  // chunks of the log as it was made; those behind them were lent for a large transaction
  std::vector<uint64_t> chunks;  // file offsets; of two copies one after the other

  log::segment_layout layout() const noexcept { return {how, segment_size}; }
  std::vector<log::segment> segments(const pool::geometry& g) const;
};

// Lends a log of `cap` bytes (0: the usual size), and lists it, durably. The engine that runs has
// nothing left to do; a list that is there already is replaced.
void lend_log(pool::state& s, heap::heap& h, pool::lane& l, medium::writer& w, uint64_t cap);

// How a log of about `cap` bytes, all copies, is to be made in this pool: all but the chunks. cap
// 0: by the pool's size. apart: in a file of its own, where two copies take fewer pages than
// tracks.
segment_list plan_log(const pool::geometry& g, uint64_t cap, bool apart = false);
// Chunks that such a log takes, its copies included.
size_t chunks_of_log(const pool::geometry& g, const segment_list& plan, uint64_t cap,
                     bool apart = false);
// A pool that is made with these options has room for the log, and for objects. Throws
// SCUTE_E_RANGE, with the least size that has.
void require_room_for_log(const scute_options& o);
// Throws SCUTE_E_INVALID for a cap of a log that the engine does not have. 0: none is requested.
void require_log_to_cap(const std::string& path, const pool::engine_facts& of, uint64_t cap);
// Chunks that so many segments take, their copies included.
size_t chunks_of_segments(const pool::geometry& g, const segment_list& plan, uint64_t segments);
// As many as a list can name.
size_t chunks_max(const pool::state& s) noexcept;

// The list that counts; none if there is none. Throws failure(SCUTE_E_CORRUPT) if a list is valid
// and makes no sense.
std::optional<segment_list> read_list(const pool::state& s);
// Durable when it returns. At most chunks_max() chunks. The list that counts is durable.
void write_list(const pool::state& s, medium::writer& w, segment_list& list);
// Makes a list that was read durable, in both places and all copies (REPLAY-1).
void keep_list(const pool::state& s, medium::writer& w, const segment_list& list);

// The bytes of the list that counts, and where they have to be: in each replica of the place of its
// number, then of the other.
std::vector<std::byte> list_image(const pool::state& s, const segment_list& list);
std::vector<uint64_t> list_copies(const pool::state& s, const segment_list& list);

}  // namespace scute::core::engine
