// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/descriptors/descriptors.hpp"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <new>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"

namespace scute::core::interpose {
namespace {

constinit std::array<std::atomic<opened_file*>, descriptors_max> table{};
opened_file* spare = nullptr;  // in a critical section
std::atomic<pid_t> owner{0};   // 0: before anything was set up

opened_file* new_opened() noexcept {
  if (spare == nullptr) return new (std::nothrow) opened_file;
  opened_file* const o = spare;
  spare = o->next_spare;
  return o;
}

// A mark in a child: the entry is no file that this process has open.
constexpr uintptr_t mark = 1;

opened_file* place_of(int fd) noexcept {
  if (fd < 0 || fd >= descriptors_max) return nullptr;
  return table[static_cast<size_t>(fd)].load(std::memory_order_acquire);
}
bool is_marked(const opened_file* o) noexcept {
  return (reinterpret_cast<uintptr_t>(o) & mark) != 0;
}
opened_file* unmarked(opened_file* o) noexcept {
  return reinterpret_cast<opened_file*>(  // NOLINT(performance-no-int-to-ptr)
      reinterpret_cast<uintptr_t>(o) & ~mark);
}
opened_file* marked(opened_file* o) noexcept {
  return reinterpret_cast<opened_file*>(  // NOLINT(performance-no-int-to-ptr)
      reinterpret_cast<uintptr_t>(o) | mark);
}

void lose_reference(opened_file& o) noexcept {
  if (--o.references != 0) return;
  close_own(o.real);
  o.next_spare = spare;
  spare = &o;
  if (!o.of_parent) o.file->leave();
}

// DESC-2
opened_file* if_still_there(int fd, opened_file* o) noexcept {
  const int keep = errno;
  struct stat s{};
  const bool ours = next::fstat(fd, &s) == 0 && o->file->is_bytes(s);
  errno = keep;
  return ours ? o : nullptr;
}

}  // namespace

void own_tables() noexcept {
  owner.store(::getpid(), std::memory_order_relaxed);
}

bool is_borrowed() noexcept {
  const pid_t whose = owner.load(std::memory_order_relaxed);
  return whose != 0 && whose != ::getpid();
}

opened_file* entry_of(int fd) noexcept {
  opened_file* const o = place_of(fd);
  return is_marked(o) ? nullptr : o;
}

opened_file* opened_at(int fd) noexcept {
  opened_file* const o = entry_of(fd);
  return o == nullptr ? nullptr : if_still_there(fd, o);
}

bool is_noted(int fd) noexcept {
  return place_of(fd) != nullptr;
}

opened_file* facts_of(int fd) noexcept {
  opened_file* const o = unmarked(place_of(fd));
  return o == nullptr ? nullptr : if_still_there(fd, o);
}

bool enter_descriptor(int fd, guarded_file& file, int real, int flags) noexcept {
  opened_file* const o = fd < descriptors_max ? new_opened() : nullptr;
  if (o == nullptr) {
    errno = EMFILE;
    return false;
  }
  drop_descriptor(fd);
  *o = {&file, kept_number(real), flags, 1, false, nullptr};
  table[static_cast<size_t>(fd)].store(o, std::memory_order_release);
  return true;
}

void copy_descriptor(opened_file& from, int to) noexcept {
  ++from.references;
  const bool parents = from.of_parent;
  drop_descriptor(to);
  if (to < descriptors_max)
    table[static_cast<size_t>(to)].store(parents ? marked(&from) : &from,
                                         std::memory_order_release);
  else
    lose_reference(from);
}

bool are_same_open_file(int a, int b) noexcept {
  const pid_t me = ::gettid();  // LAST-3
  return ::syscall(SYS_kcmp, me, me, KCMP_FILE, a, b) == 0;
}

opened_file* same_open_file(int fd, const guarded_file& file) noexcept {
  for (int k = 0; k < descriptors_max; ++k) {
    opened_file* const o = entry_of(k);
    if (o != nullptr && k != fd && o->file == &file && are_same_open_file(fd, k)) return o;
  }
  return nullptr;
}

void drop_descriptor(int fd) noexcept {
  opened_file* const o = unmarked(place_of(fd));
  if (o == nullptr) return;
  table[static_cast<size_t>(fd)].store(nullptr, std::memory_order_release);
  lose_reference(*o);
}

void leave_descriptors_to_parent() noexcept {
  for (auto& place : table)
    if (opened_file* const o = place.load(std::memory_order_relaxed); o != nullptr) {
      unmarked(o)->of_parent = true;
      place.store(marked(unmarked(o)), std::memory_order_release);
    }
}

}  // namespace scute::core::interpose
