// SPDX-License-Identifier: BSD-3-Clause
// The part of the allocator that handles whole chunks: finding free ones, spans, chunks lent to
// logs.
#include <algorithm>
#include <memory>

#include "base/locks/lock.hpp"
#include "codec/parity/parity.hpp"
#include "core/heap/heap.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/parity/columns.hpp"

namespace scute::core::heap {

using lending = zone_table::lending;

bool heap::reclaim_empty_runs(pool::lane& l) {
  zones_.make_pending(l, engine_);  // PEND-4
  bool any = false;
  for (uint64_t z = 0; z < zones_.count(); ++z) {
    zone& zn = zones_.get(z);
    for (uint32_t i = 0; i < zn.prepared; ++i) {
      chunk_record& c = zn.chunks[i];
      if (c.kind.load(std::memory_order_relaxed) != use::run) continue;
      scan(c);
      {
        const locked in_chunk(c.mutex);
        if (c.free_count != c.formatted.load(std::memory_order_relaxed)) continue;
        // All its slots' headers are free, so the chunk may get another use (ZONE-2 does the rest).
        c.kind.store(use::free, std::memory_order_release);
        c.owned = false;
        c.free_count = 0;
        delete[] c.free_bits.exchange(nullptr);
      }
      ++zn.available;
      zn.search_from = std::min(zn.search_from, i);
      any = true;
    }
  }
  return any;
}

chunk_record* heap::take_chunks(pool::lane& l, uint32_t n) {
  no_blocks_ = 0;
  for (int attempt = 0;; ++attempt) {
    for (uint64_t zi = 0; zi < zones_.count(); ++zi) {
      zone& z = zones_.get(zi);
      note_zone(zi);
      if (z.available < n) continue;
      uint32_t found = 0;
      bool skipped = false;
      for (uint32_t i = z.search_from; i < s_.geo.chunks; ++i) {
        const use k = z.chunks[i].kind.load(std::memory_order_relaxed);
        if (k != use::free && k != use::virgin) {
          found = 0;
          continue;
        }
        if (++found < n) {
          skipped = n > 1;
          continue;
        }
        // Chunks after these are not available either.
        no_blocks_ = zones_.extend(l, engine_, zi, i);
        if (no_blocks_ != 0) break;
        bool used_before = false;
        for (uint32_t b = 0; b < n; ++b) used_before |= z.chunks[i - b].generation != 0;
        if (used_before)  // HEAP-3
          engine_.prepare_reuse(l, s_.geo.chunk_offset(zi, i + 1 - n),
                                uint64_t{n} << s_.geo.chunk_shift);
        if (!skipped) z.search_from = i + 1 - n;
        return &z.chunks[i + 1 - n];
      }
    }
    if (attempt == 0 && reclaim_empty_runs(l)) continue;
    attempt = std::max(attempt, 1);
    if (attempt == 2 || !reclaim_chunk_cache(l)) return nullptr;  // CCACHE-3
  }
}

object heap::reserve_span(pool::lane& l, uint64_t size) {
  if (size > size_max())
    throw failure(SCUTE_E_RANGE, "an object of " + std::to_string(size) +
                                     " bytes is larger than this pool can ever hold (" +
                                     std::to_string(size_max()) + ")");
  uint64_t n = (size + s_.geo.chunk_size - 1) >> s_.geo.chunk_shift;
  while (pool::payload_room(n << s_.geo.chunk_shift) < size) ++n;
  const auto length = static_cast<uint32_t>(n);
  const locked hold(zones_.chunk_mutex);
  chunk_record* head = take_chunks(l, length);
  if (head == nullptr) full(size);
  zones_.make_span(l, engine_, *head, length);
  zones_.get(head->zone).available -= length;
  return zones_.span_object(*head);
}

// ---- chunks lent to logs ------------------------------------------------------------------------

// Writes zeros, with their parity, to a chunk that is free in memory, and was free on the medium
// before.
void heap::zero_free(pool::lane& l, chunk_record& c) {
  static constexpr std::byte zeros[pool::column_block]{};
  constexpr size_t at_once = 64;  // the largest chunks have 256 KiB
  SCUTE_ASSERT(s_.geo.chunk_size <= at_once * sizeof zeros);
  const uint64_t offset = zones_.offset_of(c);
  pool::patch patches[at_once];
  size_t n = 0;
  for (uint64_t at = 0; at < s_.geo.chunk_size; at += sizeof zeros)
    if (!codec::is_zero(s_.at(offset + at), sizeof zeros))
      patches[n++] = {offset + at, zeros, sizeof zeros, medium::purpose::log};
  if (n == 0) return;
  zones_.make_log(l, engine_, c, lending::not_yet);
  engine_.prewrite(l, {patches, n});
}

// Number of free chunks; stops counting at `enough`.
uint64_t heap::free_chunks(uint64_t enough) {
  uint64_t n = 0;
  for (uint64_t zi = 0; zi < zones_.count() && n < enough; ++zi) n += zones_.get(zi).available;
  return n;
}

// Bytes of a log's records that n lent chunks can hold.
uint64_t heap::log_room(uint64_t chunks) const noexcept {
  return chunks / s_.geo.lane_replicas * (s_.geo.chunk_size - sizeof(format::log_link));
}

// Number of runs whose objects are all free: a thread that lacks chunks takes them
// (reclaim_empty_runs()). Runs that were never scanned do not count.
uint64_t heap::empty_runs() {
  uint64_t n = 0;
  for (uint64_t z = 0; z < zones_.count(); ++z) {
    if (!zones_.is_loaded(z)) continue;
    zone& zn = zones_.get(z);
    for (uint32_t i = 0; i < zn.prepared; ++i) {
      chunk_record& c = zn.chunks[i];
      if (c.kind.load(std::memory_order_relaxed) != use::run) continue;
      const locked in_chunk(c.mutex);
      n += c.free_bits.load(std::memory_order_relaxed) != nullptr &&
                   c.free_count == c.prepared.load(std::memory_order_relaxed)
               ? 1
               : 0;
    }
  }
  return n;
}

uint64_t heap::overwrite_max() {
  uint64_t chunks = 0;
  {
    const locked hold(zones_.chunk_mutex);
    chunks = free_chunks(UINT64_MAX) + chunk_cache_.size() + empty_runs();
  }
  const uint64_t ring = format::lane_undo_offset(s_.geo.lane_size) - format::lane_log_offset -
                        sizeof(format::log_entry);
  const uint64_t room = engine_.record_room(chunks).value_or(std::max(ring, log_room(chunks)));
  // Each fragment has a record of its payload and one of its header.
  constexpr uint64_t beside = format::header_size + 2 * sizeof(format::log_record);
  constexpr uint64_t logged = format::fragment_payload + beside;
  // A range that begins and ends inside of fragments touches one more than its length says.
  const uint64_t fragments = room / logged;
  if (fragments > 2) return (fragments - 2) * format::fragment_payload;
  const uint64_t both_ends = 2 * (beside + 8);
  return std::min(room - std::min(room, both_ends), format::fragment_payload);
}

void heap::no_log(size_t n) {
  const uint64_t free = free_chunks(UINT64_MAX) + chunk_cache_.size();
  throw failure(SCUTE_E_NOSPC,
                s_.path + " has no room for the log of so large a transaction: it takes " +
                    std::to_string(log_room(n)) + " bytes in " +
                    std::to_string(s_.geo.lane_replicas) + " copies, and there is room for " +
                    std::to_string(log_room(free)) +
                    ". Commit more often (scute_overwrite_max() says how much fits), or move to "
                    "a larger pool");
}

// The last of the prepared chunks: a chunk stays lent for long, and should not divide the room for
// spans.
chunk_record* heap::take_last(pool::lane& l) {
  for (uint64_t zi = 0; zi < zones_.count(); ++zi) {
    zone& z = zones_.get(zi);
    if (z.available == 0) continue;
    note_zone(zi);
    for (uint32_t i = z.prepared; i-- > z.search_from;) {
      chunk_record& c = z.chunks[i];
      if (c.kind.load(std::memory_order_relaxed) != use::free) continue;
      if (c.generation != 0)  // HEAP-3
        engine_.prepare_reuse(l, zones_.offset_of(c), s_.geo.chunk_size);
      return &c;
    }
  }
  return take_chunks(l, 1);
}

// Recovery takes a lent chunk for zeros, and the parity that it finds for that of zeros. So the
// chunk is free until it is zero, on the medium as well. Until then its bytes have no owner, and
// count in its columns; the engine makes these add up if a crash tears them.
std::vector<uint64_t> heap::lend(pool::lane& l, size_t n) {
  const locked hold(zones_.chunk_mutex);
  std::vector<chunk_record*> chunks;
  std::vector<uint64_t> offsets;
  const size_t ready = std::min(n, chunk_cache_.size()), fresh = n - ready;
  no_blocks_ = 0;
  chunks.reserve(fresh);
  offsets.reserve(n);
  // Before anything is lent, and zeroed, that has to be given back again.
  if (free_chunks(fresh) < fresh && (!reclaim_empty_runs(l) || free_chunks(fresh) < fresh))
    no_log(n);
  while (offsets.size() < ready) offsets.push_back(chunk_cache_.take());
  try {
    while (chunks.size() < fresh) {
      chunk_record* c = take_last(l);
      if (c == nullptr && no_blocks_ != 0)
        disk_full("a log of " + std::to_string(n * s_.geo.chunk_size) + " bytes");
      if (c == nullptr) no_log(n);
      const uint64_t offset = zones_.offset_of(*c);
      // The list of the log's segments is false (LIST-1): free chunks are in no list.
      if (s_.overlaid.touches(offset, s_.geo.chunk_size))
        throw failure(SCUTE_E_CORRUPT, s_.path +
                                           ": the list of log segments names chunks that are free; "
                                           "restore the pool from a backup");
      zero_free(l, *c);
      zones_.make_log(l, engine_, *c, lending::out);
      --zones_.get(c->zone).available;
      chunks.push_back(c);
      s_.overlaid.add(offset, s_.geo.chunk_size, nullptr);
      // A thread that is decoding a column of this chunk now reads its zeros; a thread that comes
      // later sees the overlay. Only then may the chunk hold anything else.
      for (uint64_t at = 0; at < s_.geo.chunk_size; at += pool::column_block) {
        const uint32_t stripe = pool::stripe_of(s_, offset + at);
        s_.locks.lock_exclusive(stripe);
        s_.locks.unlock_exclusive(stripe);
      }
      offsets.push_back(offset);
    }
  } catch (...) {
    // A chunk that cannot be marked as free now stays lent. A pool with such chunks is not closed
    // as clean, and the next open takes them back.
    for (size_t i = 0; i < ready; ++i) chunk_cache_.put(offsets[i]);
    try {
      for (chunk_record* c : chunks) {
        const uint64_t offset = zones_.offset_of(*c);
        zones_.make_log(l, engine_, *c, lending::back);
        if (std::find(offsets.begin(), offsets.end(), offset) != offsets.end())
          s_.overlaid.remove(offset);
        zone& z = zones_.get(c->zone);
        ++z.available;
        z.search_from = std::min(z.search_from, c->index);
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch): the rest stays lent
    }
    throw;
  }
  return offsets;
}

// Zeros a lent chunk's own bytes, which parity takes for zeros already. Zeros that are there may be
// a dead process's, which died before they were durable.
void heap::zero(pool::lane& l, uint64_t chunk_offset, owner of) noexcept {
  static constexpr std::byte zeros[pool::column_block]{};
  for (uint64_t at = 0; at < s_.geo.chunk_size; at += sizeof zeros)
    if (!codec::is_zero(s_.at(chunk_offset + at), sizeof zeros))
      l.w.stream(s_.at(chunk_offset + at), zeros, sizeof zeros, medium::purpose::log);
    else if (of == owner::previous_session)
      l.w.flush(s_.at(chunk_offset + at), sizeof zeros, medium::purpose::log);
}

void heap::give_back(pool::lane& l, std::vector<uint64_t>& chunk_offsets) {
  for (const uint64_t offset : chunk_offsets) zero(l, offset, owner::this_session);
  l.w.fence(fence_site::take_back);
  s_.require_healthy();
  for (; !chunk_offsets.empty(); chunk_offsets.pop_back()) {
    const uint64_t offset = chunk_offsets.back();
    const uint64_t zi = pool::zone_of(s_.geo, offset);
    const auto index =
        static_cast<uint32_t>((offset - s_.geo.chunk_offset(zi, 0)) >> s_.geo.chunk_shift);
    zone& z = zones_.get(zi);
    zones_.make_log(l, engine_, z.chunks[index], lending::back);
    s_.overlaid.remove(offset);
    ++z.available;
    z.search_from = std::min(z.search_from, index);
  }
}

void heap::take_back(pool::lane& l, std::vector<uint64_t>& chunk_offsets) {
  const locked hold(zones_.chunk_mutex);
  give_back(l, chunk_offsets);
}

void heap::cache_chunks(pool::lane& l, std::vector<uint64_t>& chunk_offsets) {
  const locked hold(zones_.chunk_mutex);
  while (!chunk_offsets.empty() && chunk_cache_.put(chunk_offsets.back())) chunk_offsets.pop_back();
  if (!chunk_offsets.empty()) give_back(l, chunk_offsets);
}

// Returns false if the chunk cache is empty.
bool heap::reclaim_chunk_cache(pool::lane& l) {
  if (chunk_cache_.size() == 0) return false;
  // These headers were written last when the first chunk came here. Damage since then would get
  // into the parity if they were just overwritten.
  for (uint64_t zi = 0; zi < zones_.count(); ++zi) {
    if (!zones_.is_loaded(zi) || zones_.get(zi).log_chunks == 0) continue;
    repair::read_metadata<format::zone_descriptor>(s_, &l, s_.geo.zone_offset(zi),
                                                   format::type_zone, "zone descriptor");
    for (uint32_t i = 0; i < zones_.get(zi).high_water.load(std::memory_order_relaxed); ++i)
      if (zones_.get(zi).chunks[i].kind.load(std::memory_order_relaxed) == use::log)
        repair::read_metadata<format::chunk_header>(s_, &l, s_.geo.chunk_header_offset(zi, i),
                                                    format::type_chunk, "chunk header");
  }
  std::vector<uint64_t> chunks;
  chunks.reserve(chunk_cache_.size());
  while (chunk_cache_.size() != 0) chunks.push_back(chunk_cache_.take());
  try {
    give_back(l, chunks);
  } catch (...) {
    for (const uint64_t c : chunks) chunk_cache_.put(c);
    throw;
  }
  return true;
}

void heap::clear_chunk_cache(pool::lane& l) noexcept {
  try {
    const locked hold(zones_.chunk_mutex);
    reclaim_chunk_cache(l);
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory, or the medium failed
  }
}

uint64_t heap::cached_chunks() {
  const locked hold(zones_.chunk_mutex);
  return chunk_cache_.size();
}

uint64_t heap::lent() {
  const locked hold(zones_.chunk_mutex);
  uint64_t n = 0;
  for (uint64_t zi = 0; zi < zones_.count(); ++zi)
    if (zones_.is_loaded(zi)) n += zones_.get(zi).log_chunks;
  for (const uint64_t c : retained_)
    if (zones_.is_loaded(pool::zone_of(s_.geo, c))) --n;
  return n;
}

void heap::retain(std::vector<uint64_t> chunk_offsets) {
  std::ranges::sort(chunk_offsets);
  const locked hold(zones_.chunk_mutex);
  retained_ = std::move(chunk_offsets);
  uint64_t most = 0;
  for (uint64_t z = 0; z < s_.geo.zone_count; ++z) {
    uint64_t begin = s_.geo.chunk_offset(z, 0);
    const uint64_t end = begin + (uint64_t{s_.geo.chunks} << s_.geo.chunk_shift);
    auto next = std::ranges::lower_bound(retained_, begin);
    for (; next != retained_.end() && *next < end; ++next) {
      most = std::max(most, (*next - begin) >> s_.geo.chunk_shift);
      begin = *next + s_.geo.chunk_size;
    }
    most = std::max(most, (end - begin) >> s_.geo.chunk_shift);
  }
  span_max_.store(most, std::memory_order_relaxed);
}

void heap::reclaim_lent(pool::lane& l) {
  const locked hold(zones_.chunk_mutex);
  for (uint64_t zi = 0; zi < zones_.count(); ++zi) {
    // A zone without lent chunks need not be loaded for this.
    const auto d = repair::read_metadata<format::zone_descriptor>(
        s_, &l, s_.geo.zone_offset(zi), format::type_zone, "zone descriptor");
    if (d.log_chunks == 0) continue;
    zone& z = zones_.get(zi);
    for (uint32_t i = 0; i < z.high_water.load(std::memory_order_relaxed); ++i) {
      if (z.chunks[i].kind.load(std::memory_order_relaxed) != use::log) continue;
      const uint64_t offset = zones_.offset_of(z.chunks[i]);
      if (std::ranges::binary_search(retained_, offset)) continue;
      zero(l, offset, owner::previous_session);
      l.w.fence(fence_site::reclaim);
      zones_.make_log(l, engine_, z.chunks[i], lending::back);
      s_.overlaid.remove(offset);
      ++z.available;
      z.search_from = std::min(z.search_from, i);
    }
  }
}

}  // namespace scute::core::heap
