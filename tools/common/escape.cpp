// SPDX-License-Identifier: BSD-3-Clause
#include "escape.hpp"

namespace scute_tools {

std::string escape(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 16);
  for (const char c : bytes) {
    switch (c) {
      case '\t': text += "\\t"; break;
      case '\n': text += "\\n"; break;
      case '\r': text += "\\r"; break;
      case '\0': text += "\\0"; break;
      case '\\': text += "\\\\"; break;
      default: text += c;
    }
  }
  return text;
}

}  // namespace scute_tools
