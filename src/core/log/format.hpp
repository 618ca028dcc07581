// SPDX-License-Identifier: BSD-3-Clause
// The bytes of log entries, their records and their chains. docs/reference/format.md describes
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace scute::core::format {

template <typename T>
inline constexpr bool packed =
    std::has_unique_object_representations_v<T> && std::is_trivially_copyable_v<T>;

inline constexpr uint32_t entry_magic = 0x676f4c53;  // "SLog"
enum entry_flags : uint32_t {
  entry_final = 1,    // decides a user's transaction; otherwise an intermediate step
  entry_undo = 2,     // old bytes of in-place ranges
  entry_chained = 4,  // the records are in log chunks; the body names the first
  entry_more = 8      // undo: further entries are in a log chunk that the body names
};

struct log_entry {
  uint32_t magic;
  uint32_t checksum;  // CRC-32C of the rest of this struct and of the body
  uint64_t epoch;
  uint64_t sequence;     // grows with every entry of a lane, from 1 in every epoch
  uint64_t transaction;  // grows by one per transaction of the lane, from 1 in every epoch
  uint32_t lane;
  uint32_t flags;
  uint64_t body_size;  // bytes of records after this struct
  uint64_t pool_salt;  // from the uuid, so that bytes of another pool are no entry here
  uint64_t position;   // of this entry in its lane replica
};

enum class record_kind : uint32_t {
  data = 1,    // length bytes follow: write them at offset
  intent = 2,  // nothing follows: the parity of this range is to be recomputed
  undo = 3,    // length bytes follow: the old bytes of an in-place range
  // nothing follows: the medium has the bytes of this range, durably before the record's
  // transaction counts
  placed = 4
};

struct log_chain {         // body of a chained entry
  uint64_t first;          // file offset of the first log chunk
  uint64_t first_replica;  // of its second copy, 0 if there is none
  uint64_t links;          // chunks in the chain
  uint64_t length;         // bytes of records in all of them
};

struct log_record {  // padded to 8 bytes with the payload that follows it
  uint64_t offset;   // in the file
  uint32_t length;
  uint32_t kind;
};

struct log_link {  // at the start of each log chunk; its part of the records follows
  uint64_t next;   // file offset of the next log chunk, 0 at the end
  uint64_t next_replica;
  uint64_t transaction;  // of the entry
  uint64_t length;       // bytes of records in this chunk
  uint64_t index;        // position in the chain
  uint64_t pool_salt;
  uint64_t epoch;
  uint32_t lane;
  uint32_t checksum;  // CRC-32C of the 60 bytes before it and of the records
};

// ---- segments (core/log/segment.hpp) ------------------------------------------------------------

inline constexpr uint32_t segment_magic = 0x67655353;  // "SSeg"

struct segment_head {  // the first line of a segment
  uint32_t magic;
  uint32_t checksum;    // CRC-32C of the 56 bytes that follow
  uint64_t salt;        // of the file, from its uuid
  uint64_t epoch;       // of the session that appends to it
  uint64_t generation;  // of this use; never twice with one salt, epoch and lane
  uint32_t lane;
  uint32_t redundancy;  // enum log::redundancy
  uint64_t size;        // bytes of one copy
  // frames up to this sequence were void when the segment was begun, as its writer knew
  uint64_t truncation_point;
  uint64_t
      // sequence of the last frame that its writer had appended and fenced; 0: none, or not known
      before;
};

struct frame_head {  // begins at a line; the body follows, then zeros to the end of the line
  // CRC-32C of the 28 bytes that follow, begun with the segment's seed and the position
  uint32_t checksum;
  uint32_t body_checksum;  // CRC-32C of the body
  uint32_t size;           // bytes of head and body
  uint32_t flags;          // the writer's
  uint64_t sequence;       // the writer's
  uint64_t transaction;    // the writer's
};

inline constexpr uint32_t segment_end_magic = 0x646e4553;  // "SEnd"

struct segment_end {  // the line after the last place of a frame, if the layout has one (SEG-7)
  uint32_t magic;
  uint32_t checksum;  // CRC-32C of the 56 bytes that follow, begun with the segment's seed
  uint64_t end;       // position after the last frame
  uint64_t frames;    // how many there are
  uint64_t last;      // transaction of the last one
  uint64_t zeros[4];
};

// ---- a log in a file of its own (core/engine/speculative/log_file/log_in_file.hpp) --------------

inline constexpr char log_file_magic[8] = {'S', 'C', 'U', 'T', 'E', 'L', 'O', 'G'};
// Version 2: chunks of the file after those that are counted belong to the log as well. A closed
// log has none, and so version 1, which older libraries open.
inline constexpr uint32_t log_file_version = 2, log_file_version_closed = 1;
enum class log_file_state : uint32_t {
  coming = 1,  // of a session that has not begun
  in_use = 2,
  closed = 3  // nothing in it is needed
};

// At offsets 0 and 4096. The truncation point is at 8192 and 12288: at each, a sequence and its
// check twice, 64 bytes apart. Chunks follow.
struct log_file_head {
  char magic[8];
  uint32_t checksum;  // CRC-32C of the 116 bytes that follow
  uint32_t version;
  uint8_t uuid[16];       // of the pool
  uint64_t epoch;         // of the session that has the log, or is about to
  uint64_t number;        // of this head; the valid one with the highest number counts
  uint64_t segment_size;  // bytes of one copy
  uint64_t chunk_size;
  uint32_t chunks;
  uint32_t kept;        // of these the log was made with
  uint32_t redundancy;  // enum log::redundancy
  uint32_t state;       // enum log_file_state
  uint64_t reserved[6];
};
inline constexpr uint64_t log_file_truncation_offset = 8192, log_file_chunks_offset = 16384;

static_assert(packed<log_file_head> && sizeof(log_file_head) == 128);
static_assert(offsetof(log_file_head, uuid) == 16 && offsetof(log_file_head, epoch) == 32);
static_assert(offsetof(log_file_head, chunks) == 64 && offsetof(log_file_head, reserved) == 80);
static_assert(packed<segment_head> && sizeof(segment_head) == 64);
static_assert(offsetof(segment_head, generation) == 24 &&
              offsetof(segment_head, truncation_point) == 48);
static_assert(packed<frame_head> && sizeof(frame_head) == 32);
static_assert(packed<segment_end> && sizeof(segment_end) == 64);
static_assert(packed<log_entry> && sizeof(log_entry) == 64);
static_assert(offsetof(log_entry, sequence) == 16 && offsetof(log_entry, position) == 56);
static_assert(packed<log_record> && sizeof(log_record) == 16);
static_assert(packed<log_chain> && sizeof(log_chain) == 32);
static_assert(packed<log_link> && sizeof(log_link) == 64 && offsetof(log_link, checksum) == 60);

}  // namespace scute::core::format
