// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/erasure/decode_candidates.hpp"

#include <algorithm>
#include <cstring>

#include "core/repair/erasure/bitflip_search.hpp"
#include "core/repair/erasure/hybrid_decode.hpp"

namespace scute::core::repair {
namespace {

// VERSION-3
bool whole_but_for_lines(const pool::state& s, const pool::fragment& f,
                         const erasure_decoder::doubt& in_doubt, const std::vector<std::byte>& kept,
                         const std::vector<std::byte>& decoded, std::vector<std::byte>& image) {
  constexpr size_t line = 64;
  const format::fragment_header stored = header_of(kept);
  if (f.metadata || !in_doubt(stored.tag)) return false;
  const uint32_t covered = pool::covered(s, f, stored);
  if (covered == pool::not_covered) return false;
  const auto behind = [&](size_t at) {
    return std::min<size_t>(covered, at + line - (f.payload + at) % line);
  };
  // If the bytes of a line differ in the two images, takes those of the columns.
  const auto take = [&](size_t at) {
    const auto begin = static_cast<ptrdiff_t>(format::header_size + at);
    const auto end = static_cast<ptrdiff_t>(format::header_size + behind(at));
    if (std::equal(kept.begin() + begin, kept.begin() + end, decoded.begin() + begin)) return false;
    std::copy(decoded.begin() + begin, decoded.begin() + end, image.begin() + begin);
    return true;
  };
  for (size_t first = 0; first < covered; first = behind(first)) {
    image = kept;
    if (!take(first)) continue;
    if (image_valid(s, f, image)) return true;
    for (size_t at = behind(first); at < covered; at = behind(at))
      if (take(at) && image_valid(s, f, image)) return true;
  }
  return false;
}

}  // namespace

bool find_sound(pool::state& s, const pool::fragment& f, const erasure_decoder::doubt& in_doubt,
                std::vector<std::byte>& image, pool::erasure_hints* hints) {
  const std::vector<unit> units = units_of(f);
  const size_t size = units.back().at + units.back().length;
  std::vector<std::byte> kept(size), decoded(size), found(size);
  for (const unit& u : units) std::memcpy(kept.data() + u.at, s.at(u.offset), u.length);
  image.clear();
  const auto newer = [&] {  // VERSION-2
    if (image.empty()) return true;
    const uint64_t was = header_of(image).tag, is = header_of(found).tag;
    return in_doubt(is) && (!in_doubt(was) || is > was);
  };
  erasure_decoder(s, f, in_doubt).any([&](const pool::decoding& how) {
    for (const unit& u : units)
      if (!pool::decode(s, u.offset, decoded.data() + u.at, u.length, how)) return false;
    // A transaction that frees an object changes only its header. Other cells of the payload's
    // columns may be open to other transactions.
    if (whole_but_for_lines(s, f, in_doubt, kept, decoded, found)) {
      image = found;
      if (hints != nullptr) note_damage(s, f, how, *hints);
      return true;
    }
    found = kept;
    std::copy_n(decoded.begin(), format::header_size, found.begin());
    if (!image_valid(s, f, found) && !hybrid_decode(s, f, units, kept, decoded).find(found))
      return false;
    if (newer()) image = found;
    if (hints != nullptr) note_damage(s, f, how, *hints);
    return s.geo.parity == 1;
  });
  if (!image.empty()) return true;
  return find_erasures(s, f, hints, image, in_doubt) || find_bitflips(s, f, image);
}

bool find_other(pool::state& s, const pool::fragment& f, const erasure_decoder::doubt& in_doubt,
                decode_candidate& other, pool::erasure_hints* hints) {
  format::fragment_header stored;
  std::memcpy(&stored, s.at(f.header), sizeof stored);
  format::fragment_header& h = other.header;
  const bool found = erasure_decoder(s, f, in_doubt).any([&](const pool::decoding& how) {
    if (!pool::decode(s, f.header, reinterpret_cast<std::byte*>(&h), sizeof h, how) ||
        std::memcmp(&h, &stored, sizeof h) == 0)
      return false;
    const uint32_t covered = pool::covered(s, f, h);
    if (covered == pool::not_covered) return false;
    // A transaction that freed the object left the payload alone; one that wrote it did not.
    other.payload.resize(covered);
    if (covered != 0) std::memcpy(other.payload.data(), s.at(f.payload), covered);
    if (pool::valid(s, f, h, other.payload.data())) return true;
    return pool::decode(s, f.payload, other.payload.data(), covered, how) &&
           pool::valid(s, f, h, other.payload.data());
  });
  if (found || s.geo.parity < 2) return found;
  // Cells that no checksum vouches for may be damaged as well
  // (core/repair/erasure/erasure_search.hpp, ERASE-7).
  std::vector<std::byte> image;
  if (!erasure_search(s, f, hints, in_doubt).find_other(image)) return false;
  h = header_of(image);
  const auto payload = image.begin() + format::header_size;
  other.payload.assign(payload, payload + pool::covered(s, f, h));
  return true;
}

}  // namespace scute::core::repair
