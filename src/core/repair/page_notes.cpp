// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/page_notes.hpp"

#include <algorithm>
#include <cstring>

#include "base/locks/lock.hpp"
#include "codec/checksum/crc32c.hpp"

namespace scute::core::repair {
namespace {

bool possible(const pool::state& s, uint64_t page) noexcept {
  return page % format::page == 0 && page >= s.geo.zones_offset && page < s.geo.zones_end();
}

}  // namespace

uint32_t note_checksum(uint64_t salt, const format::page_note& n) noexcept {
  const uint32_t begun = codec::crc32c(0, &salt, sizeof salt);
  return codec::crc32c(begun, reinterpret_cast<const std::byte*>(&n) + 4, sizeof n - 4);
}

void page_notes::load() noexcept {
  for (uint32_t i = 0; i < format::page_note_count; ++i) {
    lines_[i] = {};
    for (unsigned copy = 0; copy < 3; ++copy) {
      format::page_note n;
      const uint64_t at = s_.geo.superblock_offset(copy) + format::page_notes_offset + i * sizeof n;
      if (!s_.medium->read(at, &n, sizeof n) || n.checksum != note_checksum(s_.salt, n)) continue;
      if (!std::all_of(std::begin(n.pages), std::end(n.pages),
                       [&](uint64_t p) { return p == 0 || possible(s_, p); }))
        continue;
      if (n.sequence > lines_[i].sequence) lines_[i] = n;
    }
  }
}

std::vector<uint64_t> page_notes::pages() const {
  std::vector<uint64_t> all;
  all.reserve(pages_max);
  {
    const locked hold(lock_);
    for (const auto& line : lines_)
      for (const uint64_t p : line.pages)
        if (p != 0) all.push_back(p);
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool page_notes::add(medium::writer& w, uint64_t page) noexcept {
  return replace(w, 0, page);
}

void page_notes::remove(medium::writer& w, uint64_t page) noexcept {
  replace(w, page, 0);
}

// Replaces an entry `from` by `to`. Nothing is needed if `to` is there already.
bool page_notes::replace(medium::writer& w, uint64_t from, uint64_t to) noexcept {
  if (s_.read_only) return true;
  const locked hold(lock_);
  for (const auto& line : lines_)
    for (const uint64_t p : line.pages)
      if (to != 0 && p == to) return true;
  for (uint32_t i = 0; i < format::page_note_count; ++i) {
    auto& line = lines_[i];
    for (uint64_t& p : line.pages) {
      if (p != from) continue;
      p = to;
      write(w, i);
      return true;
    }
  }
  return false;
}

void page_notes::write(medium::writer& w, uint32_t i) noexcept {
  auto& line = lines_[i];
  ++line.sequence;
  line.checksum = note_checksum(s_.salt, line);
  for (unsigned copy = 0; copy < 3; ++copy) {
    const uint64_t at =
        s_.geo.superblock_offset(copy) + format::page_notes_offset + i * sizeof line;
    w.stream(s_.at(at), &line, sizeof line, medium::purpose::metadata);
    if (copy == 0) w.fence(fence_site::page_note);  // NOTE-2
  }
  w.fence(fence_site::page_noted);
}

}  // namespace scute::core::repair
