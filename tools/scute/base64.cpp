// SPDX-License-Identifier: BSD-3-Clause
#include "base64.hpp"

#include <cstdint>
#include <stdexcept>

namespace scute_tool {

namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint32_t byte_at(std::string_view bytes, size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const uint32_t group =
        byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
    text += digits[group >> 18];
    text += digits[group >> 12 & 63];
    text += i + 1 < bytes.size() ? digits[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? digits[group & 63] : '=';
  }
  return text;
}

std::string base64_decode(std::string_view text) {
  if (text.size() % 4 != 0)
    throw std::invalid_argument("the length of base64 must be a multiple of 4");
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t group = 0;
    for (size_t j = i; j < i + 4; ++j) {
      const bool pad = j >= text.size() - padding;
      const size_t digit = pad ? 0 : digits.find(text[j]);
      if (digit == std::string_view::npos) throw std::invalid_argument("not base64");
      group = group << 6 | static_cast<uint32_t>(digit);
    }
    bytes += static_cast<char>(group >> 16 & 255);
    bytes += static_cast<char>(group >> 8 & 255);
    bytes += static_cast<char>(group & 255);
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace scute_tool
