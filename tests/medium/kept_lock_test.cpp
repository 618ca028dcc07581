// SPDX-License-Identifier: BSD-3-Clause
// The lock of a file against whatever the program, its children and the file system do
// (base/locks/lock_thread.hpp).
#include "base/locks/kept_lock.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "base/failure.hpp"
#include "base/locks/lock_thread.hpp"
#include "core/file/file_handle.hpp"
#include "core/file/new_file.hpp"
#include "support/child.hpp"
#include "support/filtered.hpp"
#include "support/mounts.hpp"
#include "support/scratch.hpp"
#include "support/wait.hpp"

extern char** environ;

namespace scute::test {
using namespace core;
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool threads_in_children = false;  // none in the child of a process that had several
#else
constexpr bool threads_in_children = true;
#endif

void make_file(const std::string& path) {
  std::ofstream(path) << std::string(8192, 'a');
}

medium::file_handle open_file(const std::string& path, medium::access how = medium::access::write) {
  return medium::file_handle::open(path, how);
}

int code_of_opening(const std::string& path, medium::access how = medium::access::write) {
  try {
    open_file(path, how);
  } catch (const failure& e) {
    return e.code();
  }
  return SCUTE_OK;
}

// In a process that descends from no process that has it open.
int code_elsewhere(const std::string& path, medium::access how = medium::access::write) {
  const int status = child([&] { ::_exit(-code_of_opening(path, how)); }).wait();
  EXPECT_TRUE(WIFEXITED(status));
  return -WEXITSTATUS(status);
}

void expect_locked(const std::string& path) {
  using enum medium::access;
  for (const auto how : {write, read}) {
    EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(path, how));
    EXPECT_EQ(SCUTE_E_BUSY, code_elsewhere(path, how));
  }
}

void try_in(const std::string& folder) {
  using enum medium::access;
  const std::string path = folder + "/pool", made = folder + "/made";
  make_file(path);
  {
    const medium::file_handle writer = open_file(path);
    expect_locked(path);
    ::close_range(3, ~0U, 0);
    expect_locked(path);
  }
  EXPECT_EQ(SCUTE_OK, code_elsewhere(path));
  {
    const medium::file_handle reader = open_file(path, read);
    EXPECT_EQ(SCUTE_OK, code_elsewhere(path, read));
    EXPECT_EQ(SCUTE_OK, code_of_opening(path, read));
    EXPECT_EQ(SCUTE_E_BUSY, code_elsewhere(path));
    EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(path));
  }
  EXPECT_EQ(SCUTE_OK, code_of_opening(path));
  {
    medium::new_file making(made, 0644, false);
    const medium::file_handle writer = making.open(8192);
    making.publish();
    expect_locked(made);
  }
  EXPECT_EQ(SCUTE_OK, code_elsewhere(made));
}

// LOCK-1, LOCK-2. (And FILE-6: with bindfs every name of a file is a file of its own.)
TEST(kept_lock, OnOverlayAndFuse) {
  const scratch dir(scratch::disk);
  in_child([&] {
    mounts here(dir.file("mounts"));
    ASSERT_TRUE(here) << "this system allows no mounts, so nothing is tried here";
    const std::string overlay = here.overlay();
    ASSERT_NE(overlay, "") << "no overlayfs: " << std::strerror(errno);
    try_in(overlay);
    const std::string fuse = here.fuse();
    if (fuse.empty())
      std::cout << "[   NOTE   ] /dev/fuse cannot be used here: tried on overlayfs only\n";
    else
      try_in(fuse);
  });
}

// LOCK-1
TEST(kept_lock, OutlivesTheClosingOfAllDescriptors) {
  for (const auto where : {scratch::memory, scratch::disk}) {
    const scratch dir(where);
    in_child([&] { try_in(dir.file("")); });
  }
}

// LOCK-1: by children that no handler of fork() is run for, and that are there when their parent is
//         not.
TEST(kept_lock, NoChildKeepsIt) {
  const scratch dir;
  const std::string path = dir.file("pool");
  make_file(path);
  int words[2], hold[2];
  ASSERT_EQ(0, ::pipe(words));
  ASSERT_EQ(0, ::pipe(hold));
  child parent([&] {
    const medium::file_handle writer = open_file(path);
    const auto stay = [&] {
      char word = 'c';
      if (::write(words[1], &word, 1) != 1) ::_exit(1);
      ::close(hold[1]);
      if (::read(hold[0], &word, 1) != 0) ::_exit(1);
      ::_exit(0);
    };
    if (::syscall(SYS_fork) == 0) stay();
    if (::fork() == 0) stay();
    for (;;) ::pause();
  });
  char word = 0;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(1, ::read(words[0], &word, 1));
  EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(path));
  parent.end();
  EXPECT_EQ(SCUTE_OK, code_of_opening(path));  // its children still live
  for (const int fd : {words[0], words[1], hold[0], hold[1]}) ::close(fd);
}

// LOCK-1. 10,000 openings concurrently with all calls that make children. Each child has copies
// of all descriptors until it runs another program.
TEST(kept_lock, NothingIsBusyWhileProcessesStart) {
  const scratch dir;
  const std::string path = dir.file("pool");
  make_file(path);
  std::atomic<bool> end{false};
  std::atomic<unsigned> openings{0};
  // One process of each kind for so many openings: more of them would only take the processors.
  const auto until_end = [&](auto&& make) {
    for (unsigned made = 0; !end.load();) {
      if (made > openings.load() / 20) {
        pause(std::chrono::microseconds(50));
        continue;
      }
      make();
      ++made;
    }
  };
  const auto ended = [](pid_t pid) {
    if (pid > 0) ::waitpid(pid, nullptr, 0);
  };
  std::vector<std::thread> makers;
  makers.emplace_back([&] {
    until_end([&] {
      char name[] = "/bin/true";
      char* const arguments[] = {name, nullptr};
      pid_t pid = -1;
      EXPECT_EQ(0, ::posix_spawn(&pid, name, nullptr, nullptr, arguments, environ));
      ended(pid);
    });
  });
  makers.emplace_back([&] {
    until_end([&] {
      const pid_t pid = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
      if (pid == 0) {
        ::execl("/bin/true", "true", nullptr);
        ::_exit(127);
      }
      ended(pid);
    });
  });
  makers.emplace_back([&] {
    until_end([&] {
      FILE* const out = ::popen("true", "r");
      if (out != nullptr) ::pclose(out);
    });
  });
  makers.emplace_back([&] { until_end([&] { EXPECT_EQ(0, std::system("true")); }); });
  makers.emplace_back([&] {
    until_end([&] {
      const pid_t pid = ::fork();
      if (pid == 0) ::_exit(0);
      ended(pid);
    });
  });
  unsigned busy = 0;
  for (; openings.load() < 10'000; ++openings)
    busy += code_of_opening(path) == SCUTE_E_BUSY ? 1 : 0;
  end.store(true);
  for (auto& m : makers) m.join();
  EXPECT_EQ(busy, 0U);
}

// LOCK-2
TEST(kept_lock, AFileSystemThatKeepsNoneIsRefused) {
  const scratch dir;
  const std::string path = dir.file("pool");
  make_file(path);
  in_child([&] {
    // Every process gets every lock.
    ASSERT_TRUE(filter_calls({{SYS_fcntl, 1, F_OFD_SETLK, 0}, {SYS_flock, -1, 0, 0}}));
    EXPECT_EQ(SCUTE_E_UNSUPPORTED, code_of_opening(path));
    EXPECT_EQ(SCUTE_E_UNSUPPORTED, code_of_opening(path, medium::access::read));
    try {
      medium::new_file making(dir.file("made"), 0600, false);
      ADD_FAILURE() << "made";
    } catch (const failure& e) {
      EXPECT_EQ(e.code(), SCUTE_E_UNSUPPORTED) << e.what();
    }
    EXPECT_EQ(dir.count(), 1U);
    EXPECT_FALSE(lock_thread_exists());
  });
}

// LOCK-6: a file system that grants the locks of bytes to all, or does not know them, and keeps
// those of files. Processes that find it so exclude each other.
TEST(kept_lock, OfTheWholeFileWhereBytesAreNotKept) {
  for (const uint32_t error : {0, EINVAL, EOPNOTSUPP, ENOSYS}) {
    SCOPED_TRACE(error);
    const scratch dir;
    in_child([&] {
      ASSERT_TRUE(filter_calls({{SYS_fcntl, 1, F_OFD_SETLK, error}}));
      try_in(dir.file(""));
      EXPECT_FALSE(lock_thread_exists());
    });
  }
}

// LOCK-6: an error that may pass does not choose another kind, which others would not choose.
TEST(kept_lock, AnErrorChoosesNoKind) {
  const scratch dir;
  const std::string path = dir.file("pool");
  make_file(path);
  for (const uint32_t error : {EIO, ENOMEM, EINTR}) {
    SCOPED_TRACE(error);
    in_child([&] {
      ASSERT_TRUE(filter_calls({{SYS_fcntl, 1, F_OFD_SETLK, error}}));
      const int code = code_of_opening(path);
      EXPECT_TRUE(code == SCUTE_E_IO || code == SCUTE_E_NOMEM) << scute_errorname(code);
    });
  }
}

// Its first opening for writing copies a file of the lower layer up, to another inode. Openers of
// before and after exclude each other.
TEST(kept_lock, OfAFileOfALowerLayer) {
  using enum medium::access;
  const scratch dir(scratch::disk);
  in_child([&] {
    mounts here(dir.file("mounts"));
    ASSERT_TRUE(here) << "this system allows no mounts, so nothing is tried here";
    const std::string overlay = here.overlay();
    ASSERT_NE(overlay, "") << "no overlayfs: " << std::strerror(errno);
    for (const char* name : {"a", "b"}) {
      const std::string path = overlay + "/" + name;
      make_file(here.lower() + "/" + name);
      {
        const medium::file_handle reader = open_file(path, read);
        EXPECT_EQ(SCUTE_OK, code_elsewhere(path, read));
        EXPECT_EQ(SCUTE_E_BUSY, code_elsewhere(path));  // it has copied it up
        EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(path));
        EXPECT_EQ(SCUTE_OK, code_elsewhere(path, read));
      }
      const medium::file_handle writer = open_file(path);
      expect_locked(path);
    }
  });
}

// LOCK-3: with filters that allow less and less, and in a process that may make no thread.
TEST(kept_lock, WithoutWhatTheThreadNeeds) {
  const scratch dir;
  const std::string path = dir.file("pool");
  make_file(path);
  const filtered_call no_range{436, -1, 0, ENOSYS}, no_table{SYS_unshare, -1, 0, EPERM},
      no_thread{SYS_clone, -1, 0, EAGAIN}, nor_this{435, -1, 0, EAGAIN};
  struct {
    std::vector<filtered_call> calls;
    bool is_there;
  } const cases[] = {{{}, true},
                     {{no_range}, true},
                     {{no_range, no_table}, false},
                     {{no_thread, nor_this}, false}};
  for (const auto& c : cases) {
    // The asking process has no filter: it makes processes.
    int words[2], hold[2];
    ASSERT_EQ(0, ::pipe(words));
    ASSERT_EQ(0, ::pipe(hold));
    child has_it([&] {
      if (!c.calls.empty()) {
        ASSERT_TRUE(filter_calls(c.calls));
      }
      for (int i = 0; i < 3; ++i) EXPECT_EQ(SCUTE_OK, code_of_opening(path));
      EXPECT_FALSE(lock_thread_exists());
      const medium::file_handle writer = open_file(path);
      EXPECT_EQ(lock_thread_exists(), c.is_there);
      EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(path));
      char word = 'l';
      EXPECT_EQ(1, ::write(words[1], &word, 1));
      EXPECT_EQ(1, ::read(hold[0], &word, 1));
    });
    ::close(words[1]);
    char word = 0;
    EXPECT_EQ(1, ::read(words[0], &word, 1));
    EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(path));
    EXPECT_EQ(1, ::write(hold[1], &word, 1));
    EXPECT_EQ(0, has_it.wait());
    EXPECT_EQ(SCUTE_OK, code_of_opening(path));
    for (const int fd : {words[0], hold[0], hold[1]}) ::close(fd);
  }
}

// Threads of this process but the calling one: their names in /proc/self/task.
std::vector<std::string> other_threads() {
  std::vector<std::string> all;
  for (const auto& t : std::filesystem::directory_iterator("/proc/self/task"))
    if (t.path().filename() != std::to_string(::gettid())) all.push_back(t.path());
  return all;
}

// LOCK-4
TEST(kept_lock, TheThreadIsThereWhileThereAreLocks) {
  const scratch dir;
  make_file(dir.file("a"));
  make_file(dir.file("b"));
  in_child([&] {
    const size_t before = other_threads().size();
    {
      const medium::file_handle a = open_file(dir.file("a"));
      const medium::file_handle b = open_file(dir.file("b"));
      const auto threads = other_threads();
      ASSERT_EQ(threads.size(), before + 1);
      // It takes faults, and no other signal.
      std::ifstream status(threads.back() + "/status");
      uint64_t blocked = 0;
      for (std::string line; std::getline(status, line);)
        if (line.starts_with("SigBlk:")) blocked = std::stoull(line.substr(7), nullptr, 16);
      for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGPROF, SIGUSR1})
        EXPECT_NE(blocked & (uint64_t{1} << (signal - 1)), 0U) << signal;
      for (const int signal : {SIGSEGV, SIGBUS})
        EXPECT_EQ(blocked & (uint64_t{1} << (signal - 1)), 0U) << signal;
    }
    EXPECT_FALSE(lock_thread_exists());
    EXPECT_EQ(other_threads().size(), before);
  });
}

// LOCK-5
TEST(kept_lock, AChildTakesItsOwn) {
  const scratch dir;
  make_file(dir.file("a"));
  make_file(dir.file("b"));
  in_child([&] {
    medium::file_handle mine = open_file(dir.file("a"));
    in_child([&] {
      EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(dir.file("a")));
      medium::file_handle of_child = open_file(dir.file("b"));
      EXPECT_EQ(lock_thread_exists(), threads_in_children);
      EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(dir.file("b")));
      {
        const medium::file_handle inherited = std::move(mine);
      }
      EXPECT_EQ(SCUTE_E_BUSY, code_of_opening(dir.file("a")));
      of_child = {};
      EXPECT_EQ(SCUTE_OK, code_of_opening(dir.file("b")));
    });
    EXPECT_EQ(SCUTE_E_BUSY, code_elsewhere(dir.file("a")));
    EXPECT_TRUE(lock_thread_exists());
    EXPECT_EQ(SCUTE_OK, code_of_opening(dir.file("b")));
  });
}

}  // namespace
}  // namespace scute::test
