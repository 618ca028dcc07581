// SPDX-License-Identifier: BSD-3-Clause
#include "pool/stripes.hpp"

#include <cstdlib>

namespace scute::core::pool {
namespace {

uint32_t wished() noexcept {
  const char* wish = std::getenv("SCUTE_STRIPES");
  const unsigned long n = wish == nullptr ? 0 : std::strtoul(wish, nullptr, 10);
  return n == 0 || n > stripes::count ? stripes::count : static_cast<uint32_t>(n);
}

}  // namespace

uint32_t stripes::mask_ = std::bit_floor(wished()) - 1;

}  // namespace scute::core::pool
