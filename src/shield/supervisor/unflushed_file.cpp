// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/unflushed_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/failure.hpp"

namespace scute::core::supervisor {

unflushed_file::~unflushed_file() {
  if (to_ != nullptr) std::fclose(to_);
}

void unflushed_file::add(uint64_t offset, std::span<const std::byte> bytes) {
  if (failed_) return;
  if (to_ == nullptr) {
    to_ = std::fopen(path_.c_str(), "ae");
    if (to_ == nullptr) throw_errno("write " + path_, errno);
    std::fprintf(to_, "# stored and never flushed; at %lld s since 1970\n",
                 static_cast<long long>(std::time(nullptr)));
  }
  std::fprintf(to_, "0x%llx ", static_cast<unsigned long long>(offset));
  for (const std::byte b : bytes) std::fprintf(to_, "%02x", static_cast<unsigned>(b));
  failed_ = std::fputc('\n', to_) == EOF;
}

void unflushed_file::finish() {
  if (to_ == nullptr) return;
  std::FILE* const to = to_;
  to_ = nullptr;
  failed_ |= std::fflush(to) != 0 || ::fsync(::fileno(to)) != 0;
  const int why = errno;
  failed_ |= std::fclose(to) != 0;
  if (failed_) throw_errno("write " + path_, why);
}

}  // namespace scute::core::supervisor
