// SPDX-License-Identifier: BSD-3-Clause
#include "systems/pmemobj_huge.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <map>
#include <thread>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace scute::bench {
namespace {

constexpr uint64_t huge = uint64_t{2} << 20;

[[noreturn]] void refuse(const std::string& what) {
  throw no_huge_pages(fmt::format("{}: {}", what, std::strerror(errno)));
}

struct unnamed_file {
  explicit unnamed_file(const std::string& dir)
      : fd(::open(dir.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600)) {
    if (fd < 0) refuse("a file in " + dir);
  }
  ~unnamed_file() { ::close(fd); }
  unnamed_file(const unnamed_file&) = delete;
  unnamed_file& operator=(const unnamed_file&) = delete;

  int fd;
};

// Of two huge pages' length a whole one lies at an address that is a multiple of theirs, wherever
// the file is mapped; the file has to begin there.
void try_one(const std::string& dir) {
  const unnamed_file file(dir);
  errno = ::posix_fallocate(file.fd, 0, static_cast<off_t>(huge));
  if (errno != 0) refuse("room in " + dir);
  constexpr auto access = PROT_READ | PROT_WRITE;
  void* room = ::mmap(nullptr, 2 * huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) refuse("address space");
  auto* at = static_cast<std::byte*>(room) + (-reinterpret_cast<uintptr_t>(room) & (huge - 1));
  const bool mapped = ::mmap(at, huge, access, MAP_SHARED | MAP_FIXED, file.fd, 0) != MAP_FAILED;
  std::string why = mapped ? "" : std::strerror(errno);
  try {
    if (mapped) make_huge(at, huge);
  } catch (const no_huge_pages& e) {
    why = e.what();
  }
  ::munmap(room, 2 * huge);
  if (!why.empty()) throw no_huge_pages(why);
}

}  // namespace

void make_huge(void* at, uint64_t n) {
  if (reinterpret_cast<uintptr_t>(at) % huge != 0)
    throw no_huge_pages("the mapping begins in the middle of a huge page");
  // "Memory is short for the moment" (EAGAIN) may be another moment's answer.
  for (int left = 200; ::madvise(at, n & ~(huge - 1), MADV_COLLAPSE) != 0; --left) {
    if (errno != EAGAIN || left == 0) refuse("madvise(MADV_COLLAPSE)");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool grants_huge_pages(const std::string& dir) {
  static std::map<std::string, bool> known;
  const auto [found, fresh] = known.emplace(dir, true);
  if (!fresh) return found->second;
  try {
    try_one(dir);
  } catch (const no_huge_pages& e) {
    found->second = false;
    fmt::print(stderr, "scute-bench: {} is left out, files in {} get no huge pages: {}\n",
               pmemobj_huge, dir, e.what());
  }
  return found->second;
}

}  // namespace scute::bench
