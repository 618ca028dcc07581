// SPDX-License-Identifier: BSD-3-Clause
// record_format.hpp: key-value records as lines of text, in two forms that both carry any bytes.
//
//   tsv   key<TAB>value. In either, \t \n \r \0 and \\ stand for tab, newline, return, NUL and
//         backslash; every other byte stands for itself.
//   json  {"key": "...", "value": ...} per line, or an array of them. A value that is not a string
//         keeps its JSON text. Bytes that are not UTF-8 go into "key_base64" and "value_base64"
//         instead.
#pragma once

#include <string>
#include <string_view>

namespace scute_tool {

enum class record_format { tsv, json };

struct record {
  std::string key;
  std::string value;
};

// A line without its newline. Throws std::invalid_argument with the reason.
record parse_record(record_format format, std::string_view line);

// Without the newline.
std::string format_record(record_format format, std::string_view key, std::string_view value);
std::string format_key(record_format format, std::string_view key);

}  // namespace scute_tool
