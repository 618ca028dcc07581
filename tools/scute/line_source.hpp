// SPDX-License-Identifier: BSD-3-Clause
// line_source.hpp: lines of a file or of stdin, with the position and a hash of everything before
// it, by which a later run recognises that it reads the same source.
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

class line_source {
 public:
  enum class result { line, end, interrupted };

  // path "-": stdin. When wake_fd becomes readable, waiting for input ends. Throws failure.
  line_source(const std::string& path, int wake_fd);
  ~line_source();
  line_source(const line_source&) = delete;
  line_source& operator=(const line_source&) = delete;

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

  std::string name_;
  int fd_;
  int wake_fd_;
  uint64_t size_ = 0;
  std::string buffer_;
  size_t begin_ = 0;  // of what is not consumed yet, in buffer_
  source_position position_;
};

}  // namespace scute_tool
