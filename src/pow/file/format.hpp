// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a persist-on-write file, and the rules that its parts keep together.
//
//   head page x3 | segment | segment | ...
//
// A *batch* holds the changes of one section: one frame of core/log/segment.hpp. If it is large, or
// was streamed while the section was still running (eager), it has several *parts* and a *trailer*.
// The trailer says how many parts there are and whether they count. Each lane numbers its batches
// from 1 in every session. A frame's head holds
//
//   sequence      version of its records (records after a `group` record have that one's version)
//   transaction   number of the batch, and of the part: number << 16 | part
//   flags         kind of frame, number of dependencies, and a distance: the batch's number less
//                 that of the lane's last batch known to be durable with all that it depends on.
//                 Batches up to that one count wherever recovery finds them
//
// and its body holds dependencies {lane, number}, then records, each with its bytes, padded to 8.
//
// POW-1 A batch counts as a whole or not at all. A frame counts by its checksum, which binds it to
//    salt, session, lane and generation (SEG-1). Parts count by their trailer, which must exist,
//    say that they count, and have their number. A batch known to be durable counts even if the
//    cleaner has taken some of its parts.
// POW-2 Strict: a thread releases its locks after the fence that made the batch durable. The store
//    makes that fence itself: an unlock need not be a locked instruction, so no program can rely on
//    it to drain stores (the paper does).
// POW-3 A batch's version is 1 + max(clock of the lane, versions of all ids that it writes). For
//    each id, versions follow the order of the program's locks. So the newest one wins wherever it
//    lies, and lanes need no common order.
// POW-4 The cleaner copies records that count from the medium, with their versions; the copies are
//    durable before the victim is made void. Segments are reserved for the cleaner and for erasing
//    (pow/file/space.hpp), so that a full file can shrink.
// POW-5 A record is dead only when its replacement is durable: the cleaner makes everything
//    undurable durable before it makes a victim void.
// POW-6 A tombstone is copied while an older record of its id may be on the medium outside of the
//    victim; records are counted per id, and leave the count when their segment is durably void.
// POW-7 `later`: a section names the undurable batches that were released under its locks or that
//    its thread has seen. (Reads are not noticed; a lock also keeps its readers' batches.) Recovery
//    drops a batch without all that it names, or without its predecessor in its lane.
// POW-8 No segment is made void while a batch not known to be durable may name one in it. The
//    cleaner waits for all commits that could, makes them durable, and writes a mark that says so.
//    Recovery writes its decision to the head page first of all, and makes dropped batches void
//    before any thread writes.
// POW-9 After a crash every lane begins a new segment, in a new session. Recovery first makes
//    everything that it found durable in all its copies, since the stores of a process that was
//    killed are visible, but not all are durable.
// POW-10 The program's objects change only inside sections, and recovery builds them from records
//    alone: an abort, whatever its cause, leaves objects and structure as they were.
// POW-11 On a page cache (medium `file`) all threads share one stream. Locks are released before
//    the sync, so recovery keeps a prefix of the stream. A section, even one that only reads,
//    returns when everything that it has seen is durable. A sync that fails freezes the store.
// POW-12 When a lane leaves a segment it records where the frames end (SEG-7); a proper close does
//    so for all open segments, and recovery for those cut short by a crash. The record is durable
//    before the head page says that the session is decided. So recovery reports what is missing
//    after the last frame found.
// POW-13 Parts of an aborted section prove nothing about batches before them in the lane. Their
//    fence makes them known to be durable only if all of those are. Missing numbers are no gap if
//    every batch after them counts.
// POW-14 An index is reused only when the batch that erased its object is known to be durable: a
//    thread that makes the new object needs no lock of the old one's section, and so would not name
//    that batch.
// POW-15 sync() makes everything durable that was finished when it looked at the last lane. It
//    claims this only for batches finished when it looked at the first: a batch names only batches
//    finished before it.
// POW-16 Bytes that count are counted for the segment that they lie in. An unneeded tombstone lies
//    nowhere.
// POW-17 While the cleaner may run at full speed, a thread lets the file grow in two cases only:
//    max_live_share of it counts, not counting open or reserved segments; or cleaning gains nothing
//    more for the section. A thread that has waited for another to clean or grow checks again
//    first.
// POW-23 If ids of a table outlive their objects (it has no chosen indexes, and its serializer does
//    not say otherwise), no id recurs. An id is an index and a tag. A tag only rises, and an index
//    whose tag reached tag_max is never reused. The records of an index show which tags it has had.
//
// About POW-7: lanes write such batches by cached stores, so that any thread that calls sync() can
// write them all back.
//
// About POW-13 (found by reading): recovery dropped an acknowledged batch after an aborted one when
// the cleaner had taken the aborted one's segment.
//
// About POW-17: room for a seal follows the same rule (POW-24).
//
// About POW-23: so a tombstone that is needed for nothing else stays while its tag is above the
// head's `tags`, and an index without records begins above that. Before the cleaner makes many such
// tombstones void, it durably raises `tags` to theirs; it copies a few with higher tags. A crash in
// between leaves unneeded tombstones. Tags of other tables mean nothing, and are 1. If an older
// library has written the file meanwhile, `tags` begins with a guess (unknown_tags): the tags that
// it has forgotten cannot be known.
//
// The states that a crash leaves, and how recovery decides:
//
//   in a batch                 torn: dropped. Complete and not acknowledged: kept, if all that it
//                              names is kept
//   between fence and unlock   kept
//   released, no sync yet      a batch that lacks a dependency is dropped, and all after it in its
//                              lane
//   cleaner's copies torn      the victim is intact, and the torn copies are void
//   copies durable, victim not void
//                              two records with one version: either
//   victim's head torn         its records are copied or dead: void
//   growth                     the head names the segments after they are durably void
//   recovery                   decision not yet in the head page: the same again; otherwise by the
//                              decision
#pragma once

#include <scute/scute.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/log/format.hpp"

namespace scute::core::pow {

inline constexpr char file_magic[8] = {'S', 'c', 'u', 't', 'e', 'P', 'O', 'W'};
inline constexpr uint32_t file_version = 3;  // the only one that is read
inline constexpr uint64_t head_page = 4096;
inline constexpr uint32_t head_copies = 3;
inline constexpr uint64_t first_segment = 4 * head_page;
inline constexpr uint64_t tracks_least =
    9 * head_page;  // bytes of a segment that lies on nine pages side by side
inline constexpr uint64_t segments_least = 6;  // of a file
// Their numbers have 32 bits, of which the highest is none.
constexpr uint64_t segments_max(uint64_t segment_size) noexcept {
  return std::min<uint64_t>(0xffffffffU, (SCUTE_SIZE_MAX - first_segment) / segment_size);
}
inline constexpr uint64_t segments_spare = 4;  // that a file which was compacted has
inline constexpr uint32_t lanes_max = 128;     // that of the cleaner included

// How much is protected against media errors.
enum class protection : uint32_t { none = 0, sealed = 1, always = 2 };

// For a lane in a session: batches up to the number count, later ones do not.
struct last_valid_batch {
  uint64_t session;
  uint64_t number;
  uint32_t lane;
  uint32_t reserved;
};
inline constexpr uint32_t last_valid_max = 160;

struct file_head {
  char magic[8];
  uint32_t checksum;  // CRC-32C of all that follows
  uint32_t version;
  uint64_t update;  // of two valid copies the one with the greater number counts
  uint8_t uuid[16];
  uint64_t session;  // the latest session that has appended, or may
  uint64_t
      decided;  // sessions up to this one: all their batches count, except after a last valid one
  uint64_t segment_size;  // of one segment, a multiple of 4096
  uint64_t segments;      // how many there are
  uint32_t protect;       // enum protection
  uint32_t clean;         // 1: closed properly, so nothing is torn
  uint32_t last_valid_count;
  uint32_t in_use;  // clean: segments in use; 0: not known
  uint32_t tags;    // POW-23: the highest tag that an id without records may have had
  // the low half of the session to which `tags` applies: older libraries do not keep it
  uint32_t tags_session;
  uint32_t reserved[4];
  last_valid_batch last_valid[last_valid_max];
  uint8_t rest[head_page - 112 - last_valid_max * sizeof(last_valid_batch)];
};
static_assert(format::packed<file_head> && sizeof(file_head) == head_page);
static_assert(offsetof(file_head, version) == 12 && offsetof(file_head, last_valid) == 112);

inline constexpr uint32_t tag_max = 0xffff;
inline constexpr uint32_t tag_of_none = 1;  // where tags mean nothing
// POW-23. Older libraries began with session * 257 + 1, and continued from there.
constexpr uint32_t unknown_tags(uint64_t session) noexcept {
  return session < 127 ? static_cast<uint32_t>((session + 1) * 257) : 0x8000;
}

// The first line of a segment that no lane and no seal uses.
inline constexpr uint32_t void_magic = 0x644f5650;  // "PVOd"
struct void_head {
  uint32_t magic;
  uint32_t checksum;  // of the salt
  uint64_t salt;
  uint64_t zeros[6];
};
static_assert(format::packed<void_head> && sizeof(void_head) == 64);

// Groups of segments (pow/file/seal.hpp).
inline constexpr uint32_t seal_magic = 0x6c615350;  // "PSal"
inline constexpr uint32_t members_max = 8;
struct seal_head {
  uint32_t magic;
  uint32_t checksum;  // CRC-32C of all of the table that follows
  uint64_t salt;
  uint64_t session;  // that made it
  uint32_t count;    // of members
  uint32_t reserved;
  uint64_t zeros[4];
};
struct seal_member {  // as its head and its end state it
  uint32_t segment, lane;
  uint64_t session, generation;
  uint64_t end, frames, last;
  uint64_t first;
};
struct seal_table {
  seal_head head;
  seal_member members[members_max];
};
static_assert(format::packed<seal_table> && sizeof(seal_head) == 64 && sizeof(seal_member) == 56);
static_assert(sizeof(seal_table) == 512 && offsetof(seal_head, salt) == 8);
// Lines at the end of a segment that no frame takes, so that a seal has room for two tables.
inline constexpr uint64_t lines_kept_for_seals = 2 * sizeof(seal_table) / 64;
inline constexpr uint64_t sealed_least = 2 * head_page;  // bytes of a segment

enum class frame_kind : uint8_t {
  whole = 1,   // a batch
  part = 2,    // of a batch that has a trailer
  commit = 3,  // trailer: body is the number of parts; they count
  abort = 4,   // trailer: they do not
  copies = 5,  // of the cleaner: records that follow group records
  mark = 6     // of the cleaner: body is {lane, number}*: what is known to be durable
};

// Of a frame's flags.
inline constexpr uint32_t behind_unknown = 0xffff;
constexpr uint32_t make_flags(frame_kind kind, uint32_t dependencies, uint64_t behind) noexcept {
  return static_cast<uint32_t>(kind) | dependencies << 8 |
         static_cast<uint32_t>(behind < behind_unknown ? behind : behind_unknown) << 16;
}
inline constexpr uint32_t dependencies_max = 255;
static_assert(lanes_max <= dependencies_max);
constexpr uint64_t make_transaction(uint64_t number, uint32_t part) noexcept {
  return number << 16 | part;
}
inline constexpr uint32_t parts_max = 0xffff;

struct dependency {  // and an entry of a mark
  uint32_t lane;
  uint32_t reserved;
  uint64_t number;
};

struct record_head {
  uint32_t table;
  uint32_t size;  // bytes that follow, and the flag
  uint64_t id;    // tag << 48 | index
};
inline constexpr uint32_t tombstone_flag = 0x80000000U;
inline constexpr uint32_t record_size_max = 0x3fffffffU;
inline constexpr uint32_t group_table =
    0xffffffffU;  // not a record: `id` is the version of those that follow
inline constexpr uint32_t catalogue_table = 0;  // of the tables: index is their number
inline constexpr uint32_t tables_max = 1024;    // that of the tables included
struct catalogue_record {                       // and the name, to the end of the record
  uint32_t type, size;
};
inline constexpr uint64_t index_mask = (uint64_t{1} << 48) - 1;

static_assert(sizeof(dependency) == 16 && format::packed<dependency>);
static_assert(sizeof(record_head) == 16 && format::packed<record_head>);

constexpr uint64_t round_record(uint64_t bytes) noexcept {
  return sizeof(record_head) + (bytes + 7) / 8 * 8;
}
// Room that a frame may need, besides its records, when the cleaner rewrites them: one more group
// record.
inline constexpr uint64_t frame_overhead = sizeof(format::frame_head) + 2 * sizeof(record_head);

}  // namespace scute::core::pow
