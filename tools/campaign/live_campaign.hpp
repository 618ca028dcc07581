// SPDX-License-Identifier: BSD-3-Clause
// live_campaign.hpp: faults rain on a pool while threads work on it; at the end every object is
// compared with a model in memory.
//
// gentle  Each fault is placed so that it can be repaired by itself: no two open ones in one column
//         block (4 KiB of each row). After each shower everything is repaired, by a check while the
//         threads rest or by a scrub while they work, and the blocks are free again. Nothing may be
//         lost, and nothing wrong. Only lost pages fall while a commit writes (see live_state.hpp).
//         At mlp, where payloads have no checksums, only lost pages fall on the zones.
// wild    Faults fall anywhere. Losses must be reported as errors; at mlpc nothing may be wrong.
#pragma once

#include "settings.hpp"

#include <cstdint>
#include <string>

namespace scute_campaign {

struct live_settings {
  std::string folder;
  scute_protection level = SCUTE_PROTECT_MLPC;
  variant kind;
  uint32_t rows = 20;
  uint64_t size = 16u << 20;
  uint64_t seed = 1;
  double seconds = 10;
  unsigned threads = 3;
  bool wild = false;
  bool pages = true;                  // lose pages, too
  bool checks = true, scrubs = true;  // the means of repair; one of them or both in turn
  drill spoil = drill::none;
  bool quiet = false;
};

struct live_result {
  uint64_t transactions = 0, reads = 0, bytes_compared = 0;
  uint64_t flips = 0, scribbles = 0, pages = 0;
  uint64_t checks = 0, scrubs = 0, repaired = 0;
  uint64_t objects = 0;    // compared at the end
  uint64_t refused = 0;    // given up because of an error
  uint64_t unchecked = 0;  // wrong, without checksums, in the wild
  uint64_t silent = 0;     // wrong
  std::string broken;      // the first promise that was not kept
};

live_result run_live(const live_settings& how);

// Prints it; true if all promises were kept.
bool print_live(const live_settings& how, const live_result& r);

}  // namespace scute_campaign
