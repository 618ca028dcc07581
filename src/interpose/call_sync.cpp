// SPDX-License-Identifier: BSD-3-Clause
// What makes whole files durable, and copies between files that the kernel cannot make of a view.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "interpose/descriptors.hpp"
#include "interpose/durability.hpp"
#include "interpose/guarded_file.hpp"
#include "interpose/next_calls.hpp"
#include "interpose/told_stores.hpp"

using namespace scute::core::interpose;

namespace {

opened_file* shielded(int fd) noexcept {
  return entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
}

}  // namespace

SCUTE_INTERPOSED(int, fsync, (int fd)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::fsync(fd);
}
SCUTE_INTERPOSED(int, fdatasync, (int fd)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::fdatasync(fd);
}
SCUTE_INTERPOSED(int, sync_file_range, (int fd, off_t offset, off_t n, unsigned flags)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::sync_file_range(fd, offset, n, flags);
}
SCUTE_INTERPOSED_ALIAS(int, sync_file_range64, sync_file_range,
                       (int fd, off_t offset, off_t n, unsigned flags));
SCUTE_INTERPOSED(int, syncfs, (int fd)) {
  opened_file* const o = shielded(fd);
  if (o != nullptr && sync_file(*o->file) != 0) return -1;
  return next::syncfs(o != nullptr ? o->real : fd);
}
SCUTE_INTERPOSED(void, sync, ()) {
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next()) {
    if (f->is_open()) sync_file(*f);
  }
  next::sync();
}
