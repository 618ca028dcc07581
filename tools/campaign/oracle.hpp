// SPDX-License-Identifier: BSD-3-Clause
// oracle.hpp: what had to survive, derived from the geometry alone, without the library.
//
// A byte of a column can be told from the others if it alone is damaged. So a damaged fragment had
// to be rebuilt
//   - if in each page that it lies in only its own bytes are damaged, or only those of other rows
//     and the parity in its columns; or
//   - if the differing bytes form at most three clusters (64 bytes apart or more, in one page), and
//     in each of them only its own bytes or only the others' are damaged.
// A rebuilt cluster counts as sound for the rest, until nothing more can be rebuilt. The library
// may save more: the count is a lower bound, because here
//   - a cluster of others' damage counts for as many as it could fall into when some of that is
//     repaired, so that the order of repairs does not matter;
//   - errors in several rows that cancel each other count like others: when one of them is repaired
//     the rest do not cancel any more;
//   - of an object whose first fragment is lost nothing else is looked at, nor is anything in a
//     chunk whose header is lost;
//   - without checksums a repair of a header writes the payload next to it along, as decoded; that
//     can bury other rows' damage in those columns, so nothing there has to survive;
//   - parity, free slots and the ends of slots never get well before all else is;
//   - the zone descriptor, without which nothing else in the zone is looked at, must be sound or be
//     rebuilt with all damage there, also in space that was never used.
#pragma once

#include "damage.hpp"
#include "image.hpp"

#include <string>

namespace scute_campaign {

struct prediction {
  bool opens = false;  // a copy of the superblock is whole
  // and no column of bytes has more damaged cells than there are parities: as much as these can say
  bool within = false;
  std::vector<bool> survives;  // by object
  uint64_t survivors = 0;
};

class oracle {
 public:
  // with_parity false: only what is not damaged survives.
  explicit oracle(const layout& where);

  // The scratch is kept: one trial after the other.
  prediction predict(const std::vector<error>& errors);

  // After predict(): could this byte of the file have been changed by these errors or by a repair
  // that followed a wrong trace (something in its column was hit)?
  bool touched(uint64_t offset) const noexcept;
  // The damage in an object's fragments and in their columns, in words.
  std::string describe(uint32_t object) const;
  // After predict(): this byte itself was hit, and how.
  std::byte hit(uint64_t offset) const noexcept { return first_[offset]; }

 private:
  bool in_rows(uint64_t offset) const noexcept {
    return offset >= where_.zone && offset < where_.parity_begin();
  }
  uint64_t column(uint64_t offset) const noexcept {
    return (offset - where_.zone) % where_.row_size;
  }
  void mark_damaged_fragments(const std::vector<error>& errors);
  bool survivable(const fragment& f) const;
  bool descriptor_survives(const fragment& f) const;
  bool buried(const fragment& f) const;
  void bury(int by);
  void repair(const fragment& f);
  void forget(const std::vector<error>& errors);

  const layout& where_;
  std::vector<std::byte> first_;         // of the file: the bits that were inverted
  std::vector<std::byte> own_;           // the same, less the repaired ones
  std::vector<uint32_t> damaged_cells_;  // by column, of the rows in use and the parity
  std::vector<std::byte> any_;           // by column: whether anything at all was hit
  std::vector<uint32_t> buried_;  // by column: repairs that may write there without a checksum
  std::vector<uint32_t> by_header_, by_payload_;  // fragments in the order of addresses
  std::vector<uint32_t> damaged_;
  std::vector<error> last_;
};

}  // namespace scute_campaign
