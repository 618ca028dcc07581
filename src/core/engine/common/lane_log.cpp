// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/common/lane_log.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/rounding.hpp"
#include "core/log/chain.hpp"

namespace scute::core::engine {
// base: file offset of each replica's byte 0.
void lane_log::stream(pool::lane& l, uint64_t position, const uint64_t (&base)[2]) {
  const uint32_t replicas = s_.geo.lane_replicas;
  SCUTE_ASSERT(replicas <= std::size(base));
  for (uint32_t r = 0; r < replicas; ++r)
    l.w.stream(s_.at(base[r] + position), l.image.data(), l.image.size(), medium::purpose::log);
}

// Lends n chunks and appends their offsets to a list of the lane's.
void lane_log::borrow(pool::lane& l, std::vector<uint64_t>& to, size_t n) {
  lane_state& mine = lent_[l.index];
  cache_spare(l);
  to.reserve(to.size() + n);
  mine.spare.reserve(mine.spare.size() + mine.ring_chunks.size() + mine.undo_chunks.size() + n);
  const std::vector<uint64_t> fresh = heap_.lend(l, n);
  to.insert(to.end(), fresh.begin(), fresh.end());
}

void lane_log::cache_spare(pool::lane& l) noexcept {
  auto& spare = lent_[l.index].spare;
  if (spare.empty()) return;
  try {
    heap_.cache_chunks(l, spare);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // Out of memory, or the medium has failed: the chunks that are left stay lent.
  }
}

// Moves the records of l.image to lent chunks and leaves a chain in their place.
void lane_log::chain(pool::lane& l, std::vector<uint64_t>& chunks) {
  // Lending may make steps, which build their own entries in l.image.
  byte_buffer entry = std::exchange(l.image, {});
  const std::span<const std::byte> records{entry.data() + sizeof(format::log_entry),
                                           entry.size() - sizeof(format::log_entry)};
  const auto extend = [&](size_t n) -> std::span<const uint64_t> {
    const size_t before = chunks.size();
    borrow(l, chunks, n);
    l.w.count.fallbacks.add(1);
    return {chunks.data() + before, n};
  };
  const log::chunk_space space{s_.at(0), s_.geo.chunk_size, s_.geo.lane_replicas};
  const format::log_chain c =
      log::write_chain(space, l.w, identity_of(s_, l.index), l.transaction, records, extend);
  l.image = std::move(entry);
  log::begin(l.image);
  std::memcpy(l.image.extend(sizeof c), &c, sizeof c);
}

void lane_log::prepare(entry_image& image) {
  pool::lane& l = image.lane();
  if (log::round_line(l.image.size()) <=
      format::lane_undo_offset(s_.geo.lane_size) - format::lane_log_offset)
    return;
  // The steps that lending makes use up sequence numbers; the entry's own comes after them.
  auto& chunks = lent_[l.index].ring_chunks;
  SCUTE_ASSERT(chunks.empty());
  chain(l, chunks);
  image.chained();
}

void lane_log::write(const entry_image& image) noexcept {
  pool::lane& l = image.lane();
  const uint64_t end = format::lane_undo_offset(s_.geo.lane_size);
  const uint64_t size = log::round_line(l.image.size());
  uint64_t position = l.log_next;
  if (position + size > end) position = format::lane_log_offset;
  if (l.logged != 0 && position < l.last_end && position + size > l.last_begin) {
    if (l.logged - lent_[l.index].oldest > applied_reach / 2) sweep(l);
    flush_status(l);  // LOG-3
    l.w.fence(fence_site::ring);
    // If the status line is not durable, the entry that lies here is still needed. The caller that
    // decides the next entry finds that the medium has failed.
    if (s_.medium->failed()) return;
    l.raise_invalid_up_to(l.logged);
  }
  SCUTE_ASSERT(position + size <= end && l.sequence >= l.logged);
  log::seal(l.image, identity_of(s_, l.index), image.flags(), l.sequence + 1, l.transaction,
            position);
  stream(l, position,
         {s_.geo.lane_offset(l.index, 0), s_.geo.lane_offset(l.index, s_.geo.lane_replicas - 1)});
  l.logged = ++l.sequence;
  l.last_begin = position;
  l.last_end = position + size;
  l.log_next = position + size;
}

// Leaves only the last entry in the ring, from the next fence on (LOG-5).
void lane_log::sweep(pool::lane& l) noexcept {
  static constexpr std::byte zeros[format::page] = {};
  const auto clear = [&](uint64_t begin, uint64_t end) {
    for (uint32_t r = 0; r < s_.geo.lane_replicas; ++r)
      for (uint64_t at = begin, n = 0; at < end; at += n) {
        n = std::min<uint64_t>(end - at, sizeof zeros);
        l.w.stream(s_.at(s_.geo.lane_offset(l.index, r) + at), zeros, n, medium::purpose::log);
      }
  };
  clear(format::lane_log_offset, l.last_begin);
  clear(l.last_end, format::lane_undo_offset(s_.geo.lane_size));
  lent_[l.index].oldest = l.logged;
}

// Streams l.image as the next undo entry; the area has room for it.
void lane_log::append_undo(pool::lane& l, uint32_t flags) {
  lane_state& mine = lent_[l.index];
  undo_area& area = mine.area;
  log::seal(l.image, identity_of(s_, l.index), flags | format::entry_undo, mine.undo_count,
            l.transaction, area.next);
  stream(l, area.next, area.base);
  area.next += log::round_line(l.image.size());
  ++mine.undo_count;
  mine.undo_decided = false;
  SCUTE_ASSERT(area.next <= area.end);
}

lane_log::undo_area lane_log::lane_undo_area(const pool::lane& l) const noexcept {
  return {{s_.geo.lane_offset(l.index, 0), s_.geo.lane_offset(l.index, s_.geo.lane_replicas - 1)},
          format::lane_undo_offset(s_.geo.lane_size),
          s_.geo.lane_size};
}

bool lane_log::add_undo(byte_buffer& image, uint64_t offset, const std::byte* old,
                        uint64_t length) const {
  constexpr uint64_t link_room =
      log::round_line(sizeof(format::log_entry) + sizeof(format::log_chain));
  const uint64_t room = s_.geo.lane_size - format::lane_undo_offset(s_.geo.lane_size) - link_room;
  const uint64_t before = std::max(image.size(), sizeof(format::log_entry));
  const format::log_record r{offset, static_cast<uint32_t>(length),
                             static_cast<uint32_t>(format::record_kind::undo)};
  const size_t payload = round_up(length, 8);
  if (length > room || log::round_line(before + sizeof r + payload) > room) return false;
  if (image.size() == 0) log::begin(image);
  log::add_record(image, r, old);
  return true;
}

void lane_log::write_first_undo(pool::lane& l, byte_buffer& image, medium::writer& w) noexcept {
  lane_state& mine = lent_[l.index];
  mine.undo_transaction = l.transaction;
  mine.area = lane_undo_area(l);
  log::seal(image, identity_of(s_, l.index), format::entry_undo, 0, l.transaction, mine.area.next);
  for (uint32_t r = 0; r < s_.geo.lane_replicas; ++r)
    w.stream(s_.at(mine.area.base[r] + mine.area.next), image.data(), image.size(),
             medium::purpose::log);
  mine.area.next += log::round_line(image.size());
  mine.undo_count = 1;
  mine.undo_decided = false;
}

void lane_log::write_undo(const entry_image& image) {
  pool::lane& l = image.lane();
  lane_state& mine = lent_[l.index];
  undo_area& area = mine.area;
  if (mine.undo_transaction != l.transaction) {
    mine.undo_transaction = l.transaction;
    mine.undo_count = 0;
    area = lane_undo_area(l);
  }
  constexpr uint64_t link = sizeof(format::log_entry) + sizeof(format::log_chain);
  constexpr uint64_t link_room = log::round_line(link);
  uint32_t flags = image.flags();
  // A range that would fill most of a chunk gets chunks of its own, and leaves a link.
  if (l.image.size() > s_.geo.chunk_size / 4) {
    chain(l, mine.undo_chunks);
    flags |= format::entry_chained;
  }
  // After every entry there is always room for one that names the chunk in which the log continues.
  if (area.next + log::round_line(l.image.size()) + link_room > area.end) {
    byte_buffer entry = std::exchange(l.image, {});  // lending builds entries, too
    const size_t before = mine.undo_chunks.size();
    borrow(l, mine.undo_chunks, s_.geo.lane_replicas);
    const uint64_t first = mine.undo_chunks[before], last = mine.undo_chunks.back();
    const format::log_chain next{first, last != first ? last : 0, 1, 0};
    log::begin(l.image);
    std::memcpy(l.image.extend(sizeof next), &next, sizeof next);
    append_undo(l, format::entry_more);
    area = {{first, last}, 0, s_.geo.chunk_size};
    l.image = std::move(entry);
  }
  append_undo(l, flags);
}

void lane_log::store_status(pool::lane& l) {
  // `undone` before `applied`: both lie in one line, so a durable `applied` makes `undone` durable
  // too.
  lane_state& mine = lent_[l.index];
  if (mine.undone_word == 0)
    mine.undone_word =
        log::make_status_word(identity_of(s_, l.index), log::status_word::undone, mine.undone);
  const uint64_t undone = mine.undone_word;
  const uint64_t applied =
      log::make_status_word(identity_of(s_, l.index), log::status_word::applied, l.logged);
  for (uint32_t r = 0; r < s_.geo.lane_replicas; ++r) {
    std::byte* line = s_.at(s_.geo.lane_offset(l.index, r));
    l.w.store(line + offsetof(format::lane_status, undone), &undone, 8);
    l.w.store(line + offsetof(format::lane_status, applied), &applied, 8);
  }
}

void lane_log::flush_status(pool::lane& l) {
  for (uint32_t r = 0; r < s_.geo.lane_replicas; ++r)
    l.w.flush(s_.at(s_.geo.lane_offset(l.index, r)), sizeof(format::lane_status),
              medium::purpose::log);
}

void lane_log::note(pool::lane& l, ending of) noexcept {
  lane_state& mine = lent_[l.index];
  if (of == ending::in_place && mine.undo_count != 0) {
    if (!mine.undo_decided) fence_status(l);  // LOG-6
    mine.undone = l.transaction;
    mine.undone_word = 0;
  }
  store_status(l);
  l.applied.store(l.logged, std::memory_order_release);
}

void lane_log::fence_status(pool::lane& l) noexcept {
  flush_status(l);
  l.w.fence(fence_site::retire);
}

void lane_log::make_noted(pool::lane& l) noexcept {
  fence_status(l);
  if (!s_.medium->failed()) l.raise_invalid_up_to(l.logged);
}

void lane_log::retire(pool::lane& l, ending of) noexcept {
  const medium::cost_scope as(medium::cost_part::log);
  note(l, of);
  if (of == ending::entry && lent_[l.index].ring_chunks.empty()) return;
  // LOG-3: before a chain is taken apart. Also before any step may push the final entry out of the
  // ring: only that entry keeps recovery from taking the undo entries for live ones (LOG-4).
  make_noted(l);
  clean_up(l, of);
}

void lane_log::invalidate(pool::lane& l, ending of) noexcept {
  note(l, of);
  make_noted(l);
}

void lane_log::clean_up(pool::lane& l, ending of) noexcept {
  if (s_.medium->failed()) return;
  lane_state& mine = lent_[l.index];
  // The steps below call this function again.
  if (of == ending::entry && mine.ring_chunks.empty()) return;
  const auto done_with = [&](std::vector<uint64_t>& chunks) {
    mine.spare.insert(mine.spare.end(), chunks.begin(), chunks.end());  // see borrow()
    chunks.clear();
  };
  done_with(mine.ring_chunks);
  if (of == ending::in_place) {
    done_with(mine.undo_chunks);
    mine.undo_transaction = 0;
  }
  // May make steps, which retire entries of their own.
  cache_spare(l);
}

}  // namespace scute::core::engine
