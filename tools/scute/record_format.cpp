// SPDX-License-Identifier: BSD-3-Clause
#include "record_format.hpp"

#include "base64.hpp"
#include "escape.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace scute_tool {

using scute_tools::escape;

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string unescape(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    if (++i == text.size()) throw std::invalid_argument("a lone backslash at the end");
    switch (text[i]) {
      case 't': bytes += '\t'; break;
      case 'n': bytes += '\n'; break;
      case 'r': bytes += '\r'; break;
      case '0': bytes += '\0'; break;
      case '\\': bytes += '\\'; break;
      default:
        throw std::invalid_argument(std::string("unknown escape \\") + text[i] +
                                    " (write a backslash as \\\\)");
    }
  }
  return bytes;
}

record parse_tsv(std::string_view line) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos)
    throw std::invalid_argument(
        "no tab between key and value, as in KEY<TAB>VALUE; JSON is read with --format json, and "
        "CSV without quotes "
        "after `sed 's/,/\\t/'`");
  const std::string_view value = line.substr(tab + 1);
  if (value.find('\t') != std::string_view::npos)
    throw std::invalid_argument("a second tab (write a tab inside a value as \\t)");
  return {unescape(line.substr(0, tab)), unescape(value)};
}

// Walks over text that is known to be valid JSON.
class json_text {
 public:
  explicit json_text(std::string_view text) : text_(text) {}

  // The text of the last member of that name in the object that the text is.
  std::string_view member(const std::string& name) {
    std::string_view found;
    skip_space();
    ++at_;  // {
    for (;;) {
      skip_space();
      if (text_[at_] == '}') return found;
      const std::string_view key = value();
      skip_space();
      ++at_;  // :
      skip_space();
      const std::string_view text = value();
      if (json::parse(key).get<std::string>() == name) found = text;
      skip_space();
      if (text_[at_] == ',') ++at_;
    }
  }

 private:
  void skip_space() { at_ = text_.find_first_not_of(" \t\r\n", at_); }

  void skip_string() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string_view value() {
    const size_t begin = at_;
    if (text_[at_] == '"') {
      skip_string();
    } else if (text_[at_] == '{' || text_[at_] == '[') {
      size_t depth = 0;
      do {
        if (text_[at_] == '"') {
          skip_string();
          continue;
        }
        if (text_[at_] == '{' || text_[at_] == '[') ++depth;
        if (text_[at_] == '}' || text_[at_] == ']') --depth;
        ++at_;
      } while (depth > 0);
    } else {
      at_ = text_.find_first_of(",} \t\r\n", at_);
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string member_bytes(const json& object, std::string_view line, const std::string& name) {
  if (const auto encoded = object.find(name + "_base64"); encoded != object.end()) {
    if (!encoded->is_string()) throw std::invalid_argument("\"" + name + "_base64\" is no string");
    return base64_decode(encoded->get_ref<const std::string&>());
  }
  const auto plain = object.find(name);
  if (plain == object.end()) throw std::invalid_argument("no member \"" + name + "\"");
  if (plain->is_string()) return plain->get<std::string>();
  return std::string(json_text(line).member(name));
}

// Length of the JSON number at the beginning of a text; 0: there is none.
size_t number_length(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > from;
  };
  const auto one_of = [&](std::string_view set) {
    const bool is = at < text.size() && set.find(text[at]) != std::string_view::npos;
    if (is) ++at;
    return is;
  };
  one_of("-");
  if (!one_of("0") && !digits()) return 0;
  size_t end = at;
  if (one_of(".") && digits()) end = at;
  at = end;
  if (one_of("eE") && (one_of("+-"), digits())) end = at;
  return end;
}

// The same text with every number replaced by a small one of the same length. Numbers are kept as
// text, so it does not matter that no double could hold them (1e999).
std::string with_tame_numbers(std::string_view line) {
  std::string tame(line);
  for (size_t at = 0; at < tame.size();) {
    if (tame[at] == '"') {
      for (++at; at < tame.size() && tame[at] != '"'; ++at)
        if (tame[at] == '\\') ++at;
      ++at;
      continue;
    }
    const size_t length = number_length(line.substr(at));
    const size_t sign = length != 0 && tame[at] == '-' ? 1 : 0;
    for (size_t i = sign; i < length; ++i)
      tame[at + i] = i == sign + 1 && length > sign + 2 ? '.' : '1';
    at += std::max<size_t>(length, 1);
  }
  return tame;
}

json parse_document(std::string_view line) {
  try {
    return json::parse(line);
  } catch (const json::out_of_range&) {
    return json::parse(with_tame_numbers(line));
  }
}

record parse_json(std::string_view line) {
  json object;
  try {
    object = parse_document(line);
  } catch (const json::parse_error& error) {
    throw std::invalid_argument("not JSON, at byte " + std::to_string(error.byte) +
                                "; one object is wanted on each line, or an array of them");
  }
  if (!object.is_object()) throw std::invalid_argument("not a JSON object");
  return {member_bytes(object, line, "key"), member_bytes(object, line, "value")};
}

// nlohmann::json takes any bytes but refuses to print what is not UTF-8.
bool prints_as_json(std::string_view bytes) {
  try {
    (void)json(bytes).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

void add_member(ordered_json& object, const std::string& name, std::string_view bytes) {
  if (prints_as_json(bytes))
    object[name] = bytes;
  else
    object[name + "_base64"] = base64_encode(bytes);
}

}  // namespace

record parse_record(record_format format, std::string_view line) {
  return format == record_format::tsv ? parse_tsv(line) : parse_json(line);
}

std::string format_record(record_format format, std::string_view key, std::string_view value) {
  if (format == record_format::tsv) return escape(key) + '\t' + escape(value);
  ordered_json object;
  add_member(object, "key", key);
  add_member(object, "value", value);
  return object.dump();
}

std::string format_key(record_format format, std::string_view key) {
  if (format == record_format::tsv) return escape(key);
  ordered_json object;
  add_member(object, "key", key);
  return object.dump();
}

}  // namespace scute_tool
