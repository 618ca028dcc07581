// SPDX-License-Identifier: BSD-3-Clause
#include "report_file.hpp"

#include "failure.hpp"
#include "sidecar.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace scute_tool {

namespace {

// It has objects of a program: a pool, the protection of a file, a log, a persist-on-write file.
// Each begins with its kind; if that is damaged, it may still have the name of a protection.
bool has_objects(const std::string& path) {
  using namespace std::literals;
  if (path.ends_with(".scute") || path.ends_with(".scute.log")) return true;
  // (Nothing is read of a pipe.)
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return false;
  std::array<char, 8> begin{};
  const bool whole = pread(fd, begin.data(), begin.size(), 0) == ssize_t{begin.size()};
  close(fd);
  const std::string_view kind(begin.data(), begin.size());
  return whole && (kind == "SCUTE\r\n\x1a"sv || kind == "SCUTELOG"sv || kind == "ScutePOW"sv);
}

}  // namespace

report_file::report_file(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (!protection_of(path_).empty())
    throw failure(exit_error, path_, "it is shielded; choose another file for the report");
  if (has_objects(path_))
    throw failure(
        exit_error, path_,
        "it is a file of Scute's, or has the name of one; choose another file for the report");
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(std::strerror(errno));
}

report_file::~report_file() {
  if (fd_ >= 0) close(fd_);
}

void report_file::write(const std::function<void()>& print) {
  if (path_.empty()) return print();
  std::fflush(stdout);
  if (dup2(fd_, STDOUT_FILENO) < 0) fail(std::strerror(errno));
  close(std::exchange(fd_, -1));
  try {
    print();
  } catch (const std::system_error& e) {
    fail(e.code().message());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail(std::strerror(errno));
  // (A file system may say only here that it has no room.)
  if (close(STDOUT_FILENO) != 0) fail(std::strerror(errno));
}

void report_file::fail(const std::string& why) const {
  throw failure(exit_error, path_, "cannot write the report: " + why);
}

}  // namespace scute_tool
