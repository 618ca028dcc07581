// SPDX-License-Identifier: BSD-3-Clause
// Out of place, like HOOP: what a transaction stores goes, word by word, into slices of 128 bytes
// with 8 words each; at its end the slices are durable, and home lines are not written. A table
// knows which lines have newer words out of place. When a collection's worth has gathered, the
// newest words are written home, each line once, by an engine of its own. Redirection takes no
// time.
//
// HOOP-1 Slices of a transaction are durable before its end is.
// HOOP-2 Slices are dropped when the home lines that they belong to are durable.
// HOOP-3 Words of a transaction that has not ended do not get home.
#pragma once

#include <memory>
#include <unordered_map>

#include "schemes/scheme.hpp"

namespace scute::sim {

class hoop_like final : public scheme {
 public:
  explicit hoop_like(machine& m);

  ticks storing(unsigned core, uint64_t address, unsigned bytes, l1_line& l, tlb_page&,
                ticks at) override;
  bool leaving_caches(uint64_t line, ticks at) override;
  ticks missing(unsigned core, uint64_t line, ticks asked, ticks there) override;
  recovered recover(ticks crash) const override;

  // Planted bugs, for tests: each leaves one rule out.
  bool plant_early_end = false, plant_early_drop = false, plant_dirty_home = false;

 private:
  static constexpr unsigned slice_bytes = 128, slice_words = 8;

  struct word {
    uint32_t transaction;
    unsigned core;
    size_t number;  // of its slice in the log
    uint64_t address, value;
    ticks collected;  // when its home is durable
  };
  struct home {
    uint64_t last_slice;   // a line of the log that has the newest words
    uint32_t transaction;  // that has stored there last
    ticks ended;           // when that was durable, once it was
  };
  struct open_slice {
    unsigned words = 0;
  };

  ticks committing(unsigned core, ticks at) override;
  void collect(uint32_t ending, ticks at);

  std::vector<open_slice> slices_;
  std::unordered_map<uint64_t, home> table_;
  std::unordered_map<uint64_t, ticks> collected_;  // when, by line
  uint64_t since_collection_ = 0;                  // bytes
  struct ended {
    uint32_t transaction;
    unsigned core;
    size_t number;
  };
  std::vector<ended> ended_;
  std::vector<word> words_;  // with contents
};

}  // namespace scute::sim
