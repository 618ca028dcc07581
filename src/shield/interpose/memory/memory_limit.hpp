// SPDX-License-Identifier: BSD-3-Clause
// How much memory the views of a process may take. A view is as large as its file, except for pages
// of zeros. If a machine has less memory, it would end the program somewhere in the middle, or
// another process.
#pragma once

#include <cstdint>
#include <string>

namespace scute::core::interpose {

// The limit for one view that is being loaded: what the user allows for all views, or, without a
// setting, what the machine has left now.
class memory_limit {
 public:
  // `others`: bytes that the process's other views take.
  explicit memory_limit(uint64_t others);
  uint64_t bytes() const noexcept { return limit_; }
  // Throws failure (SCUTE_E_NOMEM) if the view, with `loaded` bytes of the file's `size` loaded,
  // takes too much.
  void require(uint64_t taken, uint64_t loaded, uint64_t size) const;

 private:
  uint64_t others_, limit_;
  bool named_;
};

}  // namespace scute::core::interpose
