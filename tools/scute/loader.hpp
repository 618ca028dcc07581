// SPDX-License-Identifier: BSD-3-Clause
// loader.hpp: records from a source into a store, batch by batch, exactly once.
#pragma once

#include "interrupt.hpp"
#include "line_source.hpp"
#include "progress.hpp"
#include "record_format.hpp"
#include "record_sink.hpp"

#include <cstdint>
#include <string>

namespace scute_tool {

struct load_plan {
  std::string pool;    // for messages
  std::string source;  // the name under which the position is kept
  record_format format;
  uint64_t batch;  // records per transaction
  bool restart;    // forget the position
};

struct load_result {
  uint64_t resumed_at = 0;  // records that earlier runs loaded
  uint64_t loaded = 0;      // by this run
  uint64_t added = 0;       // of those, with keys that were not there
  uint64_t transactions = 0;
  load_state state;  // in the pool now
  double seconds = 0;
  bool interrupted = false;
};

// Continues where the last committed batch ended. Throws failure; committed batches stay.
load_result load(record_sink& store, line_source& source, const load_plan& plan,
                 const interrupt& stop, progress& bar);

}  // namespace scute_tool
