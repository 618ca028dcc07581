// SPDX-License-Identifier: BSD-3-Clause
#include "workplace.hpp"

#include <fmt/format.h>

#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace scute_demo {

namespace {

namespace fs = std::filesystem;

constexpr const char* memory_folder = "/dev/shm";
constexpr unsigned long tmpfs_magic = 0x01021994;

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path{} : program.parent_path();
}

bool usable(const fs::path& folder, uint64_t bytes) {
  struct statvfs status{};
  return access(folder.c_str(), W_OK | X_OK) == 0 && statvfs(folder.c_str(), &status) == 0 &&
         status.f_bavail * status.f_frsize > bytes;
}

fs::path choose_parent(const std::string& medium, uint64_t bytes) {
  if (medium != "file" && usable(memory_folder, bytes)) return memory_folder;
  for (const fs::path& folder : {program_folder(), fs::current_path()}) {
    if (!folder.empty() && usable(folder, bytes)) return folder;
  }
  throw std::runtime_error(
      fmt::format("no folder has {} MiB to spare; name one with --dir, or load less with --records",
                  bytes >> 20));
}

}  // namespace

std::string scute_command() {
  if (const char* named = std::getenv("SCUTE_EXE"); named != nullptr && *named != '\0') {
    if (access(named, X_OK) == 0) return named;
    throw std::runtime_error(std::string("SCUTE_EXE: ") + named + " is no program");
  }
  for (const char* place : {"../scute/scute", "scute"}) {
    const fs::path program = program_folder() / place;
    if (fs::is_regular_file(program) && access(program.c_str(), X_OK) == 0) return program;
  }
  throw std::runtime_error("there is no scute command next to this program; name it in SCUTE_EXE");
}

workplace::workplace(const std::string& parent, const std::string& medium, uint64_t bytes,
                     bool keep)
    : keep_(keep) {
  const fs::path chosen = parent.empty() ? choose_parent(medium, bytes) : fs::path(parent);
  folder_ = (chosen / "scute-demo-XXXXXX").string();
  if (mkdtemp(folder_.data()) == nullptr)
    throw std::runtime_error(folder_ + ": " + std::generic_category().message(errno));
  struct statfs status{};
  in_memory_ = statfs(folder_.c_str(), &status) == 0 &&
               static_cast<unsigned long>(status.f_type) == tmpfs_magic && medium != "file";
}

workplace::~workplace() {
  std::error_code error;
  if (!keep_) fs::remove_all(folder_, error);
}

}  // namespace scute_demo
