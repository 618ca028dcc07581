// SPDX-License-Identifier: BSD-3-Clause
// The options: a table with their names, how each value is parsed, and which values are allowed;
// and their defaults.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "c_api/pool/guard.hpp"

namespace scute::core::c_api {
namespace {

// Accepts 4096, 64K, 64KiB; not 1.5G: sizes are integers.
std::optional<uint64_t> parse_size(std::string_view text) {
  uint64_t n = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    if (n > (UINT64_MAX - 9) / 10) return std::nullopt;
    n = n * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  if (i == 0) return std::nullopt;
  std::string_view unit = text.substr(i);
  unsigned shift = 0;
  if (!unit.empty()) {
    constexpr std::string_view letters = "KMGT";
    const size_t at = letters.find(static_cast<char>(unit[0] & ~0x20));
    if (at == std::string_view::npos) return std::nullopt;
    shift = static_cast<unsigned>(at + 1) * 10;
    unit.remove_prefix(1);
    if (!unit.empty() && unit != "iB" && unit != "B") return std::nullopt;
  }
  if (shift != 0 && n >> (64 - shift) != 0) return std::nullopt;
  return n << shift;
}

// Each of these parses one kind of value into the options. Returns false, with nothing changed, if
// the text is no such value.

template <auto Member>
bool set_size(scute_options& o, const char* text) {
  const auto n = parse_size(text);
  if (n) o.*Member = *n;
  return n.has_value();
}

template <auto Member>
bool set_number(scute_options& o, const char* text) {
  const auto n = parse_size(text);
  if (!n || *n > UINT32_MAX) return false;
  o.*Member = static_cast<uint32_t>(*n);
  return true;
}

template <auto Member>
bool set_text(scute_options& o, const char* text) {
  o.*Member = text;
  return true;
}

template <auto Member>
bool set_octal(scute_options& o, const char* text) {
  uint32_t n = 0;
  const std::string_view digits = text;
  for (const char c : digits) {
    if (c < '0' || c > '7' || n > 0777) return false;
    n = n * 8 + static_cast<uint32_t>(c - '0');
  }
  if (digits.empty() || n > 0777) return false;
  o.*Member = n;
  return true;
}

struct word {
  std::string_view text;
  int value;
};
constexpr word media[] = {{"auto", SCUTE_MEDIUM_AUTO},
                          {"dax", SCUTE_MEDIUM_DAX},
                          {"file", SCUTE_MEDIUM_FILE},
                          {"ram", SCUTE_MEDIUM_RAM}};
constexpr word engines[] = {{"auto", SCUTE_ENGINE_AUTO},
                            {"redo", SCUTE_ENGINE_REDO},
                            {"logfree", SCUTE_ENGINE_LOGFREE},
                            {"spec", SCUTE_ENGINE_SPEC}};
constexpr word protections[] = {{"auto", SCUTE_PROTECT_AUTO},
                                {"none", SCUTE_PROTECT_NONE},
                                {"ml", SCUTE_PROTECT_ML},
                                {"mlp", SCUTE_PROTECT_MLP},
                                {"mlpc", SCUTE_PROTECT_MLPC}};
constexpr word checksums[] = {{"crc32c", SCUTE_CHECKSUM_CRC32C},
                              {"adler32", SCUTE_CHECKSUM_ADLER32}};
constexpr word switches[] = {{"1", 1}, {"0", 0}, {"true", 1}, {"false", 0}};

const word* find_word(std::span<const word> words, std::string_view text) {
  const auto at =
      std::find_if(words.begin(), words.end(), [&](const word& w) { return w.text == text; });
  return at == words.end() ? nullptr : &*at;
}

template <auto Member, const auto& Words>
bool set_word(scute_options& o, const char* text) {
  const word* w = find_word(Words, text);
  if (w == nullptr) return false;
  o.*Member = static_cast<std::remove_reference_t<decltype(o.*Member)>>(w->value);
  return true;
}

template <uint32_t Bit>
bool set_flag(scute_options& o, const char* text) {
  const word* w = find_word(switches, text);
  if (w == nullptr) return false;
  o.flags = w->value != 0 ? o.flags | Bit : o.flags & ~Bit;
  return true;
}

bool set_policy(scute_options& o, const char* text) {
  constexpr std::string_view scrub = "scrub:";
  const std::string_view value = text;
  if (value == "default" || value == "conservative") {
    o.policy = value == "default" ? SCUTE_POLICY_DEFAULT : SCUTE_POLICY_CONSERVATIVE;
    o.scrub_every = 0;
    return true;
  }
  const auto n = value.starts_with(scrub) ? parse_size(value.substr(scrub.size())) : std::nullopt;
  if (!n || *n == 0) return false;
  o.policy = SCUTE_POLICY_SCRUB;
  o.scrub_every = *n;
  return true;
}

struct option {
  std::string_view name;  // also with hyphens; in the environment SCUTE_NAME
  bool (*set)(scute_options&, const char* text);
  const char* takes;  // says in messages what is accepted
};
constexpr const char* number = "a whole number";
constexpr const char* one_or_zero = "1 or 0";
constexpr option all_options[] = {
    {"size", set_size<&scute_options::size>, "a size such as 64M or 16GiB"},
    {"layout", set_text<&scute_options::layout>, "a text"},
    {"medium", set_word<&scute_options::medium, media>, "auto, dax, file or ram"},
    {"engine", set_word<&scute_options::engine, engines>, "auto, redo, logfree or spec"},
    {"protection", set_word<&scute_options::protection, protections>,
     "auto, none, ml, mlp or mlpc"},
    {"checksum", set_word<&scute_options::checksum, checksums>, "crc32c or adler32"},
    {"rows", set_number<&scute_options::rows>, number},
    {"parity", set_number<&scute_options::parity>, number},
    {"lanes", set_number<&scute_options::lanes>, number},
    {"chunk_size", set_number<&scute_options::chunk_size>, number},
    {"log_cap", set_size<&scute_options::log_cap>, "a size such as 64M or 16GiB"},
    {"mode", set_octal<&scute_options::mode>, "octal permission bits such as 0600"},
    {"readonly", set_flag<SCUTE_READONLY>, one_or_zero},
    {"preallocate", set_flag<SCUTE_PREALLOCATE>, one_or_zero},
    {"overwrite", set_flag<SCUTE_OVERWRITE>, one_or_zero},
    {"no_fault_handler", set_flag<SCUTE_NO_FAULT_HANDLER>, one_or_zero},
    {"account", set_flag<SCUTE_ACCOUNT>, one_or_zero},
    {"lazy_recovery", set_flag<SCUTE_LAZY_RECOVERY>, one_or_zero},
    {"damaged", set_flag<SCUTE_DAMAGED>, one_or_zero},
    {"plain_encoding", set_flag<SCUTE_PLAIN_ENCODING>, one_or_zero},
    {"without_log", set_flag<SCUTE_WITHOUT_LOG>, one_or_zero},
    {"policy", set_policy, "default, conservative or scrub:N, N being transactions (scrub:100000)"},
};

// name: as the caller wrote it.
void set_option(scute_options& o, const option& which, std::string_view name, const char* text) {
  if (!which.set(o, text))
    throw failure(SCUTE_E_INVALID,
                  "option " + std::string(name) + ": \"" + text + "\" is not " + which.takes);
}

void set_option(scute_options& o, std::string_view name, const char* text) {
  for (const option& one : all_options) {
    std::string hyphens(one.name);
    std::replace(hyphens.begin(), hyphens.end(), '_', '-');
    if (name == one.name || name == hyphens) return set_option(o, one, name, text);
  }
  throw failure(SCUTE_E_INVALID, "there is no option \"" + std::string(name) + "\"");
}

std::string variable_of(const option& one) {
  std::string variable = "SCUTE_";
  for (const char c : one.name)
    variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return variable;
}

}  // namespace
}  // namespace scute::core::c_api

using namespace scute::core;

extern "C" {

void scute_options_init(scute_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->struct_size = sizeof *options;
  options->size = pool::default_size;
  options->medium = SCUTE_MEDIUM_AUTO;
  options->engine = SCUTE_ENGINE_AUTO;
  options->protection = SCUTE_PROTECT_AUTO;
  options->checksum = SCUTE_CHECKSUM_CRC32C;
  options->mode = 0;
}

int scute_options_set(scute_options* options, const char* name, const char* value) {
  return c_api::guarded([&] {
    c_api::set_option(c_api::need_out(options, "options"), &c_api::need_out(name, "name"),
                      &c_api::need_out(value, "value"));
  });
}

int scute_options_from_env(scute_options* options) {
  return c_api::guarded([&] {
    c_api::need_out(options, "options");
    for (const c_api::option& one : c_api::all_options)
      if (const char* value = std::getenv(c_api::variable_of(one).c_str()))
        c_api::set_option(*options, one, one.name, value);
  });
}

}  // extern "C"
