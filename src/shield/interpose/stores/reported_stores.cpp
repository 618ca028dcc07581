// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/stores/reported_stores.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "shield/audit/report_clock.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/memory/view_parts.hpp"

namespace scute::core::interpose {

known_store::known_store(const void* at, size_t n) noexcept
    : was_in_flight_(audit::report_clock::in_flight()) {
  if (!mappings.empty()) report_store(at, n);
}

known_store::known_store(int fd, off_t at, size_t n) noexcept
    : was_in_flight_(audit::report_clock::in_flight()) {
  opened_file* const o = entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
  if (o == nullptr || n == 0 || !o->file->is_open()) return;
  audit::store_audit* const a = o->file->audit();
  if (a == nullptr) return;
  const int keep = errno;
  if ((o->flags & O_APPEND) != 0) {
    struct stat s{};
    at = next::fstat(fd, &s) == 0 ? s.st_size : 0;
  } else if (at < 0) {
    at = ::lseek(fd, 0, SEEK_CUR);
  }
  if (at >= 0) a->report_store(static_cast<uint64_t>(at), n);
  errno = keep;
}

known_store::~known_store() {
  if (!was_in_flight_) audit::report_clock::fence();
}

}  // namespace scute::core::interpose
