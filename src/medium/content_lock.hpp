// SPDX-License-Identifier: BSD-3-Clause
// What is locked of a pool's file, its log or a store against other openers, and the word for files
// that cannot be.
#pragma once

#include <string>

#include "base/failure.hpp"
#include "base/kept_lock.hpp"
#include "base/supervisor_lock.hpp"
#include "medium/descriptor.hpp"

namespace scute::core::medium {

// It also keeps out a second opening in this very process, and goes away with the process however
// it ends. (A byte is left for who keeps its view: SUPLOCK-3.)
inline lock_request of_content(access wanted) noexcept {
  return {0, locked_bytes, wanted == access::write};
}

// LOCK-2
[[noreturn]] inline void refuse_unlockable(const std::string& path) {
  throw failure(SCUTE_E_UNSUPPORTED,
                path +
                    " cannot be locked: its file system keeps no locks, so nothing would keep two "
                    "programs from writing to it at once; put it on another file system");
}

}  // namespace scute::core::medium
