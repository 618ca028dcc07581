// SPDX-License-Identifier: BSD-3-Clause
// What the library remembers per thread: its transaction, its usual lane, its last error.
#pragma once

#include <cstdint>
#include <string>

namespace scute {

class instance;
namespace tx {
class transaction;
}

struct thread_state {
  const uint32_t ordinal;           // spreads threads over lanes
  instance* pool = nullptr;         // on which `current` runs
  tx::transaction* current = nullptr;
  uint64_t last_pool = 0;           // serial
  int last_lane = -1;
  std::string message;              // of the last error

  thread_state();
};

thread_state& this_thread() noexcept;

}  // namespace scute
