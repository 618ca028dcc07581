// SPDX-License-Identifier: BSD-3-Clause
// text.hpp: numbers, enums and tables as people read them.
#pragma once

#include <scute/scute.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scute_tool {

std::string size_text(uint64_t bytes);        // "64.0 MiB"; below 1 KiB "17 B"
std::string exact_size_text(uint64_t bytes);  // "64.0 MiB (67108864 bytes)"
std::string count_text(uint64_t count);       // "12,345"
std::string duration_text(double seconds);    // "850 ns", "3.2 ms", "1:05"
std::string time_left_text(double seconds);   // whole seconds: "7 s", "1:05", "2:00:09"
std::string uuid_text(const uint8_t (&uuid)[16]);

// The names that scute_options_set() takes.
const char* name_of(scute_medium medium);
const char* name_of(scute_engine engine);
const char* name_of(scute_protection protection);
const char* name_of(scute_checksum checksum);
const char* name_of(scute_region region);
const char* name_of(scute_event_kind kind);
const char* name_of(scute_outcome outcome);
const char* name_of(scute_finder finder);
std::string policy_text(scute_policy policy, uint64_t scrub_every);  // "scrub:100000"

std::string time_text(uint64_t ns);  // CLOCK_REALTIME as "2031-05-04 13:05:59", local time

// File offset of an oid: without the pool's tag, so equal in pools that were made alike.
constexpr uint64_t offset_of(scute_oid oid) {
  return oid & ((uint64_t{1} << 48) - 1);
}

// Lines of "name   value" with the values in one column, for facts.
class fact_sheet {
 public:
  void add(std::string name, std::string value) {
    facts_.emplace_back(std::move(name), std::move(value));
  }
  void print() const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

// Columns as wide as their widest cell. Cells of numeric columns are right-aligned.
class table {
 public:
  struct column {
    std::string title;
    bool numeric = false;
  };
  explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  void print(std::string_view indent = "") const;

 private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Bytes as `hexdump -C` shows them, with a run of equal lines shortened to "*".
void print_hex(const unsigned char* bytes, uint64_t length, std::string_view indent);

}  // namespace scute_tool
