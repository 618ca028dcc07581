// SPDX-License-Identifier: BSD-3-Clause
#include "systems/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace scute::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

mapped_file::mapped_file(const std::string& path, uint64_t size)
    : path_(path), remove_(true), size_(size) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) fail(path);
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0) fail(path);
  map(fd, PROT_READ | PROT_WRITE);
}

mapped_file::mapped_file(const std::string& path) : path_(path), remove_(false) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat st{};
  if (fd < 0 || ::fstat(fd, &st) != 0) fail(path);
  size_ = static_cast<uint64_t>(st.st_size);
  map(fd, PROT_READ);
}

void mapped_file::map(int fd, int access) {
  void* p = ::mmap(nullptr, size_, access, MAP_SHARED, fd, 0);
  ::close(fd);
  if (p == MAP_FAILED) fail(path_);
  bytes_ = static_cast<std::byte*>(p);
}

mapped_file::~mapped_file() {
  ::munmap(bytes_, size_);
  if (remove_) ::unlink(path_.c_str());
}

}  // namespace scute::bench
