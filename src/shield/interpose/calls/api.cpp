// SPDX-License-Identifier: BSD-3-Clause
// scute/shield_view.h
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/failure.hpp"
#include "scute/shield_view.h"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/stores/durability.hpp"
#include "shield/supervisor/crash_writeback.hpp"

using namespace scute::core;
using namespace scute::core::interpose;

namespace {

thread_local char message[512];

int refuse(scute_error code, const char* why) noexcept {
  const size_t n = std::min(std::strlen(why), sizeof message - 1);
  std::memcpy(message, why, n);
  message[n] = 0;
  return code;
}

int refuse_errno(const char* what) noexcept {
  const int why = errno;
  char text[sizeof message];
  std::snprintf(text, sizeof text, "cannot %s: %s", what, std::strerror(why));
  switch (why) {
    case ENOENT: return refuse(SCUTE_E_NOENT, text);
    case EBUSY: return refuse(SCUTE_E_BUSY, text);
    case ENOMEM: return refuse(SCUTE_E_NOMEM, text);
    case EPERM: return refuse(SCUTE_E_UNSUPPORTED, text);
    default: return refuse(SCUTE_E_IO, text);
  }
}

mapped_range range_at(const void* at) noexcept {
  return mappings.find(reinterpret_cast<uintptr_t>(at));
}

constexpr const char* no_mapping = "the address is in no mapping of a shielded file";

}  // namespace

extern "C" {

int scute_shield_map(const char* file, void** at, uint64_t* size) {
  if (file == nullptr || at == nullptr || size == nullptr)
    return refuse(SCUTE_E_INVALID, "an argument is null");
  if (!is_shielded_at(AT_FDCWD, file))
    return refuse(SCUTE_E_NOENT, "the file is not shielded, or not there; see `scute shield add`");
  const int fd = open_as_program(AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return refuse_errno("open the file");
  opened_file* const o = opened_at(fd);
  void* const got = o == nullptr ? MAP_FAILED
                                 : program_mmap(nullptr, o->file->size(), PROT_READ | PROT_WRITE,
                                                MAP_SHARED, fd, 0);
  const uint64_t n = o == nullptr ? 0 : o->file->size();
  const int result = got == MAP_FAILED ? refuse_errno("map the file") : SCUTE_OK;
  close_as_program(fd);
  if (result != SCUTE_OK) return result;
  *at = got;
  *size = n;
  return SCUTE_OK;
}

int scute_shield_unmap(void* at) {
  const mapped_range range = range_at(at);
  if (range.file == nullptr || range.begin != reinterpret_cast<uintptr_t>(at))
    return refuse(SCUTE_E_INVALID, no_mapping);
  return program_munmap(at, range.end - range.begin) == 0 ? SCUTE_OK
                                                          : refuse_errno("unmap the file");
}

int scute_shield_commit(const void* at, size_t n) {
  if (!in_view(at, n)) return refuse(SCUTE_E_INVALID, no_mapping);
  if (!range_at(at).file->is_open())
    return refuse(SCUTE_E_FORKED, "the file was mapped by the parent of this process");
  const int keep = errno;
  flush_and_fence(at, n);
  errno = keep;
  return SCUTE_OK;
}

int scute_shield_window_begin(const void* at) {
  if (range_at(at).file == nullptr) return refuse(SCUTE_E_INVALID, no_mapping);
  begin_window(at);
  return SCUTE_OK;
}

int scute_shield_window_end(void) {
  if (window_depth() == 0) return refuse(SCUTE_E_INVALID, "no window is open");
  end_window();
  return SCUTE_OK;
}

int scute_shield_audit(const void* at, scute_shield_counts* counts) {
  if (counts == nullptr || counts->struct_size < sizeof(size_t) ||
      counts->struct_size > size_t{4} * sizeof *counts)
    return refuse(SCUTE_E_INVALID, "counts->struct_size is not set");
  const critical now;
  const mapped_range range = range_at(at);
  if (range.file == nullptr || !range.file->is_open()) return refuse(SCUTE_E_INVALID, no_mapping);
  scute_shield_counts c{};
  range.file->count(c);
  c.struct_size = counts->struct_size;
  c.file = range.file->path().c_str();
  audit::store_audit* const seen = range.file->audit();
  c.unreported_objects = seen != nullptr ? seen->unreported_text() : "";
  c.process = static_cast<uint32_t>(::getpid());
  std::memcpy(counts, &c, std::min(counts->struct_size, sizeof c));
  return SCUTE_OK;
}

const char* scute_shield_errormsg(void) {
  return message;
}

}  // extern "C"
