// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/parity/stripes.hpp"

#include <cstdlib>

namespace scute::core::pool {
namespace {

uint32_t requested_count() noexcept {
  const char* setting = std::getenv("SCUTE_STRIPES");
  const unsigned long n = setting == nullptr ? 0 : std::strtoul(setting, nullptr, 10);
  return n == 0 || n > stripes::count ? stripes::count : static_cast<uint32_t>(n);
}

}  // namespace

uint32_t stripes::mask_ = std::bit_floor(requested_count()) - 1;

}  // namespace scute::core::pool
