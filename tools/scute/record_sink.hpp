// SPDX-License-Identifier: BSD-3-Clause
// record_sink.hpp: what records are loaded into, with how far
// each source was loaded. Position and records change in one transaction, so that after a crash the
// position says exactly which records are there.
#pragma once

#include "line_source.hpp"
#include "record_format.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scute_tool {

// How far a source was loaded.
struct load_state {
  source_position position;
  uint64_t records = 0;
};

class record_sink {
 public:
  virtual ~record_sink() = default;
  virtual std::optional<load_state> loaded(const std::string& source) const = 0;
  // All records and the new state in one transaction. How many keys were new. Throws failure.
  virtual uint64_t load(const std::vector<record>& batch, const std::string& source,
                        const load_state& state) = 0;
};

}  // namespace scute_tool
