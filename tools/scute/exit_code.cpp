// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"

#include <scute/scute.h>

namespace scute_tool {

exit_code exit_code_of(int scute_error) noexcept {
  switch (scute_error) {
    case SCUTE_OK: return exit_ok;
    case SCUTE_E_CORRUPT: return exit_lost;
    case SCUTE_E_BUSY: return exit_busy;
    case SCUTE_E_NOSPC: return exit_full;
    case SCUTE_E_FORMAT:
    case SCUTE_E_VERSION:
    case SCUTE_E_TRUNCATED:
    case SCUTE_E_LAYOUT: return exit_not_a_pool;
    default: return exit_error;
  }
}

}  // namespace scute_tool
