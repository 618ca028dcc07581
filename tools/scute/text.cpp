// SPDX-License-Identifier: BSD-3-Clause
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace scute_tool {

std::string size_text(uint64_t bytes) {
  static constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string exact_size_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  return fmt::format("{} ({} bytes)", size_text(bytes), bytes);
}

std::string count_text(uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string duration_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  return time_left_text(seconds);
}

std::string time_left_text(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string uuid_text(const uint8_t (&uuid)[16]) {
  std::string text;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

const char* name_of(scute_medium medium) {
  switch (medium) {
    case SCUTE_MEDIUM_AUTO: return "auto";
    case SCUTE_MEDIUM_DAX: return "dax";
    case SCUTE_MEDIUM_FILE: return "file";
    case SCUTE_MEDIUM_RAM: return "ram";
  }
  return "unknown";
}

const char* name_of(scute_engine engine) {
  switch (engine) {
    case SCUTE_ENGINE_AUTO: return "auto";
    case SCUTE_ENGINE_REDO: return "redo";
    case SCUTE_ENGINE_LOGFREE: return "logfree";
    case SCUTE_ENGINE_SPEC: return "spec";
  }
  return "unknown";
}

const char* name_of(scute_protection protection) {
  switch (protection) {
    case SCUTE_PROTECT_AUTO: return "auto";
    case SCUTE_PROTECT_NONE: return "none";
    case SCUTE_PROTECT_ML: return "ml";
    case SCUTE_PROTECT_MLP: return "mlp";
    case SCUTE_PROTECT_MLPC: return "mlpc";
  }
  return "unknown";
}

const char* name_of(scute_checksum checksum) {
  switch (checksum) {
    case SCUTE_CHECKSUM_CRC32C: return "crc32c";
    case SCUTE_CHECKSUM_ADLER32: return "adler32";
  }
  return "unknown";
}

const char* name_of(scute_region region) {
  switch (region) {
    case SCUTE_REGION_SUPERBLOCK: return "superblock";
    case SCUTE_REGION_LANE: return "lane";
    case SCUTE_REGION_ZONE_HEADER: return "zone-header";
    case SCUTE_REGION_CHUNK_HEADER: return "chunk-header";
    case SCUTE_REGION_OBJECT: return "object";
    case SCUTE_REGION_FREE: return "free";
    case SCUTE_REGION_LOG: return "log";
    case SCUTE_REGION_PARITY: return "parity";
    case SCUTE_REGION_PADDING: return "padding";
    case SCUTE_REGION_NOTES: return "notes";
  }
  return "unknown";
}

const char* name_of(scute_event_kind kind) {
  switch (kind) {
    case SCUTE_EVENT_PAGE: return "page";
    case SCUTE_EVENT_OBJECT: return "object";
    case SCUTE_EVENT_STRUCTURE: return "structure";
    case SCUTE_EVENT_SUPERBLOCK: return "superblock";
    case SCUTE_EVENT_LOG: return "log";
    case SCUTE_EVENT_PARITY: return "parity";
    case SCUTE_EVENT_FREE: return "free";
  }
  return "unknown";
}

const char* name_of(scute_outcome outcome) {
  switch (outcome) {
    case SCUTE_OUTCOME_REPAIRED: return "repaired";
    case SCUTE_OUTCOME_LOST: return "lost";
    case SCUTE_OUTCOME_DETECTED: return "detected";
  }
  return "unknown";
}

const char* name_of(scute_finder finder) {
  switch (finder) {
    case SCUTE_FINDER_ACCESS: return "access";
    case SCUTE_FINDER_FAULT: return "fault";
    case SCUTE_FINDER_OPEN: return "open";
    case SCUTE_FINDER_SCRUB: return "scrub";
    case SCUTE_FINDER_CHECK: return "check";
  }
  return "unknown";
}

std::string policy_text(scute_policy policy, uint64_t scrub_every) {
  switch (policy) {
    case SCUTE_POLICY_DEFAULT: return "default";
    case SCUTE_POLICY_SCRUB: return fmt::format("scrub:{}", scrub_every);
    case SCUTE_POLICY_CONSERVATIVE: return "conservative";
  }
  return "unknown";
}

std::string time_text(uint64_t ns) {
  const auto seconds = static_cast<time_t>(ns / 1'000'000'000);
  tm parts{};
  char text[32];
  if (::localtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) == 0)
    return fmt::format("{} ns", ns);
  return text;
}

void fact_sheet::print() const {
  size_t width = 0;
  for (const auto& fact : facts_) width = std::max(width, fact.first.size());
  for (const auto& [name, value] : facts_) fmt::print("{:<{}}  {}\n", name, width, value);
}

void table::print(std::string_view indent) const {
  std::vector<size_t> widths;
  for (const column& c : columns_) widths.push_back(c.title.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto print_row = [&](const auto& cell_of) {
    std::string line{indent};
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string& cell = cell_of(i);
      line += columns_[i].numeric ? fmt::format("{:>{}}", cell, widths[i])
                                  : fmt::format("{:<{}}", cell, widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  };
  print_row([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) {
    print_row([&](size_t i) -> const std::string& { return row[i]; });
  }
}

void print_hex(const unsigned char* bytes, uint64_t length, std::string_view indent) {
  constexpr uint64_t width = 16;
  bool starred = false;
  for (uint64_t at = 0; at < length; at += width) {
    const uint64_t here = std::min(width, length - at);
    const bool repeats =
        at > 0 && here == width && std::memcmp(bytes + at, bytes + at - width, width) == 0;
    if (repeats) {
      if (!starred) fmt::print("{}*\n", indent);
      starred = true;
      continue;
    }
    starred = false;
    std::string hex;
    std::string ascii;
    for (uint64_t i = 0; i < width; ++i) {
      if (i == width / 2) hex += ' ';
      if (i >= here) {
        hex += "   ";
        continue;
      }
      const unsigned char byte = bytes[at + i];
      hex += fmt::format("{:02x} ", byte);
      ascii += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
    }
    fmt::print("{}{:08x}  {} |{}|\n", indent, at, hex, ascii);
  }
  fmt::print("{}{:08x}\n", indent, length);
}

}  // namespace scute_tool
