// SPDX-License-Identifier: BSD-3-Clause
// log_campaign.hpp: damage to the log of engine spec: flipped bits, overwritten pages, pages that
// are zeros. The log is POOL.log, with one copy or two, or lies inside a pool, in eight tracks and
// their XOR. A process overwrites objects, one transaction after the other.
//
// rest      The pool is closed, and its log damaged anywhere. Nothing of the log is needed: every
//           byte has to be there, and nothing may be reported as lost. That has to stay so in
//           another session, which is killed.
// live      The log is damaged anywhere while the process commits. Then the process has the pool
//           checked, continues, and is killed. As above: the records that the log had lost were
//           checkpointed (LOGSCRUB-3).
// crossing  The process is killed in the middle of its work, and then the log is damaged. Damage
// that
//           leaves one copy, or all tracks except one, costs nothing. Beyond that an object may be
//           refused with an error, or be of an older version; never anything else, where it has a
//           checksum. Where the log itself proves that records are missing, opening has to report
//           the place, once (GAP-1, GAP-2; log_picture.hpp knows when).
#pragma once

#include "log_picture.hpp"
#include "settings.hpp"

#include <string>
#include <vector>

namespace scute_campaign {

enum class moment : uint8_t { rest, live, crossing };
inline constexpr std::array moment_names{"rest", "live", "crossing"};

struct log_settings {
  std::string folder;
  std::vector<log_kind> kinds{log_kind::one_copy, log_kind::two_copies, log_kind::tracks};
  std::vector<moment> moments{moment::rest, moment::live, moment::crossing};
  uint64_t seed = 1;
  unsigned trials = 30;  // of each kind and moment
  int trial = -1;        // one of them; -1: all
  drill spoil = drill::none;
  bool quiet = false;
};

// Runs it, and prints the result. True if all promises were kept.
bool run_log_campaign(const log_settings& how);

}  // namespace scute_campaign
