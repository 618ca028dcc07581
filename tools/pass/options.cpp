// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

namespace scute_pass {

uint32_t options::bits() const noexcept {
  uint32_t result = SCUTE_SHIELD_OPTION_FLUSH;
  if (detect) result |= SCUTE_SHIELD_OPTION_DETECT;
  if (loads) result |= SCUTE_SHIELD_OPTION_LOADS;
  if (trace) result |= SCUTE_SHIELD_OPTION_TRACE;
  return result;
}

std::optional<options> parse_options(std::string_view text) {
  options result;
  while (!text.empty()) {
    const auto end = text.find_first_of(",;");
    const auto name = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (name == "detect") {
      result.detect = true;
    } else if (name == "loads") {
      result.loads = true;
    } else if (name == "trace") {
      result.detect = result.trace = true;
    } else if (name != "flush") {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace scute_pass
