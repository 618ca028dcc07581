// SPDX-License-Identifier: BSD-3-Clause
// package_index.hpp: real data that every Debian machine has: its package index.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace scute_demo {

struct package_index {
  std::map<std::string, std::string> stanzas;  // "name version arch index" -> the whole stanza
  uint64_t indexes = 0;                        // files they came from
  uint64_t bytes = 0;                          // of keys and values
};

// Every stanza of the apt lists, or of the dpkg status file if there are none, in the order of
// the files' names; at most `limit`. A key that occurs again gets "#2", "#3", ... appended.
// Throws std::runtime_error if the machine has neither.
package_index read_package_index(uint64_t limit);

}  // namespace scute_demo
