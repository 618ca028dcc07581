// SPDX-License-Identifier: BSD-3-Clause
// Parses and builds the frames of a persist-on-write file (pow/file/format.hpp).
#pragma once

#include <cstring>
#include <span>

#include "base/byte_buffer.hpp"
#include "core/log/segment_reader.hpp"
#include "pow/file/format.hpp"

namespace scute::core::pow {

// The contents of a valid frame. Nothing in it is trusted except that its checksum is right.
struct frame_view {
  frame_kind kind;
  uint64_t number;  // of the batch
  uint32_t part;
  uint64_t
      confirmed;  // batches of the lane up to this one are known to be durable; 0: nothing known
  uint64_t version;
  std::span<const std::byte> dependencies;
  std::span<const std::byte> rest;  // records, or what the kind says

  dependency named(size_t i) const noexcept {
    dependency d;
    std::memcpy(&d, dependencies.data() + i * sizeof d, sizeof d);
    return d;
  }
  size_t named_count() const noexcept { return dependencies.size() / sizeof(dependency); }
};

// Returns false if its fields are inconsistent.
inline bool parse(const log::frame& f, frame_view& v) noexcept {
  const uint32_t kind = f.head.flags & 0xff, named = f.head.flags >> 8 & 0xff;
  const uint32_t behind = f.head.flags >> 16;
  if (kind < static_cast<uint32_t>(frame_kind::whole) ||
      kind > static_cast<uint32_t>(frame_kind::mark))
    return false;
  v.kind = static_cast<frame_kind>(kind);
  v.number = f.head.transaction >> 16;
  v.part = static_cast<uint32_t>(f.head.transaction & 0xffff);
  v.confirmed = behind == behind_unknown || behind > v.number ? 0 : v.number - behind;
  v.version = f.head.sequence;
  const auto body = f.body();
  if (v.number == 0 || body.size() < named * sizeof(dependency)) return false;
  v.dependencies = body.first(named * sizeof(dependency));
  v.rest = body.subspan(v.dependencies.size());
  return true;
}

struct record {
  uint32_t table;
  bool tombstone;
  uint64_t id, version;
  uint32_t size;
  uint64_t offset;  // of the bytes, from the frame's beginning

  uint64_t index() const noexcept { return id & index_mask; }
};

// Calls fn(record) for each. Returns false if one is malformed; fn has then got the ones before it.
template <typename Fn>
bool for_each_record(const frame_view& v, Fn&& fn) {
  uint64_t version = v.version;
  uint64_t base = sizeof(format::frame_head) + v.dependencies.size();
  auto left = v.rest;
  while (left.size() >= sizeof(record_head)) {
    record_head h;
    std::memcpy(&h, left.data(), sizeof h);
    const uint64_t size = h.size & ~tombstone_flag;
    if (h.table == group_table) {
      version = h.id;
      left = left.subspan(sizeof h);
      base += sizeof h;
      continue;
    }
    const uint64_t whole = round_record(size);
    if (size > record_size_max || whole > left.size()) return false;
    fn(record{h.table, (h.size & tombstone_flag) != 0, h.id, version, static_cast<uint32_t>(size),
              base + sizeof h});
    left = left.subspan(whole);
    base += whole;
  }
  return left.empty();
}

// ---- putting one together: log::segment_writer::start(), then these -----------------------------

inline void add_dependency(byte_buffer& image, uint32_t lane, uint64_t number) {
  const dependency d{lane, 0, number};
  std::memcpy(image.extend(sizeof d), &d, sizeof d);
}
// Returns where the `size` bytes go.
inline std::byte* add_record(byte_buffer& image, uint32_t table, uint64_t id, uint32_t size,
                             bool tombstone) {
  const record_head h{table, size | (tombstone ? tombstone_flag : 0), id};
  const uint64_t whole = round_record(size);
  std::byte* const at = image.extend(whole);
  std::memcpy(at, &h, sizeof h);
  if (whole != sizeof h + size) std::memset(at + sizeof h + size, 0, whole - sizeof h - size);
  return at + sizeof h;
}
inline void add_group(byte_buffer& image, uint64_t version) {
  const record_head h{group_table, 0, version};
  std::memcpy(image.extend(sizeof h), &h, sizeof h);
}

}  // namespace scute::core::pow
