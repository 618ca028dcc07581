// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/complaint.hpp"

#include <unistd.h>

#include "interpose/next_calls.hpp"

namespace scute::core::interpose {

void complain(const std::string& what, const std::string& why) noexcept {
  const int keep = errno;
  try {
    const std::string line = "scute: " + what + ": " + why + "\n";
    static_cast<void>(next::write(STDERR_FILENO, line.data(), line.size()));
  } catch (const std::exception&) {
    static_cast<void>(next::write(STDERR_FILENO, "scute: out of memory\n", 21));
  }
  errno = keep;
}

int errno_of(const failure& e) noexcept {
  switch (e.code()) {
    case SCUTE_E_BUSY: return EBUSY;
    case SCUTE_E_NOSPC: return ENOSPC;
    case SCUTE_E_NOMEM: return ENOMEM;
    case SCUTE_E_NOENT: return ENOENT;
    case SCUTE_E_READONLY: return EROFS;
    case SCUTE_E_RANGE: return EFBIG;
    case SCUTE_E_INVALID: return EINVAL;
    default: return EIO;
  }
}

}  // namespace scute::core::interpose
