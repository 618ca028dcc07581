// SPDX-License-Identifier: BSD-3-Clause
// A folder on a disk, with all states that a kill or a power failure could leave in it while
// something is done there. A kill leaves the files as they are. A power failure leaves names as
// they were when the folder was synced last, or after some of the changes since, in their order. Of
// each file it leaves what the file's own syncs have written to the disk, its permissions among
// them: a sync of the folder covers neither. Of newer bytes and permissions, the disk may have
// none, all or some.
//
// fault_injector.cpp reports the calls of this program to it. A moment is before each call that
// syncs, or that changes names or permissions, and at the end. One folder at a time, of files that
// fit into memory several times; no folders in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "support/scratch.hpp"

namespace scute::test {

class lossy_folder {
 public:
  struct file {
    std::shared_ptr<const bytes> content;
    unsigned mode = 0;
  };
  using files = std::map<std::string, file>;
  struct state {
    std::string story;
    bool done = false;  // the operation had returned
    files what;
  };

  // From now on; all that is there is durable.
  explicit lossy_folder(std::string path);
  ~lossy_folder();
  lossy_folder(const lossy_folder&) = delete;
  lossy_folder& operator=(const lossy_folder&) = delete;

  // The folder is left alone from here on. Each state is listed once, those before the end first.
  const std::vector<state>& end();
  // Makes a folder's files those of the state. The one of this name stays the same file (its
  // inode).
  static void restore(const std::string& folder, const state& s, const std::string& kept);
  uint64_t moments() const noexcept { return moments_; }

  // Called by the replaced functions, before the call or after it.
  static void before(const char* call) noexcept;
  static void synced(int fd) noexcept;
  static void synced(const void* at, size_t n) noexcept;

 private:
  using node =
      std::pair<uint64_t, uint64_t>;  // inode, and when it was made: numbers are used again
  struct versions {
    file durable, now;
  };
  using names = std::map<std::string, node>;

  void look();
  void moment(const std::string& call, bool done);
  void note_sync(int fd);
  void note_sync(const void* at, size_t n);
  void add(const std::string& story, bool done, const names& named, unsigned which);
  std::shared_ptr<const bytes> kept(bytes content);

  const std::string path_;
  uint64_t device_ = 0, inode_ = 0;
  std::recursive_mutex mutex_;
  std::map<node, versions> nodes_;
  std::vector<names> named_;  // durable ones, and as they have changed since
  std::map<size_t, std::vector<std::shared_ptr<const bytes>>> contents_;  // by their hash
  std::set<std::string> reported_;
  std::vector<state> states_;
  uint64_t moments_ = 0;
};

}  // namespace scute::test
