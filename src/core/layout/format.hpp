// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a pool file, with those of logs (core/log/format.hpp); docs/reference/format.md
// explains them. All integers are little-endian. Nothing here depends on build flags. No struct has
// padding, as the checks at the end of this file ensure.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/log/format.hpp"

namespace scute::core::format {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian; a big-endian port needs byte swaps here");

inline constexpr uint64_t page = 4096;
inline constexpr uint32_t version = 1;
inline constexpr char magic[8] = {'S', 'C', 'U', 'T', 'E', '\r', '\n', '\x1a'};

// Features that a library must know to: write (ro_compat), or touch at all (incompat).
inline constexpr uint64_t compat_goal_in_file =
    1;  // the log that comes with the goal is to be in a file (core/session/engine_switch.cpp)
inline constexpr uint64_t compat_known = compat_goal_in_file;
inline constexpr uint64_t ro_compat_known = 0;
inline constexpr uint64_t incompat_log_file =
    1;  // the log of engine spec is in a file next to the pool's
inline constexpr uint64_t incompat_foreign =
    2;  // the payload of the spans is another file (core/layout/foreign.hpp)
inline constexpr uint64_t incompat_known = incompat_log_file | incompat_foreign;

// For a foreign pool: which parts of it are the user's file, and that file's identity when the pool
// was closed. Otherwise zeros.
struct foreign_record {
  uint64_t size;      // bytes of the user's file that are covered
  uint64_t growth;    // 0, or the size that it has, or is going to have, in the middle of a growth
  uint64_t share;     // bytes of it in each zone
  uint32_t first;     // chunk of the span that holds them, in each zone
  uint32_t chunks;    // of that span
  uint64_t inode;     // of the user's file
  uint64_t mtime_ns;  // and its times at the last clean close, CLOCK_REALTIME
  uint64_t ctime_ns;
  uint32_t guard;  // 0, or the permission bits that the file gets back (guard_mark, and these)
  uint32_t rows;   // data rows that its bytes filled when it came here
};
inline constexpr uint32_t guard_mark = 0x10000;

// A pool of engine spec was opened without its log: what the last such opening knew.
struct lost_log {
  uint64_t session;    // epoch whose log was lost; 0: never
  uint64_t since_ns;   // all commits before that are present (MARK-1); 0: unknown
  uint64_t opened_ns;  // when it was opened, CLOCK_REALTIME
  uint64_t times;      // how often that has happened
};

// Copies at offset 0, at 4096, and in the last page of the file. The newest valid one counts.
struct superblock {
  char magic[8];
  uint32_t version;
  uint32_t checksum_kind;  // enum scute_checksum, for objects
  uint64_t compat, ro_compat, incompat;
  uint8_t uuid[16];
  char layout[64];    // NUL-terminated
  uint64_t sequence;  // grows with every write of the superblock
  uint64_t file_size;
  uint64_t lanes_offset;  // of replica 0 of lane 0; lanes follow each other, then replica 1
  uint64_t lane_size;     // bytes of one replica of one lane
  uint32_t lane_count;
  uint32_t lane_replicas;  // 1 or 2
  uint64_t zones_offset;
  uint64_t zone_size;  // (rows + parity) * row_size
  uint64_t row_size;
  uint32_t zone_count;
  uint32_t rows;    // N
  uint32_t parity;  // P
  uint32_t chunk_size;
  uint32_t protection;      // enum scute_protection
  uint32_t engine;          // enum scute_engine
  uint64_t epoch;           // sessions that opened the pool for writing, this one included
  uint64_t resolved_epoch;  // nothing of this epoch or an earlier one waits for recovery
  uint32_t clean;           // 1: closed properly; no lane holds anything
  uint16_t tag;             // high half-word of this pool's oids
  uint16_t reserved0;
  foreign_record foreign;
  uint8_t reserved[24];  // of which session it is: core/shared/pool/session_number.hpp
  lost_log lost;
  uint8_t reserved1[144];
  uint64_t log_cap;  // engine spec: bytes that its log was asked to have; 0: by the pool's size
  uint32_t goal;     // enum scute_engine: that it is to have, or 0 (core/session/engine_switch.cpp)
  uint32_t checksum;  // CRC-32C of the 508 bytes before it
};

// The records that follow in the same pages: lines of 64 bytes, written alike in all three, each
// with a checksum of its own. A line that fails it says nothing.
inline constexpr uint64_t pool_marks_offset = 512, page_notes_offset = 576, events_offset = 1024;
inline constexpr uint32_t page_note_count = 7, event_count = 48;

struct pool_marks {   // where the last scrub got to, and the time of a checkpoint
  uint32_t checksum;  // CRC-32C of the 60 bytes that follow, begun with the pool's salt
  uint32_t reserved0;
  uint64_t sequence;      // of this line; the copy with the highest one counts
  uint64_t position;      // units of an interrupted scrub that are done, 0: none is waiting
  uint64_t started_ns;    // CLOCK_REALTIME, of the scrub that position belongs to
  uint64_t completed_ns;  // when a whole scrub last ended, 0: never
  // engine spec, a log in a file of its own: what was committed before is in the pool (MARK-1)
  uint64_t checkpointed_ns;
  uint64_t reserved[2];
};

struct page_note {    // pages that are lost, or whose repair has begun and not ended
  uint32_t checksum;  // CRC-32C of the 60 bytes that follow, begun with the pool's salt
  uint32_t sequence;  // of this line; the copy with the highest one counts
  uint64_t pages[7];  // file offset of each, or 0
};

// The page of each superblock copy ends with a ring of events: the line of an event is its sequence
// modulo event_count, in all three pages alike.
struct event_record {
  uint64_t sequence;  // from 1, over all sessions; 0: nothing was ever written here
  uint64_t time_ns;   // CLOCK_REALTIME
  uint64_t offset;    // of the file
  uint64_t length;
  uint64_t object;  // oid, or 0
  uint64_t epoch;
  uint32_t count;     // places reported as one
  uint8_t kind;       // enum scute_event_kind
  uint8_t outcome;    // enum scute_outcome
  uint8_t finder;     // enum scute_finder
  uint8_t reserved;   // 0
  uint32_t dropped;   // further events that the queue had no room for
  uint32_t checksum;  // CRC-32C of the pool's salt and of the 60 bytes before it
};

// The first bytes of an object (more exactly a fragment, up to 4 KiB of payload).
enum class role : uint8_t { none = 0, free = 1, live = 2, part = 3 };

struct fragment_header {
  uint32_t checksum;  // over the covered payload, then the 28 bytes that follow here
  uint32_t type;
  uint64_t meta;  // size:40 (of the whole object; of a part: of its payload), role:8, generation:16
  uint64_t tag;   // transaction that wrote this version: epoch:24, lane:8, sequence:32
  uint64_t next;  // file offset of the header of the next member of its ring; itself if alone
};
inline constexpr uint32_t header_size = 32;
inline constexpr uint32_t header_tail = header_size - 4;  // the part under the checksum
inline constexpr uint64_t fragment_payload = 4096;

constexpr uint64_t make_meta(uint64_t size, role r, uint16_t generation) noexcept {
  return (size & 0xff'ffff'ffffu) | uint64_t{static_cast<uint8_t>(r)} << 40 |
         uint64_t{generation} << 48;
}
constexpr uint64_t meta_size(uint64_t meta) noexcept {
  return meta & 0xff'ffff'ffffu;
}
constexpr role meta_role(uint64_t meta) noexcept {
  return static_cast<role>(meta >> 40 & 0xff);
}
constexpr uint16_t meta_generation(uint64_t meta) noexcept {
  return static_cast<uint16_t>(meta >> 48);
}
constexpr uint64_t make_tag(uint64_t epoch, uint32_t lane, uint64_t sequence) noexcept {
  return (epoch & 0xffffff) << 40 | uint64_t{lane & 0xff} << 32 | (sequence & 0xffffffff);
}

// Internal objects at fixed places: a header and 32 bytes, protected like any other.
inline constexpr uint32_t type_zone = 0xffff'ff01, type_anchor = 0xffff'ff02,
                          type_chunk = 0xffff'ff03;
// The type of objects whose payload is the user's file in a foreign pool.
inline constexpr uint32_t type_foreign = 0xffff'ff04;

struct zone_descriptor {  // at offset 0 of each zone
  fragment_header header;
  uint64_t index;       // of the zone
  uint32_t high_water;  // chunk headers ever prepared; those beyond are zero bytes, and free
  uint32_t log_chunks;  // chunks whose kind is log
  uint64_t reserved[2];
};

struct root_anchor {  // at offset 64 of zone 0
  fragment_header header;
  uint64_t oid;  // of the root object, 0 while there is none
  uint64_t reserved[3];
};

enum class chunk_kind : uint8_t { free = 0, run = 1, span = 2, span_body = 3, log = 4 };

struct chunk_header {  // at offset 4096 + 64 * index of its zone
  fragment_header header;
  uint8_t kind;
  uint8_t fragments;    // run: fragment headers at the start of each slot
  uint16_t generation;  // of the slots' headers; grows whenever the chunk changes its kind
  uint32_t slot_size;   // run: bytes per slot, headers included
  uint32_t formatted;   // run: slots whose headers were prepared; those beyond are free
  uint32_t length;      // span: its chunks; span_body: distance to the span's first chunk
  uint64_t reserved[2];
};
// The most slots that are prepared when a run begins, and the most that are prepared at once later:
// those that lie in 64 KiB.
inline constexpr uint32_t slots_first = 32;
constexpr uint32_t slots_ahead_max(uint32_t slot_size) noexcept {
  const uint32_t n = (uint32_t{64} << 10) / slot_size;
  return n < slots_first ? slots_first : n;
}
// `formatted` of a log chunk that was durably zero before it was lent. Chunks lent by libraries
// before this mark have 0, and the parity of their columns may match neither zeros nor their former
// contents.
inline constexpr uint32_t log_chunk_zeroed = 1;
inline constexpr uint64_t zone_anchor_offset = 64;
inline constexpr uint64_t chunk_table_offset = page;

// A lane begins with its status line; log entries follow, each on a line of its own: a ring of redo
// entries in the first three quarters, and the undo entries of one transaction in the last.
struct lane_status {
  uint64_t applied;  // self-checking word: entries up to this sequence need no replay
  uint64_t undone;   // self-checking word: undo entries up to this transaction are void
  uint64_t
      in_place[2];  // replica 0: self-checking words, from where to where the ranges lie that a
                    // log-free transaction has in place, or zeros
  // lane 0 with engine spec: two times a sequence, up to which frames are void, and its check
  uint64_t truncation_point[4];
};
inline constexpr uint64_t lane_log_offset = 64;
// Engine spec: where its log lies. In the ring of lane 0, in either half, in all replicas.
inline constexpr uint32_t segment_list_magic = 0x674c6553;  // "SeLg"
struct segment_list_head {
  uint32_t checksum;  // CRC-32C of the 60 bytes that follow, and of the chunks
  uint32_t magic;
  uint64_t salt;
  uint64_t number;        // of this list; the valid one with the highest number counts
  uint64_t segment_size;  // bytes of one copy
  uint32_t redundancy;    // enum log::redundancy
  uint32_t chunks;        // file offsets of so many chunks follow, 8 bytes each
  uint32_t kept;          // of these the log was made with; the others are lent for a while
  uint32_t reserved0;
  uint64_t reserved[2];
};
constexpr uint64_t lane_undo_offset(uint64_t lane_size) noexcept {
  return lane_size / 4 * 3;
}

// ---- what pins the bytes ------------------------------------------------------------------------

static_assert(packed<foreign_record> && sizeof(foreign_record) == 64);
static_assert(offsetof(foreign_record, first) == 24 && offsetof(foreign_record, inode) == 32 &&
              offsetof(foreign_record, guard) == 56);
static_assert(packed<superblock> && sizeof(superblock) == 512);
static_assert(offsetof(superblock, foreign) == 232 && offsetof(superblock, reserved) == 296 &&
              offsetof(superblock, lost) == 320);
static_assert(offsetof(superblock, uuid) == 40 && offsetof(superblock, layout) == 56);
static_assert(offsetof(superblock, sequence) == 120 && offsetof(superblock, lane_count) == 152);
static_assert(offsetof(superblock, zones_offset) == 160 && offsetof(superblock, zone_count) == 184);
static_assert(offsetof(superblock, epoch) == 208 && offsetof(superblock, clean) == 224);
static_assert(offsetof(superblock, tag) == 228 && offsetof(superblock, checksum) == 508);
static_assert(packed<pool_marks> && sizeof(pool_marks) == 64);
static_assert(packed<page_note> && sizeof(page_note) == 64);
static_assert(pool_marks_offset >= sizeof(superblock) &&
              page_notes_offset == pool_marks_offset + sizeof(pool_marks) &&
              events_offset == page_notes_offset + page_note_count * sizeof(page_note) &&
              events_offset + event_count * sizeof(event_record) == page);
static_assert(packed<event_record> && sizeof(event_record) == 64);
static_assert(offsetof(event_record, object) == 32 && offsetof(event_record, count) == 48);
static_assert(offsetof(event_record, kind) == 52 && offsetof(event_record, dropped) == 56);
static_assert(offsetof(event_record, checksum) == 60);
static_assert(packed<fragment_header> && sizeof(fragment_header) == header_size);
static_assert(offsetof(fragment_header, type) == 4 && offsetof(fragment_header, meta) == 8);
static_assert(offsetof(fragment_header, tag) == 16 && offsetof(fragment_header, next) == 24);
static_assert(packed<zone_descriptor> && sizeof(zone_descriptor) == 64);
static_assert(offsetof(zone_descriptor, index) == 32 &&
              offsetof(zone_descriptor, high_water) == 40);
static_assert(packed<root_anchor> && sizeof(root_anchor) == 64);
static_assert(packed<chunk_header> && sizeof(chunk_header) == 64);
static_assert(offsetof(chunk_header, kind) == 32 && offsetof(chunk_header, generation) == 34);
static_assert(offsetof(chunk_header, slot_size) == 36 && offsetof(chunk_header, length) == 44);
static_assert(packed<lane_status> && sizeof(lane_status) == 64);
static_assert(offsetof(lane_status, in_place) == 16 &&
              offsetof(lane_status, truncation_point) == 32);
static_assert(packed<segment_list_head> && sizeof(segment_list_head) == 64);

}  // namespace scute::core::format
