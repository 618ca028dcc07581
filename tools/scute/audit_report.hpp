// SPDX-License-Identifier: BSD-3-Clause
// audit_report.hpp: what `scute shield audit` has noticed, as text and as JSON.
#pragma once

#include "output.hpp"
#include "shielded_program.hpp"

#include <cstddef>
#include <string>

namespace scute_tool {

struct audit_totals {
  uint64_t unflushed = 0, unfenced = 0, strays = 0, repeated = 0, unchanged = 0, idle = 0;
  uint64_t certain_strays = 0;  // where all code reports its stores
  uint64_t unsure = 0;          // of unflushed, what may be libpmemobj's own
};
audit_totals totals_of(const program_notice& noticed);

// all: also places where nothing was wrong; lines: of each file at most so many are shown.
void print_audit(const program_notice& noticed, bool all, size_t lines);

json views_json(const program_notice& noticed);

}  // namespace scute_tool
