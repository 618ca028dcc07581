// SPDX-License-Identifier: BSD-3-Clause
#include "pow/file/file_head.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "base/failure.hpp"
#include "codec/checksum/crc32c.hpp"

namespace scute::core::pow {
namespace {

void put(medium::writer& w, uint32_t copy, const file_head& h) {
  w.stream(w.target().base() + copy * head_page, &h, sizeof h, medium::purpose::metadata);
}

bool makes_sense(const file_head& h) noexcept {
  const bool tracks = h.protect == static_cast<uint32_t>(protection::always);
  const bool sealed = h.protect == static_cast<uint32_t>(protection::sealed);
  return (!sealed || h.segment_size >= sealed_least) &&
         h.segment_size >= (tracks ? tracks_least : head_page) && h.segment_size % head_page == 0 &&
         h.segment_size <= uint64_t{1} << 32 && h.segments <= segments_max(h.segment_size) &&
         h.protect <= static_cast<uint32_t>(protection::always) &&
         h.last_valid_count <= last_valid_max && h.decided <= h.session && h.clean <= 1;
}

// Whether each word of the torn copy is that of one of the two.
bool is_mix(const file_head& torn, const file_head& a, const file_head& b) noexcept {
  for (size_t at = 0; at < sizeof torn; at += sizeof(uint64_t)) {
    const auto same = [&](const file_head& h) {
      return std::memcmp(reinterpret_cast<const std::byte*>(&torn) + at,
                         reinterpret_cast<const std::byte*>(&h) + at, sizeof(uint64_t)) == 0;
    };
    if (!same(a) && !same(b)) return false;
  }
  return true;
}

// Whether the torn copy may have bytes of `whole`, and otherwise of that other update.
bool is_mix_with(const file_head& torn, const file_head& whole, uint64_t other_update) {
  if (torn.update != whole.update && torn.update != other_update) return false;
  const auto other = std::make_unique<file_head>(whole);
  other->checksum = torn.checksum;
  other->update = torn.update;
  other->session = torn.session;
  other->decided = torn.decided;
  other->segments = torn.segments;
  other->clean = torn.clean;
  other->last_valid_count = torn.last_valid_count;
  other->in_use = torn.in_use;
  other->tags = torn.tags;
  other->tags_session = torn.tags_session;
  std::memcpy(other->last_valid, torn.last_valid, sizeof torn.last_valid);
  return std::memcmp(other.get(), &torn, sizeof torn) == 0;
}

// HEAD-1.
bool left_by_crash(std::span<const file_head, head_copies> copies, const file_head& newest) {
  const auto is_newest = [&](const file_head& h) {
    return std::memcmp(&h, &newest, sizeof h) == 0;
  };
  const auto is_before = [&](const file_head& h) {
    return h.checksum == head_checksum(h) && h.update + 1 == newest.update;
  };
  size_t i = 0;
  while (i < copies.size() && is_newest(copies[i])) ++i;
  if (i == copies.size()) return true;
  if (i == 0)  // the next update was begun
    return is_newest(copies[1]) && is_newest(copies[2]) &&
           is_mix_with(copies[0], newest, newest.update + 1);
  const bool torn = !is_before(copies[i]);
  if (torn && i + 1 == copies.size()) return is_mix_with(copies[i], newest, newest.update - 1);
  if (torn && !is_mix(copies[i], newest, copies[i + 1])) return false;
  return std::all_of(copies.begin() + static_cast<ptrdiff_t>(i) + (torn ? 1 : 0), copies.end(),
                     is_before);
}

}  // namespace

uint32_t head_checksum(const file_head& h) noexcept {
  constexpr size_t before = offsetof(file_head, version);
  return codec::crc32c(0, reinterpret_cast<const std::byte*>(&h) + before, sizeof h - before);
}

uint64_t salt_of(const file_head& h) noexcept {
  uint64_t words[2];
  std::memcpy(words, h.uuid, sizeof words);
  return words[0] ^ words[1] * 0x9e3779b97f4a7c15ULL;
}

file_head read_head(const medium::medium& m, uint64_t file_size, const std::string& name,
                    uint32_t& damaged, uint64_t longest) {
  bool ours = false;
  auto newest = std::make_unique<std::optional<file_head>>();
  auto copies = std::make_unique<file_head[]>(head_copies);
  for (uint32_t i = 0; i < head_copies; ++i) {
    file_head& h = copies[i];
    std::memset(&h, 0, sizeof h);
    if (file_size < (i + 1) * head_page || !m.read(i * head_page, &h, sizeof h)) continue;
    if (std::memcmp(h.magic, file_magic, sizeof h.magic) != 0) continue;
    ours = true;
    if (h.checksum != head_checksum(h)) continue;
    if (h.version > file_version)
      throw failure(SCUTE_E_VERSION, name + " was made by a newer library (format " +
                                         std::to_string(h.version) + "); use that one");
    if (h.version == 0)
      throw failure(SCUTE_E_VERSION, name + " says that it has format 0, which no library writes");
    if (!makes_sense(h)) continue;
    if (h.version < file_version)
      throw failure(SCUTE_E_VERSION,
                    name + " has format " + std::to_string(h.version) +
                        " of a store, which Scute 0.1 was the last to read; copy its objects into "
                        "a new store with a program that was built with 0.1");
    if (!*newest || (*newest)->update < h.update) *newest = h;
  }
  if (!ours) throw failure(SCUTE_E_FORMAT, name + " is not a persist-on-write file");
  if (!*newest)
    throw failure(SCUTE_E_CORRUPT, "none of the three head pages of " + name +
                                       " is whole, so its contents cannot be read");
  const file_head& h = **newest;
  const uint64_t size = first_segment + h.segments * h.segment_size;
  if (size > std::max(file_size, longest))
    throw failure(SCUTE_E_TRUNCATED, name + " has " + std::to_string(file_size) + " bytes, and " +
                                         std::to_string(size) +
                                         " as its head page says; open it with salvage, and with a "
                                         "max_size of at least as many, to get the rest");
  damaged = 0;
  if (left_by_crash(std::span<const file_head, head_copies>(copies.get(), head_copies), h))
    return h;
  for (uint32_t i = 0; i < head_copies; ++i) damaged += std::memcmp(&copies[i], &h, sizeof h) != 0;
  return h;
}

void align_heads(medium::writer& w, const file_head& h) {
  for (uint32_t i = 0; i < head_copies; ++i) {
    put(w, i, h);
    w.fence(fence_site::pow_align);
  }
}

void write_head(medium::writer& w, file_head& h) {
  ++h.update;
  h.checksum = head_checksum(h);
  for (uint32_t i = 0; i < head_copies; ++i) {
    put(w, i, h);
    w.fence(fence_site::pow_head);
  }
}

}  // namespace scute::core::pow
