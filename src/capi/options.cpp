// SPDX-License-Identifier: BSD-3-Clause
// The options' names, their text forms and their defaults, in one table.
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "capi/guard.hpp"

namespace scute::core::capi {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view value, const char* expected) {
  throw failure(SCUTE_E_INVALID, "option " + std::string(name) + ": \"" + std::string(value) +
                                     "\" is not " + expected);
}

// 4096, 64K, 64KiB, 1.5G is not accepted: sizes are whole.
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

struct word {
  std::string_view text;
  int value;
};

template <typename Enum, size_t N>
Enum pick(std::string_view name, std::string_view value, const word (&words)[N],
          const char* expected) {
  for (const word& w : words)
    if (w.text == value) return static_cast<Enum>(w.value);
  refuse(name, value, expected);
}

uint32_t parse_number(std::string_view name, std::string_view value) {
  const auto n = parse_size(value);
  if (!n || *n > UINT32_MAX) refuse(name, value, "a whole number");
  return static_cast<uint32_t>(*n);
}

uint32_t parse_octal(std::string_view name, std::string_view value) {
  uint32_t n = 0;
  for (const char c : value) {
    if (c < '0' || c > '7' || n > 0777) refuse(name, value, "octal permission bits such as 0600");
    n = n * 8 + static_cast<uint32_t>(c - '0');
  }
  if (value.empty() || n > 0777) refuse(name, value, "octal permission bits such as 0600");
  return n;
}

void set_flag(scute_options& o, uint32_t bit, std::string_view name, std::string_view value) {
  constexpr word words[] = {{"1", 1}, {"0", 0}, {"true", 1}, {"false", 0}};
  if (pick<int>(name, value, words, "1 or 0") != 0)
    o.flags |= bit;
  else
    o.flags &= ~bit;
}

// default | conservative | scrub:N
void set_policy(scute_options& o, std::string_view name, std::string_view value) {
  constexpr std::string_view scrub = "scrub:";
  if (value == "default" || value == "conservative") {
    o.policy = value == "default" ? SCUTE_POLICY_DEFAULT : SCUTE_POLICY_CONSERVATIVE;
    o.scrub_every = 0;
    return;
  }
  const auto n = value.starts_with(scrub) ? parse_size(value.substr(scrub.size())) : std::nullopt;
  if (!n || *n == 0)
    refuse(name, value, "default, conservative or scrub:N, N being transactions (scrub:100000)");
  o.policy = SCUTE_POLICY_SCRUB;
  o.scrub_every = *n;
}

void set_option(scute_options& o, std::string_view name, const char* text) {
  const std::string_view value = text;
  if (name == "size") {
    const auto n = parse_size(value);
    if (!n) refuse(name, value, "a size such as 64M or 16GiB");
    o.size = *n;
  } else if (name == "layout") {
    o.layout = text;
  } else if (name == "medium") {
    constexpr word words[] = {{"auto", SCUTE_MEDIUM_AUTO},
                              {"dax", SCUTE_MEDIUM_DAX},
                              {"file", SCUTE_MEDIUM_FILE},
                              {"ram", SCUTE_MEDIUM_RAM}};
    o.medium = pick<scute_medium>(name, value, words, "auto, dax, file or ram");
  } else if (name == "engine") {
    constexpr word words[] = {{"auto", SCUTE_ENGINE_AUTO},
                              {"redo", SCUTE_ENGINE_REDO},
                              {"logfree", SCUTE_ENGINE_LOGFREE}};
    o.engine = pick<scute_engine>(name, value, words, "auto, redo or logfree");
  } else if (name == "protection") {
    constexpr word words[] = {{"none", SCUTE_PROTECT_NONE},
                              {"ml", SCUTE_PROTECT_ML},
                              {"mlp", SCUTE_PROTECT_MLP},
                              {"mlpc", SCUTE_PROTECT_MLPC}};
    o.protection = pick<scute_protection>(name, value, words, "none, ml, mlp or mlpc");
  } else if (name == "checksum") {
    constexpr word words[] = {{"crc32c", SCUTE_CHECKSUM_CRC32C},
                              {"adler32", SCUTE_CHECKSUM_ADLER32}};
    o.checksum = pick<scute_checksum>(name, value, words, "crc32c or adler32");
  } else if (name == "rows") {
    o.rows = parse_number(name, value);
  } else if (name == "parity") {
    o.parity = parse_number(name, value);
  } else if (name == "lanes") {
    o.lanes = parse_number(name, value);
  } else if (name == "chunk_size" || name == "chunk-size") {
    o.chunk_size = parse_number(name, value);
  } else if (name == "mode") {
    o.mode = parse_octal(name, value);
  } else if (name == "readonly") {
    set_flag(o, SCUTE_READONLY, name, value);
  } else if (name == "preallocate") {
    set_flag(o, SCUTE_PREALLOCATE, name, value);
  } else if (name == "overwrite") {
    set_flag(o, SCUTE_OVERWRITE, name, value);
  } else if (name == "no_fault_handler" || name == "no-fault-handler") {
    set_flag(o, SCUTE_NO_FAULT_HANDLER, name, value);
  } else if (name == "account") {
    set_flag(o, SCUTE_ACCOUNT, name, value);
  } else if (name == "lazy_recovery" || name == "lazy-recovery") {
    set_flag(o, SCUTE_LAZY_RECOVERY, name, value);
  } else if (name == "plain_encoding" || name == "plain-encoding") {
    set_flag(o, SCUTE_PLAIN_ENCODING, name, value);
  } else if (name == "policy") {
    set_policy(o, name, value);
  } else {
    throw failure(SCUTE_E_INVALID, "there is no option \"" + std::string(name) + "\"");
  }
}

}  // namespace
}  // namespace scute::core::capi

using namespace scute::core;

extern "C" {

void scute_options_init(scute_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->struct_size = sizeof *options;
  options->size = uint64_t{64} << 20;
  options->medium = SCUTE_MEDIUM_AUTO;
  options->engine = SCUTE_ENGINE_AUTO;
  options->protection = SCUTE_PROTECT_MLPC;
  options->checksum = SCUTE_CHECKSUM_CRC32C;
  options->mode = 0600;
}

int scute_options_set(scute_options* options, const char* name, const char* value) {
  return capi::guarded([&] {
    capi::set_option(capi::need_out(options, "options"), &capi::need_out(name, "name"),
                     &capi::need_out(value, "value"));
  });
}

int scute_options_from_env(scute_options* options) {
  return capi::guarded([&] {
    capi::need_out(options, "options");
    constexpr struct {
      const char* variable;
      const char* name;
    } all[] = {{"SCUTE_SIZE", "size"},
               {"SCUTE_LAYOUT", "layout"},
               {"SCUTE_MEDIUM", "medium"},
               {"SCUTE_ENGINE", "engine"},
               {"SCUTE_PROTECTION", "protection"},
               {"SCUTE_CHECKSUM", "checksum"},
               {"SCUTE_ROWS", "rows"},
               {"SCUTE_PARITY", "parity"},
               {"SCUTE_LANES", "lanes"},
               {"SCUTE_CHUNK_SIZE", "chunk_size"},
               {"SCUTE_MODE", "mode"},
               {"SCUTE_READONLY", "readonly"},
               {"SCUTE_PREALLOCATE", "preallocate"},
               {"SCUTE_OVERWRITE", "overwrite"},
               {"SCUTE_NO_FAULT_HANDLER", "no_fault_handler"},
               {"SCUTE_ACCOUNT", "account"},
               {"SCUTE_LAZY_RECOVERY", "lazy_recovery"},
               {"SCUTE_PLAIN_ENCODING", "plain_encoding"},
               {"SCUTE_POLICY", "policy"}};
    for (const auto& v : all)
      if (const char* value = std::getenv(v.variable)) capi::set_option(*options, v.name, value);
  });
}

}  // extern "C"
