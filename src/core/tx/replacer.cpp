// SPDX-License-Identifier: BSD-3-Clause
#include "core/tx/replacer.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <new>

#include "codec/checksum/crc32c.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/resolver.hpp"

namespace scute::core::tx {

namespace {

// A verification counts for one to two periods: for 16 to 32 seconds.
constexpr unsigned period_shift = 4;

uint32_t period_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint32_t>(now.tv_sec >> period_shift) + 2;  // none is 0, nor next to it
}

template <typename T>
T* zeros(uint64_t n) {
  void* const at = std::calloc(n, sizeof(T));
  if (at == nullptr) throw std::bad_alloc();
  return static_cast<T*>(at);
}

}  // namespace

replacer::replacer(pool::state& s, uint64_t fragments)
    : s_(s),
      known_(zeros<format::fragment_header>(s.has_checksums ? fragments : 1)),
      verified_(zeros<uint32_t>(s.has_checksums ? fragments : 1)) {}

bool replacer::is_known(uint64_t number, const format::fragment_header& h) const noexcept {
  return verified_[number] + 1 >= period_ && std::memcmp(&h, &known_[number], sizeof h) == 0;
}

void replacer::begin() noexcept {
  period_ = period_now();
  ranges_.clear();
  changed_.clear();
  patches_.clear();
  members_.clear();
  headers_.clear();
}

void replacer::put(const heap::object& o, uint64_t first, uint64_t offset, const std::byte* bytes,
                   const std::byte* old, uint64_t length) {
  while (length != 0) {
    const uint64_t index = offset / format::fragment_payload,
                   at = offset % format::fragment_payload;
    const uint64_t n = std::min(length, format::fragment_payload - at);
    if (changed_.empty() || changed_.back().number != first + index)
      changed_.push_back({o.fragment(index), first + index, ranges_.size()});
    ranges_.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(n), bytes, old});
    offset += n;
    bytes += n;
    old += n;
    length -= n;
  }
}

void replacer::fetch_ahead(const changed& c, std::span<const range> ranges) const noexcept {
  if (s_.has_checksums) {
    __builtin_prefetch(s_.at(c.where.header), 1);
    __builtin_prefetch(&known_[c.number], 1);
    pool::prefetch_parity(s_, c.where.header, format::header_size);
  }
  for (const range& r : ranges) pool::prefetch_parity(s_, c.where.payload + r.at, r.length);
}

bool replacer::prepare(pool::lane& l) {
  if (s_.resolving->pending()) return false;
  for (size_t i = 0; i < changed_.size(); ++i) fetch_ahead(changed_[i], ranges_of(i));
  headers_.reserve(changed_.size());  // so that no element moves
  const pool::optimistic_reads mark;  // CONFLICT-2
  for (size_t i = 0; i < changed_.size(); ++i)
    if (!change(l, changed_[i], ranges_of(i))) return false;
  return true;
}

bool replacer::change(pool::lane& l, const changed& c, std::span<const range> ranges) {
  const pool::fragment& f = c.where;
  if (s_.overlaid.touches(f.payload, f.room)) return false;
  for (const range& r : ranges)
    if (std::memcmp(s_.at(f.payload + r.at), r.old, r.length) != 0) return false;  // REPLACE-1
  if (s_.has_checksums) {
    format::fragment_header h;
    std::memcpy(&h, s_.at(f.header), sizeof h);
    const bool known = is_known(c.number, h);
    if (!known && !pool::valid(s_, f, h)) return false;  // REPLACE-2
    const uint32_t covered = pool::covered(s_, f, h);
    if (!known) {
      if (covered != pool::not_covered) l.w.count.verified_bytes.add(covered);
      known_[c.number] = h;
      verified_[c.number] = period_;
    }
    if (covered == pool::not_covered || ranges.back().at + ranges.back().length > covered)
      return false;
    uint32_t sum = pool::unbind(h.checksum, f.header);
    for (const range& r : ranges)
      sum = codec::checksum_update(s_.checksum, sum, r.old, r.bytes, r.length,
                                   covered - (r.at + r.length) + format::header_tail);
    header_pair& headers = headers_.emplace_back(h, h);
    format::fragment_header& fresh = headers.fresh;
    fresh.tag = format::make_tag(s_.sb.epoch, l.index, l.sequence + 1);
    fresh.next = f.header;
    fresh.checksum =
        pool::bind(codec::checksum_update(
                       s_.checksum, sum, reinterpret_cast<const std::byte*>(&h) + 4,
                       reinterpret_cast<const std::byte*>(&fresh) + 4, format::header_tail, 0),
                   f.header);
    members_.push_back({f, reinterpret_cast<std::byte*>(&fresh), covered, covered, false, h.tag});
    patches_.push_back(
        {f.header, &fresh, format::header_size, medium::purpose::metadata, &headers.old});
  }
  for (const range& r : ranges)
    patches_.push_back({f.payload + r.at, r.bytes, r.length, medium::purpose::data, r.old});
  return true;
}

void replacer::committed() noexcept {
  for (size_t i = 0; i < headers_.size(); ++i) known_[changed_[i].number] = headers_[i].fresh;
}

}  // namespace scute::core::tx
