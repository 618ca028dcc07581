// SPDX-License-Identifier: BSD-3-Clause
// The floor of a durable write to a file: the record goes to its place, and the call waits for the
// disk. Not atomic.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "systems/kv_system.hpp"

namespace scute::bench {
namespace {

constexpr uint64_t size = kv_population::value_size;

class pwrite_kv final : public kv_system {
 public:
  explicit pwrite_kv(const kv_population& p) : path_(p.path) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(fd_ >= 0);
    std::byte value[size];
    for (uint64_t i = 0; i < p.records; ++i) {
      kv_fill(value, i, 0);
      write(i, value);
    }
    must(::fsync(fd_) == 0);
  }
  ~pwrite_kv() override {
    ::close(fd_);
    ::unlink(path_.c_str());
  }

  void put(unsigned, uint64_t record, const std::byte* value) override {
    write(record, value);
    must(::fdatasync(fd_) == 0);
  }
  bool holds(uint64_t record) override {
    std::byte value[size];
    return ::pread(fd_, value, size, static_cast<off_t>(record * size)) == ssize_t{size} &&
           std::memcmp(value, &record, sizeof record) == 0;
  }

 private:
  void must(bool done) const {
    if (!done) throw std::system_error(errno, std::generic_category(), path_);
  }
  void write(uint64_t record, const std::byte* value) {
    must(::pwrite(fd_, value, size, static_cast<off_t>(record * size)) == ssize_t{size});
  }

  std::string path_;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<kv_system> make_pwrite(const kv_population& p) {
  return std::make_unique<pwrite_kv>(p);
}

}  // namespace scute::bench
