// SPDX-License-Identifier: BSD-3-Clause
#include "numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace scute_tool {

namespace {

// All of the text as a number; nothing else is skipped or accepted.
std::optional<uint64_t> parse(std::string_view text, int base = 10) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

std::optional<uint64_t> parse_size(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<uint64_t> n = parse(text.substr(0, digits));
  std::string_view unit = text.substr(digits);
  if (!n || unit.empty()) return n;
  const size_t letter = std::string_view("KMGTkmgt").find(unit.front());
  unit.remove_prefix(1);
  if (letter == std::string_view::npos || (!unit.empty() && unit != "iB" && unit != "B"))
    return std::nullopt;
  const auto shift = static_cast<unsigned>(letter % 4 + 1) * 10;
  if (*n >> (64 - shift) != 0) return std::nullopt;
  return *n << shift;
}

// A validator that puts a number in decimal digits, which CLI11 then converts, in the place of the
// text.
template <class Parse>
CLI::Validator number(std::string wanted, Parse parse) {
  return CLI::Validator(
      [wanted = std::move(wanted), parse](std::string& text) {
        const std::optional<uint64_t> n = parse(text);
        if (!n) return fmt::format("\"{}\" is not {}", text, wanted);
        text = std::to_string(*n);
        return std::string();
      },
      "");
}

}  // namespace

CLI::Validator whole_number(uint64_t least, uint64_t most) {
  const std::string wanted = most != UINT64_MAX
                                 ? fmt::format("a whole number from {} to {}", least, most)
                             : least != 0 ? fmt::format("a whole number, at least {}", least)
                                          : "a whole number";
  return number(wanted, [=](const std::string& text) {
    const std::optional<uint64_t> n = parse(text);
    return n && *n >= least && *n <= most ? n : std::nullopt;
  });
}

CLI::Validator size_value() {
  return number("a size such as 4096, 64K or 1G", [](const std::string& text) {
    const std::optional<uint64_t> n = parse_size(text);
    return n && *n != 0 ? n : std::nullopt;
  });
}

CLI::Validator file_offset() {
  return number("an offset such as 81920 or 0x14000", [](const std::string& text) {
    return text.starts_with("0x") ? parse(std::string_view(text).substr(2), 16) : parse(text);
  });
}

CLI::Validator fraction() {
  return CLI::Validator(
      [](std::string& text) {
        double value = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        return whole && value >= 0 && value <= 1
                   ? std::string()
                   : fmt::format("\"{}\" is not a number from 0 to 1", text);
      },
      "");
}

}  // namespace scute_tool
