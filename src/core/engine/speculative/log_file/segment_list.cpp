// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/log_file/segment_list.hpp"

#include <algorithm>
#include <bit>

#include "base/rounding.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/log/segment_writer.hpp"

namespace scute::core::engine {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;
constexpr uint64_t tracks_min = (log::track_count + 1) * log::segment_page;

uint64_t place_size(const pool::geometry& g) noexcept {
  return round_down((format::lane_undo_offset(g.lane_size) - format::lane_log_offset) / 2, 64);
}
uint64_t place_of(const pool::geometry& g, uint64_t which, uint32_t replica) noexcept {
  return g.lane_offset(0, replica) + format::lane_log_offset + which * place_size(g);
}

// How many a list has room for.
size_t chunks_listed(const pool::geometry& g) noexcept {
  return (place_size(g) - sizeof(format::segment_list_head)) / sizeof(uint64_t);
}

uint32_t list_checksum(const format::segment_list_head& h, const uint64_t* chunks) noexcept {
  constexpr size_t before = sizeof h.checksum;
  const uint32_t head =
      codec::crc32c(0, reinterpret_cast<const std::byte*>(&h) + before, sizeof h - before);
  return codec::crc32c(head, chunks, h.chunks * sizeof *chunks);
}

// The segments that all lanes may have for themselves, and two more.
uint64_t segments_least(const pool::geometry& g) noexcept {
  return 2 * (uint64_t{g.lane_count} + 1) + 2;
}

// Bytes of the log, all copies.
uint64_t log_bytes(const pool::geometry& g, uint64_t cap) noexcept {
  // Small pools have little room. Their segments are small, and they have only as many as
  // necessary.
  return cap != 0 ? cap
                  : std::min(std::clamp(g.file_size / 16, 4 * mib, 64 * mib), g.file_size / 8);
}

}  // namespace

std::vector<log::segment> segment_list::segments(const pool::geometry& g) const {
  std::vector<log::segment> all;
  const size_t copies = layout().copies();
  for (size_t c = 0; c + copies <= chunks.size(); c += copies)
    for (uint64_t at = 0; at + segment_size <= g.chunk_size; at += segment_size)
      all.push_back({{chunks[c] + at, copies == 2 ? chunks[c + 1] + at : 0}});
  return all;
}

segment_list plan_log(const pool::geometry& g, uint64_t cap, bool apart) {
  segment_list plan;
  const auto segment = [&](uint64_t bytes) {
    return std::clamp(std::bit_floor(bytes / segments_least(g)), uint64_t{log::segment_page},
                      uint64_t{g.chunk_size});
  };
  const uint64_t bytes = log_bytes(g, cap);
  plan.segment_size = segment(bytes);
  plan.how = log::redundancy::one_copy;
  if (g.lane_replicas > 1) {
    plan.how = log::redundancy::tracks;
    if (apart || plan.segment_size < tracks_min * 2) {
      plan.how = log::redundancy::two_copies;
      plan.segment_size = segment(bytes / 2);
    }
  }
  return plan;
}

size_t chunks_of_log(const pool::geometry& g, const segment_list& plan, uint64_t cap, bool apart) {
  const uint64_t copies = plan.layout().copies();
  const size_t chunks = chunks_of_segments(
      g, plan, std::max(segments_least(g), log_bytes(g, cap) / copies / plan.segment_size));
  if (cap != 0 || apart) return chunks;
  // No caller has asked for that much. Chunks are small where rows are short.
  return std::min<size_t>(chunks, std::max(chunks_of_segments(g, plan, segments_least(g)),
                                           chunks_listed(g) / copies * copies));
}

size_t chunks_of_segments(const pool::geometry& g, const segment_list& plan, uint64_t segments) {
  const uint64_t per_chunk = g.chunk_size / plan.segment_size;
  return (segments + per_chunk - 1) / per_chunk * plan.layout().copies();
}

size_t chunks_least(const pool::geometry& g, const segment_list& plan) {
  return chunks_of_segments(g, plan, segments_least(g));
}

size_t chunks_max(const pool::state& s) noexcept {
  return chunks_listed(s.geo);
}

void lend_log(pool::state& s, heap::heap& h, pool::lane& l, medium::writer& w, uint64_t cap) {
  segment_list plan = plan_log(s.geo, cap);
  if (const auto before = read_list(s)) plan.number = before->number;
  const size_t chunks = chunks_of_log(s.geo, plan, cap);
  if (chunks > chunks_max(s))
    throw failure(SCUTE_E_RANGE,
                  s.path + ": a log of " + std::to_string(chunks) +
                      " chunks is too large: " + std::to_string(chunks_max(s)) +
                      " is the most that this pool can list; choose a smaller log-cap");
  try {
    plan.chunks = h.lend(l, chunks);
  } catch (const failure& e) {
    if (e.code() != SCUTE_E_NOSPC || h.lacks_blocks()) throw;
    throw failure(SCUTE_E_NOSPC, s.path + ": the log takes " + std::to_string(chunks) +
                                     " chunks of " + std::to_string(s.geo.chunk_size) +
                                     " bytes, and fewer are free; free objects, choose a smaller "
                                     "log-cap, or move to a larger pool");
  }
  plan.kept = static_cast<uint32_t>(chunks);
  h.retain(plan.chunks);
  // Whatever the chunks were before, even a log: no frame in them remains.
  const std::byte nothing[log::line_size] = {};
  for (const log::segment& at : plan.segments(s.geo))
    log::store_lines(w, s.medium->base(), plan.layout(), at, 0, nothing);
  write_list(s, w, plan);
}

void require_room_for_log(const scute_options& o) {
  const auto fits = [&](uint64_t size) {
    scute_options requested = o;
    requested.size = size;
    try {
      const pool::geometry g = pool::choose_geometry(requested);
      // Objects take at least one chunk.
      return chunks_of_log(g, plan_log(g, o.log_cap), o.log_cap) <
             uint64_t{g.chunks} * g.zone_count;
    } catch (const failure&) {
      return false;  // more lanes, which leave no room for chunks
    }
  };
  if (fits(o.size)) return;
  // No bisection: a larger pool may have more lanes and larger chunks, and so less room.
  constexpr uint64_t step = mib / 16;
  uint64_t size = round_up(o.size + 1, step);
  while (size < SCUTE_SIZE_MAX && !fits(size)) size += std::max(step, round_down(size / 64, step));
  throw failure(SCUTE_E_RANGE, "engine spec has no room for its log and for objects in a pool of " +
                                   std::to_string(o.size / 1024) + " KiB; choose at least " +
                                   std::to_string(size / 1024) + " KiB, or " +
                                   (o.log_cap != 0 ? "a smaller log-cap"
                                                   : "fewer lanes, or engine logfree or redo"));
}

void require_log_to_cap(const std::string& path, const pool::engine_facts& of, uint64_t cap) {
  if (cap == 0 || of.log_in_chunks) return;
  throw failure(SCUTE_E_INVALID,
                path + ": log-cap is an option of engine spec, but this pool is to have engine " +
                    of.name + "; omit it, or choose engine spec");
}

std::optional<segment_list> read_list(const pool::state& s) {
  std::optional<segment_list> best;
  const uint64_t room = place_size(s.geo);
  std::vector<std::byte> bytes(room);
  for (uint32_t r = 0; r < s.geo.lane_replicas; ++r)
    for (uint64_t which = 0; which < 2; ++which) {
      const uint64_t at = place_of(s.geo, which, r);
      bool readable = true;
      for (uint64_t done = 0; done < room && readable;) {
        const uint64_t n = std::min(room - done, format::page - (at + done) % format::page);
        readable = s.medium->read(at + done, bytes.data() + done, n);
        done += n;
      }
      format::segment_list_head h;
      std::memcpy(&h, bytes.data(), sizeof h);
      if (!readable || h.magic != format::segment_list_magic || h.salt != s.salt ||
          h.chunks > (room - sizeof h) / sizeof(uint64_t))
        continue;
      std::vector<uint64_t> chunks(h.chunks);
      if (h.chunks != 0)
        std::memcpy(chunks.data(), bytes.data() + sizeof h, h.chunks * sizeof(uint64_t));
      if (h.checksum != list_checksum(h, chunks.data())) continue;
      if (best && best->number >= h.number) continue;
      best = segment_list{h.number, h.segment_size, static_cast<log::redundancy>(h.redundancy),
                          h.kept, std::move(chunks)};
    }
  if (!best) return best;
  const auto bad = [&](const char* what) {
    throw failure(SCUTE_E_CORRUPT, s.path + ": the list of log segments is inconsistent (" + what +
                                       "); restore the pool from a backup");
  };
  if (best->segment_size < log::segment_page || best->segment_size > s.geo.chunk_size ||
      !std::has_single_bit(best->segment_size))
    bad("segment size");
  if (best->how < log::redundancy::one_copy || best->how > log::redundancy::tracks ||
      (best->how == log::redundancy::tracks && best->segment_size < tracks_min))
    bad("redundancy");
  if (best->number >= lsn_max) bad("number");
  const uint32_t copies = best->layout().copies();
  if (best->chunks.size() % copies != 0 || best->kept % copies != 0 ||
      best->kept > best->chunks.size())
    bad("number of chunks");
  if (best->kept < chunks_least(s.geo, *best)) bad("too few chunks");
  std::vector<uint64_t> sorted = best->chunks;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) bad("a chunk is there twice");
  for (const uint64_t c : best->chunks) {
    if (!s.geo.in_data(c, s.geo.chunk_size)) bad("chunk");
    const uint64_t z = pool::zone_of(s.geo, c);
    if (c < s.geo.chunk_offset(z, 0) || (c - s.geo.chunk_offset(z, 0)) % s.geo.chunk_size != 0 ||
        (c - s.geo.chunk_offset(z, 0)) / s.geo.chunk_size >= s.geo.chunks)
      bad("chunk");
  }
  return best;
}

std::vector<std::byte> list_image(const pool::state& s, const segment_list& list) {
  format::segment_list_head h{};
  h.magic = format::segment_list_magic;
  h.salt = s.salt;
  h.number = list.number;
  h.segment_size = list.segment_size;
  h.redundancy = static_cast<uint32_t>(list.how);
  h.chunks = static_cast<uint32_t>(list.chunks.size());
  h.kept = list.kept;
  h.checksum = list_checksum(h, list.chunks.data());
  const uint64_t bytes = list.chunks.size() * sizeof(uint64_t);
  std::vector<std::byte> image(sizeof h + bytes);
  SCUTE_ASSERT(image.size() <= place_size(s.geo));
  std::memcpy(image.data(), &h, sizeof h);
  if (bytes != 0) std::memcpy(image.data() + sizeof h, list.chunks.data(), bytes);
  return image;
}

std::vector<uint64_t> list_copies(const pool::state& s, const segment_list& list) {
  std::vector<uint64_t> places;
  for (const uint64_t which : {list.number % 2, 1 - list.number % 2}) {
    for (uint32_t r = 0; r < s.geo.lane_replicas; ++r) places.push_back(place_of(s.geo, which, r));
  }
  return places;
}

void write_list(const pool::state& s, medium::writer& w, segment_list& list) {
  ++list.number;
  keep_list(s, w, list);
}

void keep_list(const pool::state& s, medium::writer& w, const segment_list& list) {
  const std::vector<std::byte> image = list_image(s, list);
  const std::vector<uint64_t> copies = list_copies(s, list);
  const size_t in_one_place = (copies.size() + 1) / 2;
  for (size_t i = 0; i < copies.size(); ++i) {
    w.stream(s.at(copies[i]), image.data(), image.size(), medium::purpose::log);
    if (i + 1 == in_one_place || i + 1 == copies.size())
      w.fence(fence_site::segment_list);  // LIST-2
  }
  s.require_healthy();
}

}  // namespace scute::core::engine
