// SPDX-License-Identifier: BSD-3-Clause
// The byte range of a pool's file, log or store that is locked against other openers, and the error
// for files that cannot be locked.
#pragma once

#include <string>

#include "base/failure.hpp"
#include "base/locks/kept_lock.hpp"
#include "base/locks/supervisor_lock.hpp"
#include "core/file/descriptor.hpp"

namespace scute::core::medium {

// The lock also refuses a second opening in the same process, and ends with the process however it
// ends. (One byte is left free for the supervisor of its view: SUPLOCK-3.)
inline lock_request of_content(access wanted) noexcept {
  return {0, locked_bytes, wanted == access::write};
}

// LOCK-2
[[noreturn]] inline void refuse_unlockable(const std::string& path) {
  throw failure(SCUTE_E_UNSUPPORTED,
                path +
                    " cannot be locked: its file system does not support locks, so two programs "
                    "could write to it at once; move it to another file system");
}

}  // namespace scute::core::medium
