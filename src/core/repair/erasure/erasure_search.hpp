// SPDX-License-Identifier: BSD-3-Clause
// Searches for the cells that are damaged along with a fragment, if there are several parities: a
// fragment that fails its checksum, a header that does not verify, space that no checksum vouches
// for, a parity. Any P unknown cells of a column can be decoded, but nothing in a column says which
// cells are wrong. So the decoded bytes have to fit in form, and their checksum decides.
//
// ERASE-1 The columns are read once, as syndromes: the decoding of a cell from any set of unknown
//    cells follows from them alone. Nonzero syndromes are grouped into segments: 64 bytes apart or
//    more, of one page, four at most; otherwise one for each page. A segment is decoded with one
//    set, or is left as it is, since damage comes in pages and in scribbles.
// ERASE-2 A set has P cells, the fragment's own among them. A cell whose bytes a checksum vouches
//    for is in no set (exceptions below). A cell with a fragment that fails its checksum, and lies
//    in the segment as a whole, is in all sets. Likely sets come first; up to sets_max are tried
//    for one segment.
// ERASE-3 A header must fit in form before any checksum is computed: the place of a fixed
//    structure, or of the next member of a ring, the state, the generation, the size. A wrong set
//    gives noise, which fits with a probability of 2^-40 or less, for a structure 2^-160. So any
//    number of sets may be tried with a header, and their limit is one of time.
// ERASE-4 If the header is known and the payload is not, the checksum stands alone, and accepts
//    wrong bytes with 2^-32 each time. So attempts_max attempts are made. A segment in which more
//    than P rows are known to be damaged is beyond repair: nothing is tried there.
// ERASE-5 A fragment in two damaged blocks may have more combinations than that. So if it cannot be
//    decoded other fragments of its blocks are tried, neighbours_max of them with a quarter of the
//    attempts: one that is damaged in one block alone gives that block's set, which then is a hint.
// ERASE-6 Nothing is written, so a search can be repeated. A repair that is cut short leaves the
//    same sets (REPAIR-2).
// ERASE-7 A valid fragment is searched for another version (find_other) if its header's columns do
//    not add up and its tag is in doubt. Another header has to fit in form (ERASE-3) before any
//    checksum is computed, so the payload's segments are combined by others_max choices each.
//
// On ERASE-1: where the syndromes are zero nothing is damaged.
//
// On ERASE-2: the damaged cells of a column, the fragment's own included, are one of these sets or
// a part of one, and sound cells in a set do no harm: they decode to the same bytes. A vouched cell
// may be in a set if its columns may have the parity of before: its fragment may be the open
// cell of a transaction that a crash has cut short (its tag is in doubt), or no first header claims
// it (core/repair/page_layout.hpp, LAYOUT-2). The order of likelihood is:
// sets that were right before (hints); rows with a fragment that fails its checksum in this page;
// rows with one that lies here in part and with nothing sound in the page; parities; pages with
// nothing sound in them, as overwritten pages are; the other rows. Sets that decode to the same
// bytes count as one. Several segments are tried first with one set for all of them, as of an
// overwritten row; then with all sets of each, the others unchanged or decoded the likeliest way;
// then with all combinations.
//
// On ERASE-4: 4096 * 2^-32 is 9.5e-7 for a fragment beyond repair, a quarter of the risk of a long
// scribble with one parity (core/repair/erasure/hybrid_decode.hpp, MIX-4). For a segment with many
// small injuries (more than four clusters, less than half of its bytes) only the scattered_max
// likeliest sets are tried: a torn commit leaves such traces, next to a page that was overwritten.
//
// On ERASE-5: that is 24,576 attempts more, once for each block until something else was repaired,
// and none of them is written.
#pragma once

#include <array>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "core/repair/erasure/hybrid_decode.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/erasure_hints.hpp"

namespace scute::core::repair {

class erasure_search {
 public:
  static constexpr uint64_t attempts_max = 4096;                  // ERASE-4
  static constexpr uint64_t sets_max = 4096;                      // ERASE-2
  static constexpr uint64_t scattered_max = 64;                   // ERASE-4
  static constexpr uint64_t header_sets_max = uint64_t{1} << 18;  // ERASE-3
  static constexpr size_t neighbours_max = 24;                    // ERASE-5
  static constexpr size_t others_max = 8;                         // ERASE-7

  using doubt = std::function<bool(uint64_t tag)>;

  // hints: may be null. in_doubt: the tags whose transactions may have columns open; null: none.
  // Needs parity.
  erasure_search(pool::state& s, const pool::fragment& f, pool::erasure_hints* hints,
                 doubt in_doubt = nullptr);

  // If a checksum accepts them, leaves header and payload, as units_of() lays them out, in image.
  bool find(std::vector<std::byte>& image, uint64_t attempts = attempts_max);
  // For a valid fragment: the same with a header other than the stored one. Returns false as soon
  // as damage of other cells alone explains its columns.
  bool find_other(std::vector<std::byte>& image);

  // ERASE-5. Returns true if it has found a hint.
  bool learn();

  // Number of checksums that were computed.
  uint64_t attempts() const noexcept { return attempts_; }

 private:
  using bytes = std::vector<std::byte>;
  // Contiguous bytes of the image in one page of the file.
  struct area {
    uint64_t offset;
    size_t at, length;  // in the image
    pool::cell cell;
    bytes syndromes;  // of the parities, one after the other
  };
  struct choice {
    bool decoded = false;    // else the bytes as they are
    pool::cell_set unknown;  // with the fragment's own cell
  };
  struct segment {
    size_t in;                                            // areas_
    size_t begin, end;                                    // in the image
    std::vector<uint16_t> certain = {}, candidates = {};  // likely ones first
    bool hopeless = false, scattered = false;
    std::vector<pool::cell_set> hints = {};
    std::vector<choice> choices = {};  // made so far; no two of them are alike
    std::set<size_t> seen = {};        // hashes of their decoded bytes
    size_t hint = 0;
    uint64_t tried = 0;
    std::vector<uint32_t> next = {};  // the combination of candidates that was tried last
    bool begun = false;
    bool over = false;
    bool has_header() const noexcept { return begin < format::header_size; }
  };
  // The state of bytes in another row. The order of candidates is the reverse.
  enum class standing : uint8_t { vouched, unknown, beside, blank, parity, in_part, damaged };
  static constexpr uint64_t granule = 32, rounds_max = uint64_t{1} << 20;
  struct page_view {
    std::array<standing, format::page / granule> of;
    // Columns of damaged fragments that lie in the page as a whole.
    std::vector<std::pair<uint64_t, uint64_t>> damaged;
  };

  void cut_into_segments();
  void find_candidates();
  page_view look_at(uint64_t zone, uint64_t row, uint64_t block);
  bool has_choice(segment& g, size_t i);
  bool next_set(segment& g, pool::cell_set& unknown);
  void decode(const segment& g, const pool::cell_set& unknown, size_t begin, size_t end,
              bytes& to) const;
  bool try_these(const std::vector<choice>& chosen, bytes& image);
  bool try_choices(const std::vector<size_t>& which, bytes& image);
  bool try_alike(std::vector<choice>& chosen, bytes& image);
  bool try_each_alone(std::vector<size_t>& which, bytes& image);
  bool try_all(std::vector<size_t>& which, bytes& image);
  bool over() const noexcept { return attempts_ >= limit_ || rounds_ >= rounds_max; }
  uint32_t covered(const bytes& image) const noexcept;

  pool::state& s_;
  const pool::fragment f_;
  const doubt in_doubt_;
  pool::erasure_hints* const hints_;
  std::vector<pool::fragment> neighbours_;  // other fragments that are damaged, or may be
  std::vector<area> areas_;
  std::vector<segment> segments_;
  bytes kept_;
  uint64_t attempts_ = 0, limit_ = 0, rounds_ = 0;
};

// The search, and a second one if other fragments of the blocks gave a hint. Returns false if there
// is one parity.
bool find_erasures(pool::state& s, const pool::fragment& f, pool::erasure_hints* hints,
                   std::vector<std::byte>& image, const erasure_search::doubt& in_doubt = nullptr);

}  // namespace scute::core::repair
