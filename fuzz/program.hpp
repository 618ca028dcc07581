// SPDX-License-Identifier: BSD-3-Clause
// What an input means: a base image, changes to its bytes, and what is then done with the pool.
//
// An input is a head of 4 bytes and commands of 8. Every byte string is a valid programme: missing
// bytes count as zeros, numbers are taken modulo what there is. The meaning is stable, since the
// corpus depends on it: new kinds are added at the end, and nothing is renumbered.
//
//   head      0 base image   1 flags (head_flags)   2 fence of the crash   3 nothing
//   mutation  0 kind:4 reseal:1 width:2 0:1   1 which   2 field   3 operation:3 extra:5
//             4..7 value
//   action    0 kind:7 1:1   1 object   2..3 small number   4..7 value
//
// All mutations come before all actions, whatever their order in the input.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace scute::fuzz {

enum head_flags : uint8_t {
  open_read_only = 1,  // the first session
  crash_first = 2,     // the first session ends at a fence; the rest runs on what it left
};

enum class place_kind : uint8_t {
  superblock,
  lane_status,
  ring_entry,
  ring_record,
  undo_entry,
  log_link,
  zone_descriptor,
  root_anchor,
  chunk_header,
  object_header,
  part_header,
  payload,
  parity,
  chunk_bytes,  // of any chunk, lent to a log or not
  raw,
  file_size,
};
inline constexpr unsigned place_kinds = 16;

enum class operation : uint8_t {
  set,
  exclusive_or,
  add,
  interesting,  // a value that is near some boundary
  fill,         // pseudo-random bytes, up to half a page
  zero,         // the same with zeros
  copy,         // another structure of the same kind over this one
  flip,         // one bit
};

struct mutation {
  place_kind kind;
  bool reseal;    // make the checksum of the structure right again
  uint8_t width;  // 1, 2, 4 or 8 bytes
  uint8_t which, field, extra;
  operation what;
  uint32_t value;
};

enum class action_kind : uint8_t {
  begin_or_commit,
  abort,
  alloc,
  free,
  open,
  add_range,
  in_place,
  get_range,
  get_verified,
  object_update,
  root,
  locate,
  inspect,
  check,
  reopen,
  crash,
  container,
  wild_oid,
};
inline constexpr unsigned action_kinds = 18;

struct action {
  action_kind what;
  uint8_t object;
  uint16_t small;
  uint32_t value;
};

struct program {
  uint8_t image = 0;
  uint8_t flags = 0;
  uint8_t crash_fence = 0;
  std::vector<mutation> mutations;
  std::vector<action> actions;
};

inline constexpr size_t head_size = 4, command_size = 8;
inline constexpr size_t commands_max = 64;  // further ones are ignored
inline constexpr size_t input_size_max = head_size + command_size * commands_max;

program decode(std::span<const uint8_t> input);

// One line per command, for people.
std::string describe(const program& p);

}  // namespace scute::fuzz
