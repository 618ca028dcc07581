// SPDX-License-Identifier: BSD-3-Clause
#include "asm_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace scute_pass {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

namespace {

// $(att$|intel$): leaves that of the dialect.
std::string choose_dialect(std::string_view source, bool intel) {
  std::string result;
  int alternative = -1;  // outside
  for (size_t i = 0; i < source.size(); ++i) {
    const char next = i + 1 < source.size() ? source[i + 1] : '\0';
    if (source[i] == '$' && next == '$') {
      if (alternative < 0 || alternative == (intel ? 1 : 0)) result += "$$";
      ++i;
    } else if (source[i] == '$' && next == '(' && alternative < 0) {
      alternative = 0;
      ++i;
    } else if (source[i] == '$' && next == '|' && alternative >= 0) {
      ++alternative;
      ++i;
    } else if (source[i] == '$' && next == ')' && alternative >= 0) {
      alternative = -1;
      ++i;
    } else if (alternative < 0 || alternative == (intel ? 1 : 0)) {
      result += source[i];
    }
  }
  return result;
}

// Comments become blanks, so that places stay the same.
std::string without_comments(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i;
    if (text[i] == '"') {
      i = std::min(text.find('"', i + 1), text.size());
      continue;
    }
    if (text.compare(i, 2, "/*") == 0) {
      end = text.find("*/", i + 2);
      end = end == std::string::npos ? text.size() : end + 2;
    } else if (text[i] == '#' || text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
    }
    for (size_t j = i; j < end; ++j) text[j] = text[j] == '\n' ? '\n' : ' ';
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> result;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    const auto operand = trimmed(text.substr(begin, i - begin));
    if (!operand.empty()) result.emplace_back(operand);
    begin = i + 1;
  }
  return result;
}

bool is_prefix_name(std::string_view name) {
  static constexpr std::string_view names[] = {"lock",    "rep",      "repe",    "repz",
                                               "repne",   "repnz",    "data16",  "data32",
                                               "notrack", "xacquire", "xrelease"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The prefix that a .byte stands for; empty if it is none.
std::string prefix_of_byte(const std::string& text) {
  switch (std::strtoul(text.c_str(), nullptr, 0)) {
    case 0x66: return "data16";
    case 0xf0: return "lock";
    case 0xf2: return "repne";
    case 0xf3: return "rep";
    case 0x2e:
    case 0x3e:
    case 0x26:
    case 0x36: return "segment";
    default: return {};
  }
}

// Takes a label off the front.
bool take_label(std::string_view& text) {
  size_t end = 0;
  int depth = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (depth > 0 || c == '}' || c == '$' || c == '_' || c == '.' ||
        std::isalnum(static_cast<unsigned char>(c)))
      continue;
    break;
  }
  if (end == 0 || end >= text.size() || text[end] != ':') return false;
  text = text.substr(end + 1);
  return true;
}

}  // namespace

bool asm_statement::has_prefix(std::string_view name) const {
  return std::find(prefixes.begin(), prefixes.end(), name) != prefixes.end();
}

asm_text parse_asm(std::string_view source, bool intel) {
  asm_text result;
  result.text = choose_dialect(source, intel);
  const std::string plain = without_comments(result.text);
  asm_statement pending;  // prefixes that stand in statements of their own
  size_t begin = 0;
  bool quoted = false;
  for (size_t i = 0; i <= plain.size(); ++i) {
    const char c = i < plain.size() ? plain[i] : '\n';
    if (c == '"') quoted = !quoted;
    if (i < plain.size() && (quoted || (c != '\n' && c != ';'))) continue;
    std::string_view rest = trimmed(std::string_view(plain).substr(begin, i - begin));
    begin = i + 1;
    while (take_label(rest)) {
      result.has_label = true;
      rest = trimmed(rest);
    }
    if (pending.prefixes.empty() && !rest.empty())
      pending.begin = static_cast<size_t>(rest.data() - plain.data());
    while (!rest.empty()) {
      const auto space = std::min(rest.find_first_of(" \t"), rest.size());
      const std::string word = lower(rest.substr(0, space));
      rest = trimmed(rest.substr(space));
      if (is_prefix_name(word)) {
        pending.prefixes.push_back(word);
        continue;
      }
      pending.mnemonic = word;
      pending.operands = split_operands(rest);
      break;
    }
    if (pending.mnemonic == ".byte" && pending.operands.size() == 1 &&
        !prefix_of_byte(pending.operands[0]).empty()) {
      pending.prefixes.push_back(prefix_of_byte(pending.operands[0]));
      pending.mnemonic.clear();
      pending.operands.clear();
    }
    if (pending.mnemonic.empty()) continue;
    result.statements.push_back(std::move(pending));
    pending = {};
  }
  if (!pending.prefixes.empty()) result.statements.push_back(std::move(pending));
  return result;
}

}  // namespace scute_pass
