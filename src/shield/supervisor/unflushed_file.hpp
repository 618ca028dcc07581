// SPDX-License-Identifier: BSD-3-Clause
// FILE.scute-unflushed: lines that a program stored to and never flushed, and that were not written
// to FILE. It is text, so that a user can read and cut it: a head for each death, then "OFFSET
// BYTES" for each line, both in hexadecimal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

namespace scute::core::supervisor {

class unflushed_file {
 public:
  explicit unflushed_file(const std::string& file) : path_(file + ".scute-unflushed") {}
  ~unflushed_file();
  unflushed_file(const unflushed_file&) = delete;
  unflushed_file& operator=(const unflushed_file&) = delete;

  // Appends; the file is made for the first line.
  void add(uint64_t offset, std::span<const std::byte> bytes);
  // Everything is durable. Throws failure if it could not be written.
  void finish();

 private:
  std::string path_;
  std::FILE* to_ = nullptr;
  bool failed_ = false;
};

}  // namespace scute::core::supervisor
