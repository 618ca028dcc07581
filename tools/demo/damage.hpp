// SPDX-License-Identifier: BSD-3-Clause
// damage.hpp: planned harm to a closed pool, within what one parity row must survive: at every
// offset of a row at most one row is hit, and what is hit lies far enough apart that no fragment
// (a header and 4 KiB at most, so three pages) meets two hits.
#pragma once

#include <scute/scute.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scute_demo {

enum class injury_kind {
  lost_page,
  flipped_bits,
  parity_page,
  chunk_header,
  zone_header,
  superblock
};

const char* name_of(injury_kind kind);

struct injury {
  injury_kind kind;
  uint64_t offset;  // of the file
  uint64_t length;  // bytes replaced by noise; for flipped_bits: bits, from first_bit on
  unsigned first_bit = 0;
};

// The damage to do to the pool, which is open read-only. Where there is no room left for an injury,
// add_* adds none.
class damage_plan {
 public:
  damage_plan(const scute::pool& pool, std::mt19937_64& random);

  void add_lost_page();
  void add_flipped_bits();
  void add_parity_page();
  void add_chunk_headers(uint64_t pages);
  void add_zone_header();
  void add_superblock();

  const std::vector<injury>& injuries() const { return injuries_; }

 private:
  using column = std::pair<uint64_t, uint64_t>;  // zone, page of a row

  bool is_free(column c) const;
  void take(column c) { taken_.insert(c); }
  uint64_t page_at(column c, uint64_t row) const;
  bool holds_object(uint64_t offset) const;
  std::vector<uint64_t> pages_of(scute_region region) const;
  // The file offset of a page that holds objects in a column that nothing hit yet, which it takes.
  std::optional<uint64_t> take_page_of_objects();
  // Hits pages of that region, each in a column of its own.
  void add_in_region(injury_kind kind, scute_region region, uint64_t pages);
  uint64_t random_below(uint64_t bound);

  const scute::pool& pool_;
  scute::info info_;
  std::mt19937_64& random_;
  std::vector<column> columns_;  // in random order
  std::set<column> taken_;
  std::vector<injury> injuries_;
};

// Does it. Throws std::runtime_error.
void inflict(const std::string& path, const std::vector<injury>& injuries, std::mt19937_64& random);

std::map<injury_kind, uint64_t> by_kind(const std::vector<injury>& injuries);

}  // namespace scute_demo
