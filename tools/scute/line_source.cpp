// SPDX-License-Identifier: BSD-3-Clause
#include "line_source.hpp"

#include "failure.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace scute_tool {

namespace {

constexpr size_t read_size = size_t{1} << 20;

[[noreturn]] void throw_errno(const std::string& what) {
  throw failure(exit_error, what, std::generic_category().message(errno));
}

}  // namespace

uint64_t hash_of(std::string_view bytes, uint64_t hash) {
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

line_source::line_source(const std::string& path, int wake_fd)
    : name_(path == "-" ? "standard input" : path),
      fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      wake_fd_(wake_fd) {
  if (fd_ < 0) throw_errno(name_);
  struct stat status{};
  if (fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    is_file_ = path != "-";
  }
}

line_source::~line_source() {
  if (fd_ > STDIN_FILENO) close(fd_);
}

line_source::fill_result line_source::fill() {
  pollfd waits[2] = {{fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
  while (poll(waits, 2, -1) < 0) {
    if (errno != EINTR) throw_errno(name_);
  }
  if (waits[1].revents != 0) return fill_result::interrupted;

  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t old = buffer_.size();
  buffer_.resize(old + read_size);
  const ssize_t got = read(fd_, buffer_.data() + old, read_size);
  buffer_.resize(old + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) throw_errno(name_);
  return got == 0 ? fill_result::end : fill_result::more;
}

void line_source::consume(size_t length) {
  const uint64_t hash = hash_of(std::string_view(buffer_).substr(begin_, length), position_.hash);
  begin_ += length;
  position_ = {position_.offset + length, hash};
}

line_source::skip_result line_source::skip_to(const source_position& wanted) {
  char last = '\n';
  while (position_.offset < wanted.offset) {
    if (begin_ == buffer_.size()) {
      const fill_result filled = fill();
      if (filled == fill_result::interrupted) return skip_result::interrupted;
      if (filled == fill_result::end) return skip_result::differs;
    }
    const auto length = static_cast<size_t>(
        std::min<uint64_t>(buffer_.size() - begin_, wanted.offset - position_.offset));
    consume(length);
    last = buffer_[begin_ - 1];
  }
  if (position_ != wanted) return skip_result::differs;
  if (is_array_) return skip_result::same;  // an element ends with itself, and cannot grow
  if (last == '\n') return skip_result::same;
  if (begin_ < buffer_.size()) return skip_result::differs;
  switch (fill()) {
    case fill_result::more: return skip_result::differs;
    case fill_result::end: return skip_result::same;
    case fill_result::interrupted: break;
  }
  return skip_result::interrupted;
}

line_source::result line_source::peek(bool arrays, std::string& line) {
  size_t first = 0;
  while (arrays && (first = buffer_.find_first_not_of(" \t\r\n")) == std::string::npos) {
    const fill_result filled = fill();
    if (filled == fill_result::interrupted) return result::interrupted;
    if (filled == fill_result::end) break;
  }
  is_array_ = arrays && first != std::string::npos && buffer_[first] == '[';
  // Nothing is dropped from the buffer before a second line is read.
  std::string_view text;
  const result found = next(text);
  line = text;
  begin_ = 0;
  position_ = {};
  return found;
}

// Consumes an element with what stands before it: a bracket or a comma, and space. The bracket at
// the end stays, so that a longer array continues there.
line_source::result line_source::next_element(std::string_view& element) {
  constexpr std::string_view space = " \t\r\n";
  enum { before, inside, quoted, escaped, behind } where = before;
  size_t at = 0, begin = 0, depth = 0;  // from begin_ on, which fill() moves
  bool opened = position_.offset != 0, ended = false;
  for (; !ended; ++at) {
    if (begin_ + at == buffer_.size()) {
      const fill_result filled = fill();
      if (filled == fill_result::interrupted) return result::interrupted;
      if (filled == fill_result::end && where == behind) return result::end;
      if (filled == fill_result::end) break;
    }
    const char c = buffer_[begin_ + at];
    switch (where) {
      case before:
        if (c == ',' || space.find(c) != std::string_view::npos) break;
        if (c == '[' && !opened) {
          opened = true;
          break;
        }
        begin = at;
        if (c == ']') {
          where = behind;
          break;
        }
        where = inside;
        [[fallthrough]];
      case inside:
        if (c == '"') where = quoted;
        if (c == '{' || c == '[') ++depth;
        ended = depth == 0 && (c == ',' || c == ']');
        if (ended) --at;
        if ((c == '}' || c == ']') && depth != 0) ended = --depth == 0;
        break;
      case quoted:
        if (c == '\\') where = escaped;
        if (c == '"') where = inside;
        break;
      case escaped: where = quoted; break;
      case behind: ended = space.find(c) == std::string_view::npos; break;
    }
  }
  consume(at);
  // No JSON: the array is cut off.
  element =
      where == before ? "[" : std::string_view(buffer_).substr(begin_ - at + begin, at - begin);
  return result::line;
}

line_source::result line_source::next(std::string_view& line) {
  if (is_array_) return next_element(line);
  size_t scanned = begin_;
  for (;;) {
    const size_t newline = buffer_.find('\n', scanned);
    const bool at_end = newline == std::string::npos;
    if (!at_end) {
      const size_t length = newline - begin_;
      consume(length + 1);
      line = std::string_view(buffer_).substr(begin_ - length - 1, length);
      return result::line;
    }
    scanned = buffer_.size() - begin_;  // fill() moves what is left to the front
    const fill_result filled = fill();
    if (filled == fill_result::interrupted) return result::interrupted;
    if (filled == fill_result::end) break;
  }
  if (begin_ == buffer_.size()) return result::end;
  const size_t length = buffer_.size() - begin_;
  consume(length);
  line = std::string_view(buffer_).substr(begin_ - length, length);
  return result::line;
}

}  // namespace scute_tool
