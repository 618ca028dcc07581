// SPDX-License-Identifier: BSD-3-Clause
// options.hpp: the events that the pass reports:
// -fscute=flush,detect,loads,trace.
#pragma once

#include <scute/shield_hooks.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace scute_pass {

struct options {
  bool detect = false;  // stores
  bool loads = false;
  bool trace = false;  // every store and load by itself: no merging

  uint32_t bits() const noexcept;
};

// Names separated by commas (or by semicolons, which a pass pipeline can carry). Empty: flush.
// Nothing if a name is unknown.
std::optional<options> parse_options(std::string_view text);

}  // namespace scute_pass
