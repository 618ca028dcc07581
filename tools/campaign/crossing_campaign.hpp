// SPDX-License-Identifier: BSD-3-Clause
// crossing_campaign.hpp: damage and an unclean end together.
// A process with a pool of engine logfree is killed when its last transaction has returned and is
// durable, or before it has made any. Then a row, or a long scribble, becomes noise. In some trials
// further processes that open the pool are killed as well. The next process that opens it reads
// everything at once, before recovery has come anywhere. All of that is within the redundancy, so
// every byte has to come back, whatever the order of the reads.
//
// With engine spec that holds when all was checkpointed before the kill, as it is in half of the
// trials. In the other half the log has records that nothing has checkpointed; then an object
// in their columns may be refused with an error, or the log be reported as incomplete. Nothing may
// be wrong without that.
#pragma once

#include "settings.hpp"

#include <string>

namespace scute_campaign {

struct crossing_settings {
  std::string folder;
  uint64_t size = 8u << 20;
  uint64_t seed = 1;
  uint32_t rows = 6;
  uint32_t parity = 1;
  uint32_t chunk_size = 0;  // 0: not drawn yet
  scute_engine engine = SCUTE_ENGINE_LOGFREE;
  unsigned trials = 40;
  int trial = -1;  // one of them; -1: all
  drill spoil = drill::none;
  bool quiet = false;
};

// Runs it, and prints the result. True if all promises were kept.
bool run_crossings(const crossing_settings& how);

}  // namespace scute_campaign
