// SPDX-License-Identifier: BSD-3-Clause
// File systems that a test mounts for itself, in a process with mounts of its own: they go with it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "support/wait.hpp"

namespace scute::test {

class mounts {
 public:
  static constexpr unsigned long overlayfs_magic = 0x794c7630, fuse_magic = 0x65735546;

  // The calling process, which has one thread, and its children have mounts of their own from now
  // on. The mounts lie in this folder. False: the system does not allow that to any user here.
  explicit mounts(std::string folder) : folder_(std::move(folder)) {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    if (user == 0 && ::unshare(CLONE_NEWNS) == 0) {
      may_ = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
      return;
    }
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return;
    may_ = put("/proc/self/setgroups", "deny") &&
           put("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") &&
           put("/proc/self/gid_map", "0 " + std::to_string(group) + " 1") &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }
  ~mounts() {
    if (bindfs_ > 0) {
      ::umount2((folder_ + "/fuse").c_str(), MNT_DETACH);
      ::kill(bindfs_, SIGKILL);
      ::waitpid(bindfs_, nullptr, 0);
    }
    if (has_overlay_) ::umount2((folder_ + "/root").c_str(), MNT_DETACH);
    if (has_layers_) ::umount2((folder_ + "/layers").c_str(), MNT_DETACH);
  }
  mounts(const mounts&) = delete;
  mounts& operator=(const mounts&) = delete;

  explicit operator bool() const { return may_; }

  // A folder of an overlayfs, as containers have; empty if there is none to be had.
  std::string overlay() {
    const std::string layers = folder_ + "/layers", root = folder_ + "/root";
    std::filesystem::create_directories(layers);
    std::filesystem::create_directories(root);
    has_layers_ = ::mount("layers", layers.c_str(), "tmpfs", 0, "mode=0700") == 0;
    for (const char* name : {"/lower", "/upper", "/work"})
      std::filesystem::create_directories(layers + name);
    const std::string how =
        "lowerdir=" + layers + "/lower,upperdir=" + layers + "/upper,workdir=" + layers + "/work";
    has_overlay_ =
        has_layers_ &&
        (::mount("overlay", root.c_str(), "overlay", 0, how.c_str()) == 0 ||
         ::mount("overlay", root.c_str(), "overlay", 0, (how + ",userxattr").c_str()) == 0);
    return has_overlay_ && magic(root) == overlayfs_magic ? root : "";
  }
  // Its lower layer.
  std::string lower() const { return folder_ + "/layers/lower"; }

  // The same of a FUSE file system (bindfs); empty if this system has no /dev/fuse for us.
  std::string fuse() {
    const std::string behind = folder_ + "/behind", root = folder_ + "/fuse";
    std::filesystem::create_directories(behind);
    std::filesystem::create_directories(root);
    if (const int fd = ::open("/dev/fuse", O_RDWR | O_CLOEXEC); fd >= 0)
      ::close(fd);
    else
      return "";
    bindfs_ = ::fork();
    if (bindfs_ == 0) {
      ::execlp("bindfs", "bindfs", "-f", behind.c_str(), root.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    bool ended = false;
    wait_until([&] {
      ended = ::waitpid(bindfs_, &status, WNOHANG) == bindfs_;
      return ended || magic(root) == fuse_magic;
    });
    if (!ended) return magic(root) == fuse_magic ? root : "";
    bindfs_ = -1;
    ADD_FAILURE() << "bindfs (Debian's package of that name) ended, status " << status;
    return "";
  }

 private:
  static bool put(const char* to, const std::string& text) {
    const int fd = ::open(to, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    return done;
  }
  static unsigned long magic(const std::string& path) {
    struct statfs fs{};
    return ::statfs(path.c_str(), &fs) == 0 ? static_cast<unsigned long>(fs.f_type) : 0;
  }

  const std::string folder_;
  bool may_ = false, has_layers_ = false, has_overlay_ = false;
  pid_t bindfs_ = -1;
};

}  // namespace scute::test
