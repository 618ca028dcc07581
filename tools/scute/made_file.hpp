// SPDX-License-Identifier: BSD-3-Clause
// made_file.hpp: a file that this command has made, and that it removes if it is of no use.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace scute_tool {

class made_file {
 public:
  // It is there.
  explicit made_file(std::string path) : path_(std::move(path)), known_(look(is_)) {}
  // Leaves another file alone that has got its name meanwhile.
  void remove() const noexcept {
    struct stat now{};
    if (known_ && look(now) && now.st_dev == is_.st_dev && now.st_ino == is_.st_ino)
      ::unlink(path_.c_str());
  }

 private:
  bool look(struct stat& to) const noexcept { return ::lstat(path_.c_str(), &to) == 0; }

  std::string path_;
  struct stat is_{};
  bool known_;
};

}  // namespace scute_tool
