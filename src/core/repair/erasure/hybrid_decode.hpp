// SPDX-License-Identifier: BSD-3-Clause
// Searches for a damaged fragment's true bytes in two images of it: the bytes in the file (kept)
// and the bytes that the rest of its columns decode to (decoded). Where both agree there is nothing
// to choose. Where they differ, either this row is damaged, and the decoded bytes are right; or
// another row or the parity is, and the kept ones are. Only the fragment's checksum can decide.
//
// MIX-1 Bytes that differ are grouped into clusters: less than 64 bytes from one to the next, in
//    one page of the file. A cluster is taken from one image as a whole; the 32 bytes of a header
//    are one.
// MIX-2 Up to three clusters are tried in every mixture, more only page by page (a fragment lies in
//    three at most). That is 7 attempts at most, everything decoded first.
// MIX-3 A scribble of a row's length begins in one row and ends in the next one, in the same page
//    column: there the damage changes its side at one byte. Suppose that nearly all bytes, 32 at
//    least, differ from one end of the fragment, or of its part of a page, on. Then a cut is tried
//    at each of them. The bytes before the cut are from one image, those after it from the other.
// MIX-4 Each attempt that fits in form (pool::covered) is accepted by mistake with a probability of
//    2^-32; with Adler-32 more, the shorter the fragment. For a fragment beyond repair that makes 7
//    * 2^-32, 1.6e-9, and up to 3.8e-6 where MIX-3 applies.
// MIX-5 With several parities MIX-3 is left out. The damage of such a scribble to another row
//    shows, so there is a way to decode without that row (core/repair/erasure/erasure_decoder.hpp),
//    and no cut is needed. Each way would multiply the attempts of MIX-3.
//
// On MIX-3: noise over one side or the other makes nearly all bytes differ. Only one side of the
// cut needs to look like that; a repair that a crash cut short may have repaired some of the other
// one. (From one end of the fragment on was too little: the explorer cut a repair short that had 8
// bytes of the second page left to do.) That is some 16,500 attempts at most.
//
// On MIX-4: of ten million hopeless fragments of scattered flips none is taken for repaired with a
// probability of 98.4 %; if all mixtures of 10 clusters were tried, it would be 9 %.
//
// On MIX-5: the wild campaign once read an object of wrong bytes that its checksum accepted, with
// two parities, in 50 runs.
#pragma once

#include <cstring>
#include <vector>

#include "core/shared/fragment.hpp"

namespace scute::core::repair {

inline constexpr size_t cluster_gap = 64;  // MIX-1
inline constexpr size_t header_end = format::header_size;

// An image begins with the fragment's header.
inline format::fragment_header header_of(const std::vector<std::byte>& image) noexcept {
  format::fragment_header h;
  std::memcpy(&h, image.data(), sizeof h);
  return h;
}

// A part of a fragment that lies in one page of the file.
struct unit {
  uint64_t offset;  // in the file
  size_t at;        // in the image of header and payload
  size_t length;
};

// Header first, then the payload's parts.
std::vector<unit> units_of(const pool::fragment& f);

bool image_valid(const pool::state& s, const pool::fragment& f,
                 const std::vector<std::byte>& image);

class hybrid_decode {
 public:
  hybrid_decode(const pool::state& s, const pool::fragment& f, const std::vector<unit>& units,
                const std::vector<std::byte>& kept, const std::vector<std::byte>& decoded)
      : s_(s), f_(f), units_(units), kept_(kept), decoded_(decoded) {}

  // Leaves bytes that the checksum accepts in image, and returns true; otherwise returns false.
  bool find(std::vector<std::byte>& image);

  uint64_t attempts() const noexcept { return attempts_; }

 private:
  struct range {
    size_t begin, end;
  };
  // Where a cut may be: for each byte, whether it may lie before that byte.
  struct cuts {
    std::vector<bool> allowed;
    bool any = false;
    bool between(size_t low, size_t high) const noexcept {
      for (; low <= high && low < allowed.size(); ++low)
        if (allowed[low]) return true;
      return false;
    }
    bool none() const noexcept { return !any; }
  };
  using bytes = std::vector<std::byte>;

  bool accepts(const bytes& image);
  bool differs(range r) const noexcept;
  bool header_adjacent() const noexcept { return f_.payload == f_.header + format::header_size; }
  cuts cuts_in(range r) const;
  std::vector<range> groups(size_t end) const;
  bool mix(const bytes& header, bytes& image);
  bool cut_payload(const bytes& header, bytes& image);
  bool cut_header(bytes& image);
  size_t covered_end(const bytes& header) const noexcept;

  const pool::state& s_;
  const pool::fragment& f_;
  const std::vector<unit>& units_;
  const bytes& kept_;
  const bytes& decoded_;
  uint64_t attempts_ = 0;
};

}  // namespace scute::core::repair
