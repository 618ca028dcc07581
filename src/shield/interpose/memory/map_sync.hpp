// SPDX-License-Identifier: BSD-3-Clause
// Grants MAP_SYNC to a library whose flushes are interposed (MEM-2).
#pragma once

namespace scute::core::interpose {

// While an object lives, this thread's mappings of views may have MAP_SYNC. They nest.
class map_sync_granted {
 public:
  map_sync_granted() noexcept;
  ~map_sync_granted();
  map_sync_granted(const map_sync_granted&) = delete;
  map_sync_granted& operator=(const map_sync_granted&) = delete;
};

}  // namespace scute::core::interpose
