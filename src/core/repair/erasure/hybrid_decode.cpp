// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/erasure/hybrid_decode.hpp"

#include <algorithm>
#include <cstring>

#include "codec/checksum/checksum.hpp"

namespace scute::core::repair {
namespace {

constexpr size_t clusters_max = 3;  // MIX-2
constexpr size_t noise_min = 32;    // MIX-3

}  // namespace

std::vector<unit> units_of(const pool::fragment& f) {
  std::vector<unit> units{{f.header, 0, header_end}};
  uint64_t offset = f.payload;
  size_t at = header_end;
  for (uint64_t left = f.room; left != 0;) {
    const uint64_t n = std::min(left, format::page - offset % format::page);
    units.push_back({offset, at, n});
    offset += n;
    at += n;
    left -= n;
  }
  return units;
}

bool image_valid(const pool::state& s, const pool::fragment& f,
                 const std::vector<std::byte>& image) {
  const format::fragment_header h = header_of(image);
  return pool::valid(s, f, h, image.data() + header_end);
}

bool hybrid_decode::accepts(const bytes& image) {
  ++attempts_;
  return image_valid(s_, f_, image);
}

bool hybrid_decode::differs(range r) const noexcept {
  return r.begin < r.end &&
         std::memcmp(kept_.data() + r.begin, decoded_.data() + r.begin, r.end - r.begin) != 0;
}

// MIX-3: from each end on, as far as nine of ten bytes differ.
hybrid_decode::cuts hybrid_decode::cuts_in(range r) const {
  cuts c;
  c.allowed.resize(r.end + 1);
  const auto dense = [](size_t different, size_t of) {
    return of >= noise_min && different * 10 >= of * 9;
  };
  const auto look = [&](size_t begin, size_t end) {
    size_t different = 0, up_to = 0, from = SIZE_MAX;
    for (size_t k = begin; k < end; ++k) {
      different += kept_[k] != decoded_[k] ? 1 : 0;
      if (dense(different, k + 1 - begin)) up_to = k + 1;
    }
    different = 0;
    for (size_t k = end; k-- > begin;) {
      different += kept_[k] != decoded_[k] ? 1 : 0;
      if (dense(different, end - k)) from = k;
    }
    for (size_t k = begin; k <= end; ++k) {
      if ((up_to == 0 || k > up_to) && k < from) continue;
      c.allowed[k] = true;
      c.any = true;
    }
  };
  look(r.begin, r.end);
  for (const unit& u : units_)
    if (u.at < r.end && u.at + u.length > r.begin)
      look(std::max(u.at, r.begin), std::min(u.at + u.length, r.end));
  return c;
}

// The end, in the image, of the bytes that a header vouches for; 0 if it cannot be this fragment's
// header.
size_t hybrid_decode::covered_end(const bytes& header) const noexcept {
  const uint32_t n = pool::covered(s_, f_, header_of(header));
  return n == pool::not_covered ? 0 : header_end + n;
}

// The parts of the payload up to `end` that are taken from one image as a whole.
std::vector<hybrid_decode::range> hybrid_decode::groups(size_t end) const {
  std::vector<range> clusters, pages;
  for (size_t i = 1; i < units_.size(); ++i) {
    const range page{units_[i].at, std::min(units_[i].at + units_[i].length, end)};
    if (!differs(page)) continue;
    pages.push_back(page);
    const size_t first = clusters.size();
    for (size_t k = page.begin; k < page.end && clusters.size() <= clusters_max; ++k) {
      if (kept_[k] == decoded_[k]) continue;
      if (clusters.size() == first || k - clusters.back().end >= cluster_gap)
        clusters.push_back({k, k});
      clusters.back().end = k + 1;
    }
  }
  const size_t in_header = differs({0, header_end}) ? 1 : 0;
  return clusters.size() + in_header <= clusters_max ? clusters : pages;
}

// Tries every mixture with this header, except those that were tried: all decoded, all kept.
bool hybrid_decode::mix(const bytes& header, bytes& image) {
  const size_t end = covered_end(header);
  if (end == 0) return false;
  const bool either = !differs({0, header_end});
  const std::vector<range> parts = groups(end);
  const unsigned all = (1u << parts.size()) - 1;
  for (unsigned mask = all + 1; mask-- != 0;) {
    if (mask == all && (either || &header == &decoded_)) continue;
    if (mask == 0 && (either || &header == &kept_)) continue;
    image = kept_;
    std::copy_n(header.begin(), header_end, image.begin());
    for (size_t i = 0; i < parts.size(); ++i)
      if ((mask >> i & 1) != 0)
        std::memcpy(image.data() + parts[i].begin, decoded_.data() + parts[i].begin,
                    parts[i].end - parts[i].begin);
    if (accepts(image)) return true;
  }
  return false;
}

bool hybrid_decode::cut_payload(const bytes& header, bytes& image) {
  const size_t end = covered_end(header);
  if (end <= header_end) return false;
  const cuts where = cuts_in({header_adjacent() ? 0 : header_end, end});
  if (where.none()) return false;
  const format::fragment_header h = header_of(header);
  const auto n = static_cast<uint32_t>(end - header_end);
  const auto kind = pool::checksum_kind(s_, f_, n);
  const uint32_t wanted = pool::unbind(h.checksum, f_.header);
  for (const auto& [before, behind] : {std::pair{&kept_, &decoded_}, {&decoded_, &kept_}}) {
    image = *behind;
    std::copy_n(header.begin(), header_end, image.begin());
    uint32_t sum =
        pool::unbind(pool::header_checksum(s_, f_, h, image.data() + header_end, n), f_.header);
    // The cut moves byte by byte, and the checksum with it. Cuts from `low` to the next byte that
    // differs are the same.
    size_t low = 0;
    const auto fits = [&](size_t high) {
      if (low == 0 || !where.between(low, high)) return false;
      ++attempts_;
      return sum == wanted && image_valid(s_, f_, image);
    };
    for (size_t k = header_end; k < end; ++k) {
      const std::byte next = (*before)[k];
      if (image[k] == next) continue;
      if (fits(k)) return true;
      sum =
          codec::checksum_update(kind, sum, &image[k], &next, 1, end - k - 1 + format::header_tail);
      image[k] = next;
      low = k + 1;
    }
    if (fits(end)) return true;
  }
  return false;
}

bool hybrid_decode::cut_header(bytes& image) {
  if (!differs({0, header_end})) return false;
  const cuts where = cuts_in({0, header_adjacent() ? kept_.size() : header_end});
  if (where.none()) return false;
  for (const auto& [before, behind] : {std::pair{&kept_, &decoded_}, {&decoded_, &kept_}}) {
    // The payload follows the header, or, in an object of several fragments, lies elsewhere.
    for (const auto* payload : {behind, before}) {
      image = *behind;
      std::copy(payload->begin() + header_end, payload->end(), image.begin() + header_end);
      for (size_t k = 0; k < header_end; ++k) {
        if (image[k] == (*before)[k]) continue;
        image[k] = (*before)[k];
        if (where.between(k + 1, header_end) && covered_end(image) != 0 && accepts(image))
          return true;
      }
      if (!s_.has_checksums && !f_.metadata) break;  // no checksum vouches for the payload
    }
  }
  return false;
}

bool hybrid_decode::find(bytes& image) {
  image = decoded_;
  if (accepts(image)) return true;
  if (mix(decoded_, image)) return true;
  if (differs({0, header_end}) && mix(kept_, image)) return true;
  if (s_.geo.parity > 1) return false;  // MIX-5
  if (cut_payload(decoded_, image)) return true;
  if (differs({0, header_end}) && cut_payload(kept_, image)) return true;
  return cut_header(image);
}

}  // namespace scute::core::repair
