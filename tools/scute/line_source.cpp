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

line_source::line_source(const std::string& path, int wake_fd)
    : name_(path == "-" ? "standard input" : path),
      fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      wake_fd_(wake_fd) {
  if (fd_ < 0) throw_errno(name_);
  struct stat status{};
  if (fstat(fd_, &status) == 0 && S_ISREG(status.st_mode))
    size_ = static_cast<uint64_t>(status.st_size);
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
  uint64_t hash = position_.hash;
  for (size_t i = begin_; i < begin_ + length; ++i) {
    hash ^= static_cast<unsigned char>(buffer_[i]);
    hash *= 0x100000001b3;
  }
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
  if (last == '\n') return skip_result::same;
  if (begin_ < buffer_.size()) return skip_result::differs;
  switch (fill()) {
    case fill_result::more: return skip_result::differs;
    case fill_result::end: return skip_result::same;
    case fill_result::interrupted: break;
  }
  return skip_result::interrupted;
}

line_source::result line_source::next(std::string_view& line) {
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
