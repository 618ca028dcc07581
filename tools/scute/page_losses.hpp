// SPDX-License-Identifier: BSD-3-Clause
// page_losses.hpp: objects that were lost with pages beyond
// repair, where payloads have no checksums. Neither a check nor a scrub can see that of what fills
// such a page, so the events that name these objects are counted.
#pragma once

#include <scute/scute.hpp>

#include <cstdint>

namespace scute_tool {

class page_losses {
 public:
  // With each event of the session, in turn. opening: until the pool is open and recovered.
  void see(const scute_event& e, bool opening) noexcept {
    // (What is met later, and has a header that shows it, the check itself counts.)
    if (e.kind == SCUTE_EVENT_OBJECT && e.outcome == SCUTE_OUTCOME_LOST &&
        (opening || e.finder == SCUTE_FINDER_FAULT))
      objects_ += e.count;
  }
  uint64_t objects(const scute_info& info) const noexcept {
    return info.protection == SCUTE_PROTECT_MLP ? objects_ : 0;
  }

 private:
  uint64_t objects_ = 0;
};

}  // namespace scute_tool
