// SPDX-License-Identifier: BSD-3-Clause
// line_source.hpp: lines of a file or of stdin, or the
// elements of a JSON array, with the position and a hash of everything before it, by which a later
// run recognises that it reads the same source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace scute_tool {

// Everything of a source that was consumed: the first `offset` bytes, with this hash (FNV-1a).
struct source_position {
  uint64_t offset = 0;
  uint64_t hash = 0xcbf29ce484222325;

  bool operator==(const source_position&) const = default;
};

// FNV-1a
uint64_t hash_of(std::string_view bytes, uint64_t hash = source_position{}.hash);

class line_source {
 public:
  enum class result { line, end, interrupted };

  // path "-": stdin. When wake_fd becomes readable, waiting for input ends. Throws failure.
  line_source(const std::string& path, int wake_fd);
  ~line_source();
  line_source(const line_source&) = delete;
  line_source& operator=(const line_source&) = delete;

  // A file with a path and content that stay. Otherwise (standard input, a pipe) two sources may
  // have the same path.
  bool is_file() const { return is_file_; }

  // Before anything else is read: the first line, as next() is going to return it. A source that
  // begins with [ is an array from then on, if arrays may be: next() returns its elements instead
  // of lines.
  result peek(bool arrays, std::string& line);

  // Consumes as many bytes as `wanted` has. `differs`: they are not there, have another hash, or
  // end inside a line that has grown since.
  enum class skip_result { same, differs, interrupted };
  skip_result skip_to(const source_position& wanted);

  // The next line without its newline; valid until the next call.
  result next(std::string_view& line);

  const source_position& position() const { return position_; }
  uint64_t size() const { return size_; }  // 0: not known

 private:
  enum class fill_result { more, end, interrupted };
  fill_result fill();
  void consume(size_t length);
  result next_element(std::string_view& element);

  std::string name_;
  int fd_;
  int wake_fd_;
  uint64_t size_ = 0;
  bool is_file_ = false;
  bool is_array_ = false;
  std::string buffer_;
  size_t begin_ = 0;  // of the bytes that are not consumed yet, in buffer_
  source_position position_;
};

}  // namespace scute_tool
