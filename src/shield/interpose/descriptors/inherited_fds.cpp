// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/descriptors/inherited_fds.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process/uncancelled.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/descriptors/views_of_others.hpp"
#include "shield/interpose/memory/page_in.hpp"
#include "shield/interpose/memory/resident_pages.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/interpose/process/supervisor_link.hpp"

namespace scute::core::interpose {
namespace {

struct inherited {
  int number;
  file_identity bytes;
  int same_as;       // an earlier number that is the same open file, or -1
  std::string path;  // if it is FILE itself, not a view
};

// Finds descriptors that look like the bytes of a view (a memory file with our seal), and shielded
// files themselves.
std::optional<inherited> look_at(int fd) {
  struct stat s{};
  if ((next::fcntl(fd, F_GETFL) & O_PATH) != 0) return std::nullopt;
  std::string path;
  const bool is_view = is_of_some_view(fd);
  if (next::fstat(fd, &s) != 0 || (!is_view && !is_unshielded(fd, path))) return std::nullopt;
  return inherited{fd, identity_of(s), -1, path};
}

std::vector<inherited> find_inherited() {
  std::vector<inherited> all;
  DIR* const folder = ::opendir("/proc/thread-self/fd");
  if (folder == nullptr) return all;
  while (const dirent* const entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == ::dirfd(folder) || is_own(fd)) continue;
    std::optional<inherited> found = look_at(fd);
    if (!found) continue;
    for (const inherited& earlier : all)
      if (earlier.same_as < 0 && earlier.bytes == found->bytes &&
          are_same_open_file(earlier.number, fd))
        found->same_as = earlier.number;
    all.push_back(*std::move(found));
  }
  ::closedir(folder);
  return all;
}

// Makes the number a copy of `from`, which is the program's.
void make_copy(int from, int number) noexcept {
  const critical now;
  opened_file* const o = opened_at(from);
  const int on_exec = (next::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
  if (o != nullptr && next::dup3(from, number, on_exec) >= 0) copy_descriptor(*o, number);
}

void take_over(const inherited& one) {
  if (one.same_as >= 0) {
    make_copy(one.same_as, one.number);
    // could not be opened either
    if (next::fcntl(one.same_as, F_GETFD) < 0) next::close(one.number);
    return;
  }
  std::string path = one.path;
  if (path.empty()) {
    const critical now;
    path = owner_of(one.bytes.device, one.bytes.inode);
  }
  if (path.empty()) return;  // INHERIT-3
  constexpr int kept = O_ACCMODE | O_APPEND | O_NONBLOCK | O_NOATIME | O_SYNC | O_DSYNC;
  const int flags = static_cast<int>(next::fcntl(one.number, F_GETFL)) & kept;
  const off_t at = ::lseek(one.number, 0, SEEK_CUR);
  const int fd = open_as_program(AT_FDCWD, path.c_str(), flags | O_CLOEXEC, 0);
  const opened_file* const o = fd >= 0 ? entry_of(fd) : nullptr;
  // By now, or here, its name may denote another file.
  if (o == nullptr || (!one.path.empty() && !o->file->is(one.bytes))) {  // (reported already)
    if (fd >= 0) close_as_program(fd);
    next::close(one.number);
    return;
  }
  if (at >= 0) ::lseek(fd, at, SEEK_SET);
  make_copy(fd, one.number);
  close_as_program(fd);
  if (one.number <= STDERR_FILENO) static_cast<void>(make_resident(one.number));
}

bool lives_on(int fd) noexcept {
  return entry_of(fd) != nullptr && (next::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
}

}  // namespace

void prepare_inherited_fds(bool given) noexcept {
  bool pages_come = false;
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next())
    pages_come |= f->is_open() && f->pages_come();
  if (!pages_come) return;
  const int keep = errno;
  for (int fd = 0; fd < descriptors_max && !given; ++fd) given = lives_on(fd);
  errno = keep;
  if (given) load_all_views();
}

void take_over_descriptors() noexcept {
  if (asked().supervisor.empty()) return;
  const int keep = errno;
  try {
    for (const inherited& one : find_inherited()) take_over(one);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): they stay what they are
  }
  errno = keep;
}

void take_over_descriptor(int fd) noexcept {
  if (asked().supervisor.empty() || fd >= descriptors_max) return;
  const uncancelled now;
  const int keep = errno;
  try {
    const std::optional<inherited> found = look_at(fd);
    if (found) take_over(*found);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it stays what it is
  }
  errno = keep;
}

}  // namespace scute::core::interpose
