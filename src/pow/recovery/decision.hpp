// SPDX-License-Identifier: BSD-3-Clause
// Decides which batches count in lanes that were cut short (POW-1, POW-7, POW-11): in each lane,
// those from its beginning up to one. A batch that is known to be durable counts. A later batch
// counts if it is complete, and if the batch before it in its lane and those that it names count.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "pow/recovery/scan.hpp"

namespace scute::core::pow {

struct decision {
  std::map<lane_key, uint64_t> kept;  // batches up to this one count
  std::vector<bool> counts;           // by waiting frame: its records do
  std::vector<bool> dropped;        // by waiting frame: its batch does not, and no trailer says so
  std::vector<damage_note> damage;  // batches that had to be complete, and are not
  std::set<std::pair<lane_key, uint64_t>> aborted;  // batches whose trailer says so
  std::vector<last_valid_batch> last_valid;         // of lanes that have dropped ones
};

// `old`: the earlier decisions about lanes in the head page.
decision decide(const std::vector<waiting_frame>& waiting,
                const std::map<lane_key, uint64_t>& confirmed, const file_head& old);

}  // namespace scute::core::pow
