// SPDX-License-Identifier: BSD-3-Clause
#include "core/heap/foreign_span.hpp"

#include <cstring>
#include <vector>

#include "base/locks/lock.hpp"
#include "base/rounding.hpp"
#include "codec/parity/parity.hpp"
#include "core/heap/header_change.hpp"
#include "core/repair/repair.hpp"
#include "core/shared/parity/blocks.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/resolver.hpp"

namespace scute::core::heap {
namespace {

constexpr uint16_t generation_first = 1;
// Bytes that are read ahead at a time, and reported as progress.
constexpr uint64_t stretch = uint64_t{8} << 20;
// Headers that are prewritten at once: those of 8 MiB.
constexpr uint64_t headers_ahead = 2048;

class progress_meter {
 public:
  progress_meter(scute_progress_fn fn, void* arg, uint64_t total)
      : fn_(fn), arg_(arg), total_(total) {}
  void advance(uint64_t n) {
    done_ += n;
    if (fn_ != nullptr && done_ - shown_ >= stretch) fn_(arg_, "protect", shown_ = done_, total_);
  }
  void end() {
    if (fn_ != nullptr) fn_(arg_, "protect", total_, total_);
  }

 private:
  const scute_progress_fn fn_;
  void* const arg_;
  const uint64_t total_;
  uint64_t done_ = 0, shown_ = 0;
};

uint64_t fragments_for(uint64_t size) noexcept {
  return (size + format::fragment_payload - 1) / format::fragment_payload;
}
// Payload bytes of fragment `index` of an object of `size` bytes.
uint32_t payload_of(uint64_t size, uint64_t index) noexcept {
  return static_cast<uint32_t>(
      std::min(format::fragment_payload, size - index * format::fragment_payload));
}

// The header of fragment `index` of an object of `size` bytes, over these bytes of its payload.
format::fragment_header header_of(const pool::state& s, const pool::lane& l,
                                  const pool::fragment& f, uint64_t size,
                                  const std::byte* payload) noexcept {
  format::fragment_header h{};
  const uint32_t n = payload_of(size, f.index);
  h.type = format::type_foreign;
  h.meta = f.index == 0 ? format::make_meta(size, format::role::live, f.generation)
                        : format::make_meta(n, format::role::part, f.generation);
  pool::seal(s, l, f, h, payload, s.has_checksums ? n : 0);
  return h;
}

void make_chunk_headers(pool::state& s, pool::lane& l, uint64_t z, uint32_t high_water) {
  const pool::foreign_layout& f = *s.foreign;
  for (uint32_t i = 0; i < high_water; ++i) {
    format::chunk_header h{};
    const bool head = i == f.first, body = i > f.first;
    h.kind = static_cast<uint8_t>(head   ? format::chunk_kind::span
                                  : body ? format::chunk_kind::span_body
                                         : format::chunk_kind::free);
    h.generation = head || body ? generation_first : uint16_t{0};
    h.length = head ? f.chunks : body ? i - f.first : 0;
    const uint64_t at = s.geo.chunk_header_offset(z, i);
    pool::seal_metadata(s, l, at, format::type_chunk, h);
    l.w.stream(s.at(at), &h, sizeof h, medium::purpose::metadata);
  }
}

void make_fragment_headers(pool::state& s, pool::lane& l, uint64_t z, uint64_t size,
                           progress_meter& meter) {
  const auto place =
      pool::object_place::at(s.foreign->span_offset(s.geo, z), s.foreign->span_size(s.geo));
  const uint64_t mine = s.foreign->object_size(z, size), n = fragments_for(mine);
  std::vector<format::fragment_header> headers;
  headers.reserve(headers_ahead);
  for (uint64_t from = 0; from < n; from += headers_ahead) {
    const uint64_t to = std::min(n, from + headers_ahead);
    s.medium->will_read(place.payload + from * format::fragment_payload,
                        (to - from) * format::fragment_payload);
    headers.clear();
    for (uint64_t i = from; i < to; ++i) {
      const pool::fragment f = place.part(i, generation_first);
      headers.push_back(header_of(s, l, f, mine, s.at(f.payload)));
    }
    l.w.stream(s.at(place.header + from * format::header_size), headers.data(),
               headers.size() * format::header_size, medium::purpose::metadata);
    meter.advance((to - from) * format::fragment_payload);
  }
}

void make_parity(pool::state& s, pool::lane& l, uint64_t z, progress_meter& meter) {
  const uint64_t row = s.geo.row_size;
  // The part of each row that makes one stretch of all rows.
  const uint64_t band =
      std::max<uint64_t>(1, stretch / s.geo.rows / pool::column_block) * pool::column_block;
  for (uint64_t column = 0; s.has_parity && column < row; column += band) {
    const uint64_t n = std::min(band, row - column);
    pool::will_read_columns(s, z, column, n);
    pool::recompute(s, l.w, s.geo.zone_offset(z) + column, n);
    meter.advance(n * s.geo.rows);
  }
}

// Reads a fragment's payload, verified; zeros after the `n` bytes that count.
void read_verified(pool::state& s, pool::lane& l, const pool::fragment& f, uint32_t n,
                   std::byte* out) {
  if (s.resolving->pending()) s.resolving->before_read(f);
  for (int attempt = 0;; ++attempt) {
    format::fragment_header h;
    std::memcpy(&h, s.at(f.header), sizeof h);
    std::memcpy(out, s.at(f.payload), f.room);
    if (pool::valid(s, f, h, out)) break;
    if (attempt == 1000)
      throw failure(SCUTE_E_CONFLICT, s.path + ": the end of the file changes while it grows");
    repair::repair_fragment(s, &l, f, "object");
  }
  std::memset(out + n, 0, f.room - n);
}

void grow_zone(pool::state& s, heap& h, step_engine& e, pool::lane& l, uint64_t z, uint64_t before,
               uint64_t size) {
  zone_table& zones = h.zones();
  {
    const locked hold(zones.chunk_mutex);
    const uint32_t high = s.foreign->high_water(s.geo, z, s.foreign->share * z + size);
    if (const int error = zones.extend(l, e, z, high - 1); error != 0) {
      errno = error;
      throw failure(SCUTE_E_NOSPC,
                    "the file system of " + s.path + " has no room for a longer file; make room");
    }
  }
  const object o = zones.span_object(zones.get(z).chunks[s.foreign->first]);
  alignas(64) std::byte zeros[format::fragment_payload] = {};
  const uint64_t old_fragments = fragments_for(before), fragments = fragments_for(size);
  std::vector<format::fragment_header> headers;
  for (uint64_t from = old_fragments; from < fragments; from += headers_ahead) {
    const uint64_t to = std::min(fragments, from + headers_ahead);
    headers.clear();
    for (uint64_t i = from; i < to; ++i)
      headers.push_back(header_of(s, l, o.fragment(i), size, zeros));
    const pool::patch patch{o.header + from * format::header_size, headers.data(),
                            static_cast<uint32_t>(headers.size() * format::header_size),
                            medium::purpose::metadata};
    e.prewrite(l, {&patch, 1});
  }
  // SPAN-3
  std::byte first[format::fragment_payload], last[format::fragment_payload];
  read_verified(s, l, o.fragment(0), payload_of(before, 0), first);
  pool::patch patches[2];
  const format::fragment_header head = header_of(s, l, o.fragment(0), size, first);
  size_t n = 0;
  patches[n++] = metadata_patch(o.header, &head, sizeof head);
  format::fragment_header tail;
  const pool::fragment f = o.fragment(old_fragments - 1);
  if (f.index != 0 && before % format::fragment_payload != 0) {
    read_verified(s, l, f, payload_of(before, f.index), last);
    tail = header_of(s, l, f, size, last);
    patches[n++] = metadata_patch(f.header, &tail, sizeof tail);
  }
  e.step(l, {patches, n});
}

}  // namespace

void reserve_foreign_spans(const pool::state& s, uint64_t size) {
  for (uint64_t z = 0; z < s.geo.zone_count; ++z)
    if (const int e = pool::reserve_columns(
            s, s.geo.chunk_offset(z, 0),
            uint64_t{s.foreign->high_water(s.geo, z, size)} << s.geo.chunk_shift);
        e != 0)
      throw_errno("reserve blocks of " + s.path, e);
}

void make_foreign_spans(pool::state& s, pool::lane& l, uint64_t size, scute_progress_fn progress,
                        void* arg) {
  progress_meter meter(progress, arg,
                       size + (s.has_parity ? s.geo.zone_count * s.geo.data_size : 0));
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) {
    const uint32_t high_water = s.foreign->high_water(s.geo, z, size);
    s.used_end[z].store(s.geo.chunk_base + (uint64_t{high_water} << s.geo.chunk_shift));
    make_chunk_headers(s, l, z, high_water);
    make_fragment_headers(s, l, z, size, meter);
    make_parity(s, l, z, meter);
  }
  // no transaction has this tag: resolution takes fragments with equal tags for members of one
  ++l.sequence;
  meter.end();
}

void grow_foreign_spans(pool::state& s, heap& h, step_engine& e, pool::lane& l, uint64_t size) {
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) {  // FOREIGN-4
    const object o = h.zones().span_object(h.zones().get(z).chunks[s.foreign->first]);
    const uint64_t before = format::meta_size(h.zones().read_header(o).meta);
    const uint64_t after = s.foreign->object_size(z, size);
    if (after > before) grow_zone(s, h, e, l, z, before, after);
  }
}

void clear_foreign_slack(pool::state& s, heap& h, step_engine& e, pool::lane& l, uint64_t size) {
  static constexpr std::byte zeros[format::page] = {};
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) {
    const uint64_t begin =
        s.foreign->payload_offset(s.geo, z) + round_up(s.foreign->covered(z, size), format::page);
    const uint64_t end = s.geo.chunk_offset(z, h.zones().get(z).high_water.load());
    for (uint64_t at = begin; at < end; at += format::page) {
      if (codec::is_zero(s.at(at), format::page)) continue;
      const pool::patch patch{at, zeros, sizeof zeros, medium::purpose::metadata};
      e.prewrite(l, {&patch, 1});
    }
  }
}

uint64_t covered_by_spans(pool::state& s, heap& h, uint64_t there) {
  uint64_t covered = 0;
  bool full = true;
  for (uint64_t z = 0; z < s.geo.zone_count; ++z) {
    zone& zone = h.zones().get(z);
    chunk_record& c = zone.chunks[s.foreign->first];
    const auto bad = [&] {
      return failure(SCUTE_E_CORRUPT, s.path + ": the span of zone " + std::to_string(z) +
                                          " that covers the file is lost, or contradicts the "
                                          "others; make a new pool with `scute shield adopt`");
    };
    if (c.kind.load() != use::span || c.length != s.foreign->chunks) throw bad();
    const object o = h.zones().span_object(c);
    const format::fragment_header head = h.zones().read_header(o);
    if (pool::covered(s, o.fragment(0), head) == pool::not_covered ||
        format::meta_role(head.meta) != format::role::live)
      throw bad();
    const uint64_t size = format::meta_size(head.meta);
    if (size > s.foreign->share || (!full && size != 1)) throw bad();
    // If the file ends where the zone before ends, it has nothing here.
    const bool nothing = z != 0 && size == 1 && (!full || there == z * s.foreign->share);
    if (!nothing) covered += size;
    full = full && size == s.foreign->share && !nothing;
  }
  return covered;
}

}  // namespace scute::core::heap
